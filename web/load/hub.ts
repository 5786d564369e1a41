/** Advice for a caller who gives the name of a model on Hugging Face, or the address of its page. */

const NAME = /^(?:hf-hub:|hf:\/\/)?([\w.-]+\/[\w.-]+)\/?$/;
const PAGE = /^https:\/\/(?:huggingface\.co|hf\.co)\/([\w.-]+\/[\w.-]+)(?:\/(?:tree|blob)\/([^/?#]+)(?:\/([^?#]*))?)?\/?$/;
/** A path to a file of weights is no name of a model. */
const FILE = /\.(safetensors|bin|pth?|onnx|gguf|h5|npz|json)$/i;
const NO_MODELS = /^(datasets|spaces|docs)\//;

/** The address of the files that a name or a page means, as the end of a message; "" if it is neither. */
export function hubAdvice(place: string): string {
  const [, name, revision = "main", path = ""] = PAGE.exec(place) ?? (FILE.test(place) ? [] : (NAME.exec(place) ?? []));
  if (name === undefined || NO_MODELS.test(name)) return "";
  const folder = path && !FILE.test(path) ? `${path.replace(/\/?$/, "")}/` : path;
  return `; if a model on Hugging Face is meant, its files are at https://huggingface.co/${name}/resolve/${revision}/${folder}`;
}
