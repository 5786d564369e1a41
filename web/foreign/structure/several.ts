/** Chooses between the stacks of a file that repeats several parts. */
import type { Tensor } from "../family.js";
import type { Refusal } from "../refusal.js";
import { isMatrix, isQkv, type Part, roleIn, type Stack, tensorsIn } from "./blocks.js";
import { cut } from "./layers.js";
import { openQuestions } from "./model.js";

/** The names that stand for attention to the image, and to the text. */
const CROSS = /cross|enc|mem|multihead|context|src|source|att[a-z]*_?2/;
const SELF = /self|mask|causal|dec|tgt|target|att[a-z]*_?1/;

/** Whether what a module has makes queries, keys and values. */
const attends = (front: string, part: Part) => !/mlp|ff|fc|feed/.test(front) && ([...part].some(([name, tensor]) => isQkv(name, tensor) && !/mlp|ff|fc|feed|lin/.test(name)) ||
  ["q", "k", "v"].every((role) => [...part.keys()].some((name) => roleIn(name) === role || (role !== "q" && /(^|[._])kv/i.test(name)))) || [...part.values()].filter(isMatrix).length > 3);

/** How the names of a block's two modules begin that attend: to the text, and to the image. Undefined if there are not two. */
export function modulesOf(block: Part): readonly [self: string, cross: string] | undefined {
  for (const words of [1, 2, 3]) {
    const groups = new Map<string, Map<string, Tensor>>();
    for (const [name, tensor] of block) {
      const [front] = new RegExp(`^([^._]+[._]){0,${words}}`).exec(name)!, group = groups.get(front) ?? new Map<string, Tensor>();
      groups.set(front, group.set(name.slice(front.length), tensor));
    }
    const [first, second, ...more] = [...groups].filter((group) => attends(...group)).map(([front]) => front);
    if (first === undefined || second === undefined || more.length > 0) continue;
    const swapped = CROSS.test(first) !== CROSS.test(second) ? CROSS.test(first) : SELF.test(second) && !SELF.test(first);
    return swapped ? [second, first] : [first, second];
  }
  return undefined;
}

export const isDecoder = ({ blocks: [first] }: Stack) => modulesOf(first!) !== undefined;

/** The stack that makes the model, or the encoder. @param chosen its name, if the caller says it. @param read reads the model that a stack makes. @throws {Refusal} that asks. */
export function stackOf(all: readonly Stack[], chosen: unknown, read: (stack: string) => Pick<Refusal, "mapping">): Stack {
  const encoders = all.filter((one) => !isDecoder(one)), stacks = encoders.length > 0 ? encoders : all;
  const stack = stacks.length > 1 ? stacks.find(({ name }) => name === chosen) : stacks[0];
  if (stack) return stack;
  throw askStack(stacks, read);
}

/** Asks which stack makes the model, with the mapping of each that could: its parameters have the stack's name in front. */
function askStack(stacks: readonly Stack[], read: (stack: string) => Pick<Refusal, "mapping">): Refusal {
  const attempts = stacks.map(({ name }): readonly [string, Pick<Refusal, "mapping" | "questions">] => {
    try {
      return [name, read(name)];
    } catch (error) {
      return [name, error as Refusal];
    }
  });
  const fitting = attempts.filter(([, { mapping }]) => mapping), names = fitting.map(([name]) => name);
  if (names.length === 0) return attempts[0]![1] as Refusal;
  const open = [{ key: "stack", values: names as readonly unknown[] }, ...fitting.flatMap(([, { questions = [] }]) => questions)];
  const questions = [...new Set(open.map(({ key }) => key))].map((key) => ({ key, values: [...new Set(open.flatMap((one) => (one.key === key ? one.values : [])))] }));
  const mapping = Object.fromEntries(fitting.flatMap(([name, one]) => Object.entries(one.mapping!).map(([ours, from]) => [`${name}: ${ours}`, from])));
  return openQuestions(`config: stack: set stack to ${names.map(cut).join(" or ")}`, questions, mapping);
}

/** Tests whether a tensor belongs to another stack than the chosen one. */
export function isOfOthers(stacks: readonly Stack[], { name: chosen, blocks: own }: Stack): (tensor: Tensor) => boolean {
  const tests = stacks.filter(({ blocks }) => blocks !== own).map(({ name, blocks }) => ({ other: tensorsIn(blocks), isOther: isOf(name, chosen) }));
  return (tensor) => tests.some(({ other, isOther }) => other.has(tensor) || isOther(tensor));
}

/** Tests a tensor by the words in which the stacks' names differ: student.blocks and teacher.blocks, blocks and decoder_blocks. */
export function isOf(other: string, chosen: string): (tensor: Pick<Tensor, "name">) => boolean {
  const [theirs, mine] = [other, chosen].map((name) => name.split(/[._]/)) as [string[], string[]];
  while (theirs.length > 0 && theirs.at(-1) === mine.at(-1)) [theirs, mine].forEach((words) => words.pop());
  const begins = (name: string, words: readonly string[]) => words.join() === name.split(/[._]/, words.length).join();
  return ({ name }) => begins(name, theirs) && !(mine.length > theirs.length && begins(name, mine));
}
