/** Starts a session, in this thread or in a worker, and the threads that help it. */
import type { Incoming } from "../load/incoming.js";
import { readHeader } from "../load/header.js";
import { type Caller, LocalCaller } from "./call.js";
import { type BuildPlan, chooseBuild, gather, type Needs } from "./choose.js";
import type { Session } from "./session.js";
import type { Team } from "./team.js";
import { Thread } from "./thread.js";

/** The most pieces of a file that are in transit to a worker. */
const PIECES_IN_TRANSIT = 64;

/** A session, and the team of threads that helps it. */
export class Running<Target extends Session> {
  readonly session: Caller<Target> & Caller<Session>;
  /** How many threads share the work, once the helpers take part. */
  threads = 1;
  readonly #helpers: Promise<Team | undefined>;
  #team: Team | undefined;

  /** @throws {VitError} as {@link chooseBuild}, and code `worker_lost`, `no_memory` or `internal`. */
  static async start<Target extends Session>(
    plan: BuildPlan<Target>,
    needs: Needs,
  ): Promise<Running<Target>> {
    const { kind, files } = plan;
    const starting = plan.worker ? Thread.start(kind.script, files.worker) : undefined;
    let helpers: Promise<Team | undefined> = Promise.resolve(undefined);
    try {
      const [{ threads, ...source }, thread] = await Promise.all([chooseBuild(plan, needs), starting]);
      helpers = gather(plan, source, threads);
      if (!thread) return new Running<Target>(new LocalCaller(await kind.open(source)), helpers);
      await thread.call("open", [source]);
      return new Running<Target>(thread, helpers);
    } catch (error) {
      void starting?.then((thread) => thread.close(), () => {});
      void helpers.then((team) => team?.close());
      throw error;
    }
  }

  private constructor(session: Caller<Target>, helpers: Promise<Team | undefined>) {
    this.session = session as Caller<Target> & Caller<Session>;
    this.#helpers = helpers;
  }

  /** False once the module trapped, or a thread ended. */
  get alive(): boolean {
    return this.session.alive && this.#team?.alive !== false;
  }

  /** Passes a file to the session, piece by piece. */
  async read(file: Incoming, config: string | undefined, map: string | undefined): Promise<Awaited<ReturnType<Target["end"]>>> {
    const { session } = this;
    await session.call("begin", [(await readHeader(file)).size, config, map]);
    const most = session.remote ? PIECES_IN_TRANSIT : 0;
    const inTransit: Promise<void>[] = [];
    for (let piece; (piece = await file.take()); ) {
      const own = !session.remote || piece.length === piece.buffer.byteLength ? piece : piece.slice();
      const fed = session.call("feed", [own], [own.buffer]);
      fed.catch(() => {}); // a later await of the promise throws the error
      inTransit.push(fed);
      if (inTransit.length > most) await inTransit.shift();
    }
    await Promise.all(inTransit);
    return session.call("end", []) as ReturnType<typeof this.read>;
  }

  /** Lets the helpers take part. If they did not start, the session works alone. */
  async gather(): Promise<this> {
    const team = await this.#helpers;
    if (!team) return this;
    this.threads = team.size + 1;
    team.help(await this.session.call("team", [this.threads]));
    this.#team = team;
    return this;
  }

  close(): void {
    this.session.close();
    void this.#helpers.then((team) => team?.close());
  }
}
