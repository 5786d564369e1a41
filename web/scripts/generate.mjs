// Generates what TypeScript and the document take from the tables of C: web/generated from src/config.def,
// src/params.h and src/wasm/*.def, and the tables of config keys in src/README.md.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./lib.mjs";

const read = (path) => readFileSync(join(root, path), "utf8");

/** Writes a file only if its text changes, so that its time of change stays. */
function write(path, text) {
  try {
    if (read(path) === text) return;
  } catch {
    // it is not there yet
  }
  writeFileSync(join(root, path), text);
}

/**
 * The uses of macros in a table of C: { macro, args, before, after }, with the comments that end above
 * a line and that follow it. A quoted argument keeps its quotes.
 */
function usesOf(path) {
  const table = read(path).replace(/^#.*(?:\\\n.*)*\n/gm, "");
  const use = /(?:^\/\*((?:(?!\*\/)[^])*)\*\/\n)?^(\w+)\(((?:"(?:\\.|[^"\\])*"|[^()"]|\([^()]*\))*)\)(?: *\/\* (.*) \*\/)?$/gm;
  const uses = [...table.matchAll(use)];
  if (uses.length !== table.match(/^\w+\(/gm).length) throw new Error(`${path}: a line is no use of a macro`);
  return uses.map(([, before, macro, args, after]) => ({
    macro,
    args: args.match(/\[.*\]|\{.*\}|"(?:\\.|[^"\\])*"|[^,\s"][^,]*/g).map((each) => each.trim()),
    before: before?.replace(/\s*\n \* ?/g, " ").trim(),
    after,
  }));
}

const unquoted = (text) => (text[0] === '"' ? JSON.parse(text) : text);

// ---- The config ---------------------------------------------------------------

/** src/config.def: { keys, photo, text, plain, prepareKinds, limits }. plain: a key and its plain values, as JSON. A key is { name, type, typescript, most, words, standard, doc }. */
function config() {
  const types = {}, words = {}, limits = {}, lists = { keys: [], photo: [], text: [], plain: [] };
  let open;
  for (const { macro, args, before, after } of usesOf("src/config.def")) {
    const [name, second, of, standard] = args;
    if (macro === "VIT_LIMIT") limits[name] = Number(second);
    else if (/TYPE$/.test(macro)) types[name] = { values: unquoted(second), typescript: unquoted(of) };
    else if (macro === "VIT_WORDS") open = words[name] = [];
    else if (macro === "VIT_WORD") open.push({ word: second, constant: name, doc: after });
    else if (macro === "VIT_PLAIN") {
      const list = lists.keys.find((key) => key.name === name).words ?? [];
      const last = list.findIndex(({ constant }) => constant === second);
      const values = list.slice(0, last + 1).map(({ word }) => `"${word}"`);
      lists.plain.push([name, values.length > 0 ? values : [second]]);
    }
    else if (macro === "VIT_PLAIN_TEXT") lists.plain.push([name, ["null"]]);
    else if (/^VIT_(REQUIRED|DERIVED|KEY|PHOTO|TEXT)$/.test(macro)) {
      if (!before) throw new Error(`src/config.def: ${name} has no comment that says what it is`);
      (lists[macro.slice(4).toLowerCase()] ?? lists.keys).push({
        name, type: second, ...types[second], doc: before, words: words[of], most: limits[of] ?? Number(of),
        standard: macro === "VIT_REQUIRED" ? "required" : standard,
        derived: macro === "VIT_DERIVED",
      });
    }
  }
  return { ...lists, prepareKinds: words.prepare, limits };
}

/** "a, b or c" */
const listed = (all) => all.join(", ").replace(/, ([^,]*)$/, " or $1");

const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}${text.endsWith(".") ? "" : "."}`;

/** What each word of a key means: `class`: the class token, … */
const meanings = ({ words, type }) =>
  (type === "WORD" ? words : []).filter(({ doc }) => doc).map(({ word, doc }) => `\`${word}\`: ${doc}`);

const sentences = (all) => all.map((each) => `${each}.`).join(" ");

const typescriptOf = ({ type, words, typescript }) => (type === "WORD" ? words.map(({ word }) => `"${word}"`).join(" | ") : typescript);

/** The value of a key that is left out. */
const defaultOf = ({ standard, derived }) =>
  standard === "required" ? standard : derived ? unquoted(standard) : `\`${standard}\``;

const NOTE = "// Made by web/scripts/generate.mjs.\n";

function tsdoc(key, indent) {
  const lines = meanings(key).map((each) => `- ${each}`);
  const standard = key.standard === "required" ? "" : `Default: ${defaultOf(key)}.`;
  if (!lines.length) return `${indent}/** ${[key.doc, standard].join(" ").trim()} */\n`;
  return `${indent}/**\n${[key.doc, "", ...lines, "", standard].map((each) => `${indent} * ${each}`.trimEnd()).join("\n")}\n${indent} */\n`;
}

const member = (indent, optional) => (key) =>
  `${tsdoc(key, indent)}${indent}readonly ${key.name}${optional && key.standard !== "required" ? "?" : ""}: ${typescriptOf(key)};\n`;

function configTypes({ keys, photo, text, prepareKinds, limits }) {
  const photos = photo.map(member("      ", true)).join("");
  const prepares = prepareKinds.map(({ word, doc }) =>
    `  | {\n      /** ${sentence(doc)} */\n      readonly kind: "${word}";\n${word === "photo" ? photos : ""}    }`);
  return `${NOTE}
/** How pixels become the model's image. */
export type Prepare =
${prepares.join("\n")};

/** A decoder, or a text tower beside images. A loaded model's config has all keys. */
export interface TextConfig {
${text.map(member("  ", false)).join("")}}

/**
 * The model's shape and options. In a file they are its \`__metadata__.vitrine\`, which may leave keys out. A loaded
 * model's config has them all, and then the further keys of the file (recipe, seed, accuracy).
 */
export interface VitConfig {
${keys.map(member("  ", false)).join("")}  readonly [extra: string]: unknown;
}

/** @internal The most classes that a config may have. */
export const MOST_CLASSES = ${keys.find(({ name }) => name === "classes").most};
${Object.entries(limits).map(([name, most]) => `/** @internal */\nexport const ${name} = ${most};\n`).join("")}`;
}

/** The plain values are false or 0 if they are no words. */
const configPlain = ({ plain }) => `${NOTE}
/** The plain values of keys: a model with another needs the full edition of the module. */
export const PLAIN = {${plain.map(([name, values]) => `\n  ${name}: [${values.join(", ")}],`).join("")}
} as const;
`;

/** A table of keys in Markdown. */
const table = (rows) => ["| key | values | default | meaning |", "|---|---|---|---|",
  ...rows.map((cells) => `| ${cells.join(" | ")} |`)].join("\n");

/** The part of src/README.md about config keys, with its tables as config.def has them. */
export function documented(readme) {
  const { keys, photo, text, prepareKinds } = config();
  const values = ({ type, words, most, values }) =>
    type === "WORD" ? listed(words.map(({ word }) => `\`${word}\``)) : values.replace("%z", most);
  const row = (prefix) => (key) =>
    [`\`${prefix}${key.name}\``, values(key), defaultOf(key), [key.doc, sentences(meanings(key))].join(" ").trim()];
  const prepare = keys.find(({ name }) => name === "prepare");
  const kind = ["`prepare.kind`", prepare.values, "required", sentences(meanings({ type: "WORD", words: prepareKinds }))];
  const tables = [table(keys.map(row(""))), table([kind, ...photo.map(row("prepare."))]), table(text.map(row("")))];
  return readme.replace(/^\| key \| values .*\n(?:\|.*\n)*/gm, () => `${tables.shift()}\n`);
}

// ---- Words by position --------------------------------------------------------

/** A constant list of names, after those of another list. */
const list = (name, doc, names, before = []) => `
/** ${doc} */
export const ${name} = [${[...before, ...names.map((each) => `"${each}"`)].join(", ")}] as const;
`;

/** A file for each module that reads some, because a page loads all of a file that it shares with others. */
function words() {
  const session = usesOf("src/wasm/session.def"), texts = usesOf("src/wasm/text.def"), training = usesOf("src/wasm/training.def");
  const named = (uses, ...macros) => uses.filter(({ macro }) => macros.includes(macro)).flatMap(({ macro, args }) =>
    (macro === "PAIR" ? [args.at(-1), `validation_${args.at(-1)}`] : [args.at(-1)]));
  return {
    "words.ts": list("SIZES", "The sizes of a model, with which SESSION_WORDS begins.", named(session, "SIZE")) +
      list("SESSION_WORDS", "The words of src/wasm/session.def, in their order.", named(session, "WORD"), ["...SIZES"]),
    "text-words.ts": list("TEXT_WORDS", "The words of src/wasm/text.def, in their order.", named(texts, "WORD")),
    "training-words.ts": list("TRAINING_WORDS", "The words of src/wasm/training.def, in their order.", named(training, "WORD", "PAIR")) +
      list("TRAINING_NUMBERS", "The numbers of src/wasm/training.def, in their order.", named(training, "NUMBER")),
    "keys.ts": list("CONFIG_KEYS", "The keys of src/config.def.", config().keys.map(({ name }) => name)),
  };
}

/** The tensors' names of src/params.h, in its order; those of a block without its beginning. A weight and its bias are one name that ends in .* */
function tensors() {
  const namesIn = (macro) => {
    const [body] = read("src/params.h").match(new RegExp(`#define ${macro}\\([^]*?[^\\\\]\\n`));
    return [...body.matchAll(/\bX\([^"]*"((?:[^"]|" AT ")*)"|\b(VIT_CONVOLUTION|VIT_SPLIT)\(X, \d+, "(\d+)"\)|\bVIT_OBJECT_MLP\(X, objects\[\d\], "(\w+)"/g)].flatMap(([, name, macro, at, mlp]) =>
      (at !== undefined ? namesIn(macro).map((part) => part.replace('" AT "', at))
        : mlp !== undefined ? namesIn("VIT_OBJECT_MLP").map((part) => mlp + part) : [name]));
  };
  const pairs = (names) => names.filter((name, at) => name !== names[at - 1]?.replace(/weight$/, "bias"))
    .map((name) => (names.includes(name.replace(/weight$/, "bias")) ? name.replace(/weight$/, "*") : name));
  const rest = ["VIT_STEM_PARAMS", "VIT_SPLIT_PARAMS", "VIT_TOKEN_PARAMS", "VIT_NORM_PARAMS", "VIT_POOL_PARAMS", "VIT_HEAD_PARAMS", "VIT_OBJECT_PARAMS"].flatMap(namesIn);
  return NOTE +
    list("TENSORS", "The tensors of src/params.h outside the blocks; .* stands for .weight and .bias.", pairs(rest)) +
    list("BLOCK_TENSORS", "A block's tensors; before each comes \"blocks.0.\" and so on.", namesIn("VIT_BLOCK_PARAMS"));
}

/** Writes web/generated. */
export function generate() {
  mkdirSync(join(root, "web/generated"), { recursive: true });
  write("web/generated/config.ts", configTypes(config()));
  write("web/generated/plain.ts", configPlain(config()));
  write("web/generated/tensors.ts", tensors());
  for (const [name, text] of Object.entries(words())) write(`web/generated/${name}`, NOTE + text);
}

const README = "src/README.md";

/** Whether the document's tables are as config.def has them; `fix` writes them. */
export function checkDocument({ fix }) {
  const text = read(README);
  const right = documented(text);
  if (fix) write(README, right);
  return fix || text === right;
}
