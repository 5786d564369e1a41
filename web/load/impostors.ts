/** Files that often arrive instead of weights, recognised by their first bytes. */
export { hubAdvice } from "./hub.js";

/** Advice for people: how Python writes a file that can be loaded here. */
const SAVE = `save_file(model.state_dict(), "model.safetensors") of safetensors.torch`;
const FROM_PYTORCH = `load the PyTorch model that it was made of, and write it with ${SAVE}`;
const TRANSFORMERS = "transformers.AutoModelForImageClassification.from_pretrained";
const FOLDER = `huggingface_hub.snapshot_download("OWNER/NAME", local_dir="model")`;
const TIMM = `timm.create_model("vit_base_patch16_224", checkpoint_path="model.npz")`;

/** Python that writes `flat`, arrays by their names, as PyTorch lays out a Linear and a convolution, under its names for weights and biases. */
const WRITE = `
def pytorch(name, array):
    x, kernel = torch.tensor(array), re.search(r"kernel(:0)?$|(?<!embedding)/vars/0$", name)
    if kernel and x.ndim > 1:
        x = x.permute(3, 2, 0, 1) if x.ndim == 4 else x.flatten(0, 1).T if x.ndim == 3 and "out" in name else x.flatten(1).T
    name = re.sub(r"/(kernel|gamma|scale|embeddings|vars/0)(:0)?$", "/weight", re.sub(r"/(bias|beta|vars/1)(:0)?$", "/bias", name))
    return name.replace("/", "."), (x.flatten() if name.endswith("bias") else x).contiguous()
torch.save(dict(pytorch(*item) for item in flat.items() if "optimizer" not in item[0]), OUT)`;
const FROM_HDF5 = `
import h5py, re, torch
flat = {}
h5py.File(PATH).visititems(lambda name, x: flat.update({name: x[()]}) if hasattr(x, "dtype") else None)${WRITE}`;
const FROM_MSGPACK = `
import msgpack, numpy, re, torch
def array(code, data):
    shape, dtype, numbers = msgpack.unpackb(data)
    return numpy.frombuffer(numbers, dtype).reshape(shape)
def walk(tree, before=""):
    for name, x in tree.items():
        walk(x, before + name + "/") if isinstance(x, dict) else flat.update({before + name: x})
flat = {}
walk(msgpack.unpackb(open(PATH, "rb").read(), ext_hook=array))${WRITE}`;

/** A zip archive whose first entry has this name. The name begins at byte 30. */
const zipOf = (name: string) => new RegExp(`^PK\\x03\\x04.{26}${name}`, "s");

/** Patterns of the first bytes, with one character for each byte. */
const IMPOSTORS: readonly [RegExp, string][] = [
  [/^(\xef\xbb\xbf)?\s*<(!doctype html|!--|html|head|body)/i, "an HTML page; check the address"],
  [/^(\xef\xbb\xbf)?\s*<\?xml/i, "an XML page, perhaps a server's error; check the address"],
  [/^version https:\/\/git-lfs/, `a Git LFS pointer; fetch the file that it stands for, as by ${FOLDER}`],
  [/^GGUF/, `a GGUF file, as llama.cpp has it; ${FROM_PYTORCH}`],
  [/^.{4}TFL3/s, `a TensorFlow Lite model; ${FROM_PYTORCH}`],
  [/^\x08[\x01-\x20](\x12[\x01-\x7f][ -~]|[\x3a\x42])/, `an ONNX model; ${FROM_PYTORCH}`],
  [
    /^\x89HDF\r\n\x1a\n/,
    `an HDF5 file, of Keras or TensorFlow; write a model of transformers again with ` +
      `${TRANSFORMERS}("FOLDER", from_tf=True).save_pretrained("model"), and another's arrays with${FROM_HDF5}`,
  ],
  [
    /^([\x81-\x8f]|\xde..|\xdf....)([\xa1-\xbf]|\xd9.)[a-z_][\w./-]/is,
    `msgpack, as Flax writes it; write a model of transformers again with ` +
      `${TRANSFORMERS}("FOLDER", from_flax=True).save_pretrained("model"), and another's arrays with${FROM_MSGPACK}`,
  ],
  [
    zipOf("[ -~]{1,200}?\\.npy"),
    `an NPZ archive of NumPy; write one of Google's ViTs again with model = ${TIMM}, then ${SAVE}, and another with ` +
      "torch.save({name: torch.tensor(array) for name, array in numpy.load(PATH).items()}, OUT)",
  ],
  [zipOf("(metadata\\.json|config\\.json|model\\.weights\\.h5)"), `a Keras model; give what zipfile.ZipFile(PATH).extract("model.weights.h5") takes out of it`],
  [/^.{257}ustar/s, `a tar archive; unpack it with tarfile.open("model.tar").extractall("model")`],
  [/^\x1f\x8b\x08/, "a gzip file; unpack it with shutil.unpack_archive, or gunzip"],
  [/^\x89PNG\r\n\x1a\n/, "a PNG image; give it to classify, and a model's weights here"],
  [/^\xff\xd8\xff[\xc0-\xfe]/, "a JPEG image; give it to classify, and a model's weights here"],
];

/** Says what a file is that cannot be read here, and what to do; undefined if nothing matches. */
export function impostor(start: Uint8Array): string | undefined {
  const text = String.fromCharCode(...start);
  return IMPOSTORS.find(([pattern]) => pattern.test(text))?.[1];
}
