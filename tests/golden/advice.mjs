// Runs the Python that errors advise, on the files they advise it for: npm run test:full
//
//     node tests/golden/advice.mjs PYTHON     PyTorch from 1.13 on, NumPy
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Vit } from "../../dist/vit.js";

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

const python = process.argv[2] ?? "python3";
const folder = mkdtempSync(join(tmpdir(), "vitrine-advice-"));
const [path, out] = ["file.pt", "out.pt"].map((name) => join(folder, name));
const run = (code) => execFileSync(python, ["-c", START + code, path, out], { stdio: ["ignore", "inherit", "inherit"] });
/** The message of a load that fails, as all of these do: none holds a ViT. */
const refusal = (file) => Vit.load(file).then(assert.fail, ({ message }) => message);

try {
  for (const [what, code] of Object.entries(FILES)) {
    run(code);
    const advised = /torch\.save\(.*, OUT\)/.exec(await refusal(path))?.[0];
    assert.ok(advised, `${what}: advice in "${await refusal(path)}"`);
    run(advised);
    assert.match(await refusal(out), /"0\.(weight|bias)"/, `${what}: its weights, read after ${advised}`);
    console.log(`${what}: ${advised}`);
  }
} finally {
  rmSync(folder, { recursive: true });
}
