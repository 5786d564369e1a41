/** Files that often arrive instead of weights, recognised by their first bytes. */
export { hubAdvice } from "./hub.js";

/** Advice for people: how Python writes a file that can be loaded here. */
const SAVE = `save_file(model.state_dict(), "model.safetensors") of safetensors.torch`;
const FROM_PYTORCH = `load the PyTorch model that it was made of, and write it with ${SAVE}`;
const TRANSFORMERS = "transformers.AutoModelForImageClassification.from_pretrained";
const FOLDER = `huggingface_hub.snapshot_download("OWNER/NAME", local_dir="model")`;
const TIMM = `timm.create_model("vit_base_patch16_224", checkpoint_path="model.npz")`;

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
      `${TRANSFORMERS}("FOLDER", from_tf=True).save_pretrained("model")`,
  ],
  [
    /^([\x81-\x8f]|\xde..|\xdf....)([\xa1-\xbf]|\xd9.)[a-z_][\w./-]/is,
    `msgpack, as Flax writes it; write it again with ` +
      `${TRANSFORMERS}("FOLDER", from_flax=True).save_pretrained("model")`,
  ],
  [
    zipOf("[ -~]{1,200}?\\.npy"),
    `an NPZ archive of NumPy; write one of Google's ViTs again with model = ${TIMM}, then ${SAVE}, and another with ` +
      "torch.save({name: torch.tensor(array) for name, array in numpy.load(PATH).items()}, OUT)",
  ],
  [zipOf("(metadata\\.json|config\\.json|model\\.weights\\.h5)"), `a Keras model; ${FROM_PYTORCH}`],
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
