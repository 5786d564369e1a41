// Runs the Python that errors advise, on the files they advise it for: npm run test:full
//
//     node tests/golden/advice.mjs PYTHON     PyTorch from 1.13 on, NumPy; h5py and msgpack for files of Keras and Flax
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readSafetensors, splitFile } from "../../web/base/safetensors.mjs";
import { Vit } from "../../dist/vit.js";
import { farthest, modelBytes, modelPath, slice } from "../node/golden.mjs";

/** Each line of Python writes a file to PATH that is refused with advice. `net` is a module. */
const FILES = {
  "a whole model": "torch.save(net, PATH)",
  "a whole model, before PyTorch 1.6": "torch.save(net, PATH, _use_new_zipfile_serialization=False)",
  "a whole model in a training run's file": "torch.save({'epoch': 3, 'net': net}, PATH)",
  "an archive of NumPy": "numpy.savez(open(PATH, 'wb'), **{name: tensor.numpy() for name, tensor in net.state_dict().items()})",
  "a packed archive": `torch.save(net.state_dict(), PATH + '.zip')
with zipfile.ZipFile(PATH + '.zip') as old, zipfile.ZipFile(PATH, 'w', zipfile.ZIP_DEFLATED) as new:
    for one in old.namelist(): new.writestr(one, old.read(one))`,
};
const START = `
import sys, warnings, zipfile, numpy, torch
warnings.simplefilter('ignore')
PATH, OUT = sys.argv[1:]
net = torch.nn.Sequential(torch.nn.Linear(3, 2))
`;

/** Each writes PyTorch's `tensors`, of the ViT by itself at MODEL, as another framework lays them out, and needs a module. */
const FRAMEWORKS = {
  "msgpack of Flax": ["msgpack", "norms_in_a_row", `
tree = {}
for name, x in tensors.items():
    *path, last = name.split('.')
    at = tree
    for part in path: at = at.setdefault(part, {})
    at[last] = msgpack.ExtType(1, msgpack.packb((x.shape, x.dtype.name, x.tobytes())))
open(PATH, 'wb').write(msgpack.packb({'params': tree}))`],
  "HDF5 of Keras": ["h5py", "unscaled_mean", `
with h5py.File(PATH, 'w') as file:
    for name, x in tensors.items(): file[name.replace('.', '/').replace('scale', 'gamma')] = x`],
  "an archive of Keras": ["h5py", "unscaled_mean", `
with h5py.File(PATH + '.h5', 'w') as file:
    file['optimizer/vars/0'] = numpy.zeros(3)
    for name, x in tensors.items(): file['layers/' + re.sub('(scale|kernel)$', 'vars/0', re.sub('bias$', 'vars/1', name.replace('.', '/')))] = x
with zipfile.ZipFile(PATH, 'w') as archive:
    archive.writestr('metadata.json', '{}')
    archive.write(PATH + '.h5', 'model.weights.h5')`],
};
const LAYOUT = `
import json, re, h5py, msgpack
raw = open(MODEL, 'rb').read()
header = json.loads(raw[8:8 + int.from_bytes(raw[:8], 'little')])
tensors = {}
for name, entry in header.items():
    if name == '__metadata__': continue
    begin, end = (8 + int.from_bytes(raw[:8], 'little') + at for at in entry['data_offsets'])
    x, two = numpy.frombuffer(raw[begin:end], numpy.float32).reshape(entry['shape']), 2  # heads
    name = name.replace('projection', 'attention_output')
    if x.ndim in (2, 4):
        x, name = x.transpose(*((2, 3, 1, 0) if x.ndim == 4 else (1, 0))), name.replace('weight', 'kernel')
        if re.search('queries|keys|values', name): x = x.reshape(len(x), two, -1)
        if 'output' in name: x = x.reshape(two, -1, x.shape[1])
    elif re.search('(queries|keys|values).bias', name): x = x.reshape(two, -1)
    tensors[name.replace('weight', 'scale')] = x
`;

const python = process.argv[2] ?? "python3";
const folder = mkdtempSync(join(tmpdir(), "vitrine-advice-"));
const [path, out] = ["file.pt", "out.pt"].map((name) => join(folder, name));
const run = (code) => execFileSync(python, ["-c", START + code, path, out], { cwd: folder, stdio: ["ignore", "inherit", "inherit"] });
/** The message of a load that fails. */
const refusal = (file) => Vit.load(file).then(assert.fail, ({ message }) => message);
/** Follows what a refusal advises. */
function follow(message) {
  const advised = /(^import [^]*)?torch\.save\(.*, OUT\)/m.exec(message)?.[0];
  assert.ok(advised, `advice in "${message}"`);
  run(advised);
  return advised;
}
const has = (module) => spawnSync(python, ["-c", `import ${module}`]).status === 0;

try {
  for (const [what, code] of Object.entries(FILES)) {
    run(code);
    const advised = follow(await refusal(path));
    assert.match(await refusal(out), /"0\.(weight|bias)"/, `${what}: its weights, read after ${advised}`);
    console.log(`${what}: ${advised}`);
  }
  for (const [what, [module, name, code]] of Object.entries(FRAMEWORKS)) {
    if (!has(module)) {
      console.log(`${what}: skipped, because ${python} has no ${module} (Debian: python3-${module})`);
      continue;
    }
    run(LAYOUT.replace("MODEL", JSON.stringify(modelPath(`homemade/${name}`))).replace(/(h5py, msgpack)/, module) + code);
    let message = await refusal(path);
    const archived = /zipfile\.ZipFile\(PATH\)\.extract\("(.*?)"\)/.exec(message);
    if (archived) {
      run(`${archived[0]}\nimport os; os.replace("${archived[1]}", PATH)`);
      message = await refusal(path);
    }
    follow(message);
    const golden = modelBytes(`homemade/${name}.golden`), { tensors } = readSafetensors(golden);
    const vit = await Vit.load({ weights: out, config: { early_norm: "last", ...JSON.parse(splitFile(golden).header.__metadata__.answers) } }); // HDF5 keeps no order
    const [images, logits] = ["images", "logits"].map((part) => ({ shape: tensors.get(part).shape, values: tensors.get(part).data }));
    const far = farthest((await vit.classify(slice(images, 0))).logits, slice(logits, 0));
    assert.ok(far <= 1e-5, `${what}: ${far} apart`);
    console.log(`${what}: logits ${far} apart`);
  }
} finally {
  rmSync(folder, { recursive: true });
}
