/** Calls the methods of a session, which lives in this thread or in another. */
import { VitError, type VitErrorCode } from "../errors.js";
import type { Session } from "./session.js";

/** The names of an object's methods. */
type Method<Target> = {
  [Name in keyof Target]: Target[Name] extends (...args: never[]) => unknown ? Name : never;
}[keyof Target] & string;
type Arguments<Method> = Method extends (...args: infer All extends readonly unknown[]) => unknown ? All : never;
type Value<Method> = Method extends (...args: never[]) => infer One ? Awaited<One> : never;

export interface Caller<Target> {
  /** False once the module trapped, the thread died or this was closed. */
  readonly alive: boolean;
  /** Whether the session is in another thread. */
  readonly remote: boolean;
  /** @param transfer memory that a thread takes over. In this thread nothing moves. */
  call<Name extends Method<Target>>(
    name: Name,
    args: Arguments<Target[Name]>,
    transfer?: Transferable[],
  ): Promise<Value<Target[Name]>>;
  /** Pending calls and later ones reject. */
  close(): void;
}

/** A call as it is sent to a thread. */
export interface Request {
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

export type Reply =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: { code: VitErrorCode; message: string } };

/** Calls a method by its name. */
export function apply(target: object, method: string, args: readonly unknown[]): unknown {
  return (target as Record<string, (...args: readonly unknown[]) => unknown>)[method]!(...args);
}

/** Calls a session in this thread. Maps on the session's heap keep it alive after this is closed. */
export class LocalCaller<Target extends Session> implements Caller<Target> {
  readonly remote = false;
  #session: Target | undefined;

  constructor(session: Target) {
    this.#session = session;
  }

  get alive(): boolean {
    return this.#session?.trapped === false;
  }

  async call<Name extends Method<Target>>(
    name: Name,
    args: Arguments<Target[Name]>,
  ): Promise<Value<Target[Name]>> {
    if (!this.#session) throw closed();
    try {
      return apply(this.#session, name, args) as Value<Target[Name]>;
    } catch (error) {
      if ((error as VitError).code === "internal") this.close();
      throw error;
    }
  }

  /** The module's memory is freed when nobody holds the session or maps in it any longer. */
  close(): void {
    this.#session?.dismiss();
    this.#session = undefined;
  }
}

export function closed(): VitError {
  return new VitError("disposed", "this session was closed");
}
