/** The command train: reads a data set, trains on it, and keeps a checkpoint on the way. */
import { rmSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { VitError } from "vitrine";
import type { Freeze, Log, Step, Trainer, TrainerSource } from "vitrine/train";
import { continueFrom, readCheckpoint } from "./checkpoint.ts";
import type { Base, PlainCommand } from "./command.ts";
import { fill, openData } from "./dataset.ts";
import { count, type DataSet } from "./examples.ts";
import { Interrupted } from "./interrupt.ts";
import { UsageError } from "./options.ts";
import { checkOut, writeWhole } from "./output.ts";
import { DEFAULTS, type TrainArguments, readArguments, TRAIN_OPTIONS } from "./train-arguments.ts";
import { epochLine, Progress } from "./progress.ts";
import { readRecipe, type RecipeFile, withClasses } from "./recipe.ts";
import type { Terminal } from "./terminal.ts";

/** A checkpoint is as large as one before the first step, plus about this many models. */
const MODELS_A_CHECKPOINT = 5;

/** Where a run is: finished epochs, their log, and steps of the next epoch. */
interface RunState {
  readonly epoch: number;
  readonly step: number;
  readonly log: readonly Log[];
}

/** The arguments with what their files hold. */
interface Task extends TrainArguments, Base {
  readonly set: DataSet;
  readonly from: TrainerSource;
  readonly rounds: number;
  readonly checkpoint: string;
}

export const train: PlainCommand = {
  about: "train on a folder of photos or IDX files: a recipe's model from scratch, or existing weights further",
  operand: "",
  options: TRAIN_OPTIONS,
  plan(values) {
    const args = readArguments(values);
    return async (base) => {
      const { terminal } = base;
      await checkOut(args.out);
      const recipe = args.recipe === undefined ? undefined : await readRecipe(args.recipe, terminal);
      const set = await openData(args.data, args.share, terminal);
      const from = sourceOf(args, set, recipe, terminal);
      const rounds = args.epochs ?? (recipe?.training["epochs"] as number | undefined) ?? DEFAULTS.epochs;
      await work({ ...args, ...base, set, from, rounds, checkpoint: `${args.out}.checkpoint` });
      return true;
    };
  },
};

function sourceOf(args: TrainArguments, set: DataSet, recipe: RecipeFile | undefined, terminal: Terminal): TrainerSource {
  const { training = {}, path } = recipe ?? {};
  if (training["validation"] !== undefined) {
    terminal.complain(`${path}: training key validation: ignored; --validation sets the share of each class`);
  }
  if (args.model) {
    const freeze = args.freeze ?? (training["freeze"] as Freeze | undefined) ?? "none";
    return { from: args.model.source, labels: set.labels, freeze, training };
  }
  if ((training["freeze"] ?? 0) !== 0) {
    throw new Error(`${path}: training key freeze: expected 0 without --model, got ${JSON.stringify(training["freeze"])}`);
  }
  return { recipe: withClasses(recipe!, set) };
}

async function work(task: Task): Promise<void> {
  const { trainer, state } = await ready(task);
  try {
    describe(task, trainer, state);
    const log = await task.signals.stoppable(async (signal) => {
      const all = await epochs(task, trainer, state, signal);
      await writeWhole(task.out, await trainer.save()); // a signal does not stop this
      rmSync(task.checkpoint, { force: true });
      return all;
    });
    report(task, trainer, log);
  } finally {
    trainer.dispose();
  }
}

/** The trainer with its data, at the beginning or where the checkpoint was written. */
async function ready(task: Task): Promise<{ readonly trainer: Trainer; readonly state: RunState }> {
  const { checkpoint, options, explicit, seed } = task;
  const previous = task.fresh ? undefined : await readCheckpoint(checkpoint);
  const same = { // as before, unless the command line says otherwise
    ...options,
    ...(previous && !explicit.threads && { threads: previous.state.threads }),
    ...(previous?.state.variant && !explicit.variant && { variant: previous.state.variant }),
  };
  const { Trainer } = await import("vitrine/train");
  const own = { ...same, ...(seed !== undefined && { seed }), onProgress: task.terminal.loading };
  const trainer = await Trainer.create(task.from, own).catch(asUsage(task));
  try {
    await fill(trainer, task.set, task.terminal);
    if (previous && previous.state.epochs > 0) {
      await continueFrom(checkpoint, previous, trainer, task.rounds);
      return { trainer, state: previous.state };
    }
    const { length } = await trainer.checkpoint();
    await checkRoom(task.out, 2 * (length + MODELS_A_CHECKPOINT * (await trainer.save()).length));
    return { trainer, state: { epoch: 0, step: 0, log: [] } };
  } catch (error) {
    trainer.dispose();
    throw error;
  }
}

/** More blocks than the model has are a wrong command line. */
const asUsage = ({ freeze }: TrainArguments) => (error: unknown): never => {
  const wrong = freeze !== undefined && error instanceof VitError && error.message.startsWith("freeze: ");
  throw wrong ? new UsageError(`--${error.message}`) : error;
};

/** The old checkpoint stays until the new one is whole, so `bytes` are of both. */
async function checkRoom(out: string, bytes: number): Promise<void> {
  const { bavail, bsize, blocks } = await statfs(dirname(out));
  if (blocks === 0 || bavail * bsize >= bytes) return; // 0: a file system that does not say
  const [need, got] = [bytes, bavail * bsize].map((size) => (size / 1e6).toFixed(1));
  throw new Error(`${out}: expected ${need} MB of free disk for it and its checkpoint, got ${got} MB`);
}

/** Trains, with a checkpoint after each epoch and where a signal stops it. Returns the whole log. */
async function epochs(task: Task, trainer: Trainer, from: RunState, signal: AbortSignal): Promise<readonly Log[]> {
  const { set, rounds, checkpoint, terminal } = task;
  const log = [...from.log];
  let { epoch, step } = from;
  const keep = async () => writeWhole(checkpoint, await trainer.checkpoint());
  if (epoch === 0 && step === 0) await keep(); // to be sure that the disk has room for one
  const progress = new Progress(count(set, "train"), count(set, "validation"), terminal, (line) => announce(task, line));
  try {
    const onStep = (now: Step) => {
      ({ step } = now);
      progress.step(now);
    };
    for await (const now of trainer.run({ epochs: rounds, signal, onStep })) {
      const { loss, accuracy, validation } = now;
      [epoch, step] = [now.epoch, 0];
      log.push({ epoch, loss, accuracy, ...(validation && { validation }) });
      if (epoch < rounds) await keep();
      if (task.lines) terminal.printLine(now);
      else if (!task.json) terminal.printRow([epochLine(now)]);
    }
    return log;
  } catch (error) {
    if (error instanceof Interrupted) {
      terminal.status("");
      await keep();
      const where = `interrupted after ${whereOf(epoch, rounds, step)}`;
      throw new Interrupted(error.code, `${where}; the run is saved in ${checkpoint}; run the same command again to continue`);
    }
    if (epoch === 0 && from.step === 0) rmSync(checkpoint, { force: true }); // nothing is lost
    throw error;
  }
}

// ---- What it prints ---------------------------------------------------------

const quantity = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

/** With JSON, stdout holds nothing else. */
function announce({ json, terminal }: Task, line: string): void {
  if (json) terminal.complain(line);
  else terminal.printRow([line]);
}

const whereOf = (epoch: number, epochs: number, step: number): string =>
  `${epoch} of ${quantity(epochs, "epoch")} and ${quantity(step, "step")} of the next`;

function describe(task: Task, { config, variant, threads }: Trainer, { epoch, step }: RunState): void {
  const { set, model, rounds, from, recipe } = task;
  const freeze = "freeze" in from ? from.freeze : undefined;
  const size = `${config.image_size.join("x")}x${config.channels}`;
  const shape = `${size} pixels, ${quantity(config.depth, "block")} of width ${config.width}`;
  const stays = freeze === undefined || freeze === "none" ? "" : `, ${typeof freeze === "number" ? quantity(freeze, "block") : freeze} frozen`;
  const origin = model ? `${model.name}, fine-tuned${stays}` : `${recipe}, from scratch`;
  task.terminal.status("");
  announce(task, `data: ${quantity(count(set, "train"), "image")} of ${set.labels.length} classes to train on, ${count(set, "validation")} to validate with`);
  announce(task, `model: ${origin}: ${shape}`);
  announce(task, `run: ${quantity(rounds, "epoch")} by ${quantity(threads, "thread")}, build ${variant}`);
  if (epoch + step > 0) announce(task, `resumed: after ${whereOf(epoch, rounds, step)}`);
}

function report(task: Task, { labels, variant, threads }: Trainer, log: readonly Log[]): void {
  const { out, set, json, lines, terminal } = task;
  if (!json) return terminal.printRow([`${out}: done; try vitrine classify --model ${out} PHOTO`]);
  if (lines) return;
  terminal.printJson({ out, labels, images: count(set, "train"), validation: count(set, "validation"), variant, threads, epochs: log });
}
