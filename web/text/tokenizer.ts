/** How a model's texts become ids: by CLIP's BPE here, by the package @huggingface/tokenizers, or by the caller's own tokenizer. */
import type { Piece } from "../base/bytes.js";
import { isObject, type Json, parseJson } from "../base/json.js";
import { reason, show, VitError } from "../errors.js";
import type { Beside } from "../load/location.js";
import { type Fetch, isMissing, open, type Opener, type Source, type Tokenizer, withFetch } from "../load/source.js";
import { encode, END, START, type Vocabulary } from "./bpe.js";
import { unescaped } from "./references.js";
import { ofMerges, ofTokenizer, ofVocabulary } from "./vocabulary.js";

/** The ids of a text, with start and end, and at most `most`, of which the last stays; and what fills up a shorter text, if that is known. */
export type Encode = (text: string, most: number) => Promise<{ readonly ids: readonly number[]; readonly filler?: number | undefined }>;

const PACKAGE = "@huggingface/tokenizers";
/** The most bytes of a tokenizer's file. SigLIP 2's tokenizer.json has 34 MB. */
const MOST_BYTES = 2 ** 26;
const MOST_VALUES = 2 ** 22;

/** Load's option `tokenizer`, and a folder's other files. */
interface TokenizerSources {
  readonly tokenizer?: Tokenizer | Source | undefined;
  readonly fetch?: Fetch | undefined;
  readonly beside?: Beside | undefined;
}

export const isTokenizer = (value: unknown): value is Tokenizer => isObject(value) && ("encode" in value || "decode" in value);

/** As open_clip prepares texts for SigLIP, where a config says `clean: "canonicalize"`: without punctuation. */
const canonical = async (text: string) =>
  (await unescaped(await unescaped(text))).replace(/_/g, " ").replace(/[!-/:-@[-`{-~]/g, "").toLowerCase().replace(/\s+/g, " ").trim();

/**
 * The tokenizer that the caller gives, or else that of the model's folder.
 *
 * @param settings open_clip's `text_cfg.tokenizer_kwargs`
 */
export async function encoderOf(sources: TokenizerSources, settings: Json = {}): Promise<Encode> {
  if (isTokenizer(sources.tokenizer)) return byTokenizer(sources.tokenizer);
  const encode = await byFiles(sources);
  return settings.clean === "canonicalize" ? async (text, most) => encode(await canonical(text), most) : encode;
}

async function byFiles({ tokenizer: source, fetch, beside }: TokenizerSources): Promise<Encode> {
  if (source !== undefined) return byFile(await textOf(withFetch(source as Source, fetch)), beside);
  const json = await textBeside(beside, "tokenizer.json");
  if (json !== undefined) return byFile(json, beside);
  const [vocabulary, merges] = await Promise.all(["vocab.json", "merges.txt"].map((name) => textBeside(beside, name)));
  if (vocabulary !== undefined && merges !== undefined) return byBpe(ofVocabulary(objectOf(vocabulary, "vocab.json"), merges));
  const openai = await textBeside(beside, "bpe_simple_vocab_16e6.txt.gz");
  if (openai !== undefined) return byFile(openai, beside);
  const names = "tokenizer.json, vocab.json with merges.txt, or bpe_simple_vocab_16e6.txt.gz";
  throw new VitError("bad_argument", `texts: expected ids, because there is no tokenizer beside the weights (${names}); give one as load's option tokenizer`);
}

/** Makes a text of ids. */
export type Decode = (ids: readonly number[]) => string;

/**
 * How ids become text, by the tokenizer that the caller gives or by the package and the model's folder; undefined
 * without either.
 */
export async function decoderOf({ tokenizer: source, fetch, beside }: TokenizerSources): Promise<Decode | undefined> {
  const byOwn = (own: Tokenizer): Decode | undefined => own.decode && ((ids) => String(own.decode!([...ids], { skip_special_tokens: true })));
  if (isTokenizer(source)) return byOwn(source);
  const json = source === undefined ? await textBeside(beside, "tokenizer.json") : await textOf(withFetch(source as Source, fetch));
  if (json === undefined) return undefined;
  const config = await textBeside(beside, "tokenizer_config.json");
  return byPackage(objectOf(json, "tokenizer.json"), config).then(byOwn, (error: VitError) => {
    if (source !== undefined || error.code !== "unsupported") throw error;
    return undefined;
  });
}

async function byFile(text: string, beside: Beside | undefined): Promise<Encode> {
  if (!text.trimStart().startsWith("{")) return byBpe(ofMerges(text));
  const json = objectOf(text, "tokenizer.json"), vocabulary = ofTokenizer(json);
  return vocabulary ? byBpe(vocabulary) : byTokenizer(await byPackage(json, await textBeside(beside, "tokenizer_config.json")));
}

const byBpe = (vocabulary: Vocabulary): Encode => {
  const [start, end] = [START, END].map((symbol) => vocabulary.ids.get(symbol)!) as [number, number];
  return async (text, most) => ({ ids: [start, ...(await encode(text, vocabulary, Math.max(0, most - 2))), end] });
};

const byTokenizer = (tokenizer: Tokenizer & Partial<PackageTokenizer>): Encode => async (text, most) => {
  if (typeof tokenizer.encode !== "function") throw new VitError("bad_option", "tokenizer: expected a function encode, got none");
  const got: unknown = await tokenizer.encode(text);
  const ids = Array.from((isObject(got) && "ids" in got ? got.ids : got) as ArrayLike<number>);
  const { pad_token: pad } = isObject(tokenizer.config) ? tokenizer.config : ({} as Json);
  return {
    ids: ids.length > most ? [...ids.slice(0, most - 1), ids[ids.length - 1]!] : ids,
    filler: tokenizer.token_to_id?.(String(isObject(pad) ? pad.content : pad)),
  };
};

/** What the package's tokenizers have besides. */
interface PackageTokenizer extends Tokenizer {
  readonly config: unknown;
  token_to_id(token: string): number | undefined;
}

export async function byPackage(json: Json, config: string | undefined): Promise<Tokenizer> {
  const name = PACKAGE; // bundlers leave alone what is no literal
  const { Tokenizer } = await (import(/* webpackIgnore: true */ /* @vite-ignore */ name) as Promise<{
    readonly Tokenizer: new (tokenizer: Json, config: Json) => Tokenizer;
  }>).catch((cause: unknown) => {
    const what = `expected the package ${name}, because this model's tokenizer is not CLIP's: ${reason(cause)}`;
    throw new VitError("unsupported", `texts: ${what}; install it, or pass load's option tokenizer`, { cause });
  });
  try {
    return new Tokenizer(json, config === undefined ? {} : objectOf(config, "tokenizer_config.json"));
  } catch (cause) {
    throw new VitError("bad_file", `tokenizer.json: expected one that ${name} reads: ${reason(cause)}`, { cause });
  }
}

export function objectOf(text: string, what: string): Json {
  const value = parseJson(text, what, { code: "bad_file", most: MOST_VALUES });
  if (isObject(value)) return value;
  throw new VitError("bad_file", `${what}: expected a JSON object, got ${show(text.slice(0, 40))}`);
}

/** A file beside the weights; undefined if it is missing, or if a server gives a page in its place. */
export async function textBeside(beside: Beside | undefined, name: string): Promise<string | undefined> {
  const source = beside?.(name);
  const text = source && await textOf(source).catch((error: unknown) => {
    if (!isMissing(error)) throw error;
  });
  return text?.trimStart().startsWith("<") ? undefined : text || undefined;
}

/** A file's text, unpacked if it is a gzip file. */
async function textOf(source: Source | Opener): Promise<string> {
  const { body, lost } = await open(source);
  const bytes = await bytesOf(body, lost);
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return new TextDecoder().decode(bytes);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new TextDecoder().decode(await bytesOf(stream, (cause) => new VitError("bad_file", `tokenizer: expected a whole gzip file: ${reason(cause)}`, { cause })));
}

async function bytesOf(body: ReadableStream<Piece>, lost: (cause: unknown, loaded: number) => VitError): Promise<Piece> {
  const reader = body.getReader(), pieces: Piece[] = [];
  let size = 0;
  for (;;) {
    const { value } = await reader.read().catch((cause: unknown) => {
      throw lost(cause, size);
    });
    if (!value) return new Uint8Array(await new Blob(pieces).arrayBuffer());
    pieces.push(value);
    if ((size += value.length) <= MOST_BYTES) continue;
    void reader.cancel();
    throw new VitError("bad_file", `tokenizer: expected at most ${MOST_BYTES} bytes, got more`);
  }
}
