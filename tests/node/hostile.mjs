// Shared by tests of hostile input: every error must be a VitError, and none may stay unhandled.
import assert from "node:assert/strict";
import { afterEach } from "node:test";
import { setImmediate as turn } from "node:timers/promises";

export const CODES = [
  "network", "bad_file", "bad_config", "bad_tensor", "bad_image", "blank_image", "bad_option",
  "bad_argument", "no_wasm", "no_simd", "bad_wasm", "unsupported", "no_memory", "worker_lost",
  "internal", "disposed",
];

const rejections = [];
process.on("unhandledRejection", (reason) => rejections.push(reason));
afterEach(async () => {
  for (let turns = 0; turns < 5; turns++) await turn();
  assert.deepEqual(rejections.splice(0), [], "unhandled rejections");
});

/** The error of `work`, which must be a VitError with one of `codes`. */
export async function refused(what, work, codes = CODES, message = /./) {
  let error;
  try {
    await work();
  } catch (thrown) {
    error = thrown;
  }
  assert.ok(error !== undefined, `${what}: expected a VitError, got no error`);
  isVitError(what, error, codes);
  assert.match(error.message, message, what);
}

/** The result of `work`, or its VitError. */
export async function harmless(what, work) {
  try {
    return await work();
  } catch (error) {
    isVitError(what, error, CODES);
    assert.notEqual(error.code, "internal", `${what}: ${error.message}`);
    return undefined;
  }
}

function isVitError(what, error, codes) {
  assert.equal(error?.name, "VitError", `${what}: ${error?.stack ?? String(error)}`);
  assert.ok([codes].flat().includes(error.code), `${what}: ${error.code}: ${error.message}`);
  assert.ok(error.message.length < 2000, `${what}: a message of ${error.message.length} characters`);
}

/**
 * A limit of magnitude, not of speed. The mistakes it finds took 39 s or never ended. It counts the
 * processor's time, because the clock also goes on while other programs run.
 */
export async function soon(what, work, seconds = 5) {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  const took = (user + system) / 1e6;
  assert.ok(took < seconds, `${what}: took ${took.toFixed(1)} s`);
}

/** A safetensors file with exactly this text as its header. */
export function withHeader(text, data = []) {
  const header = Buffer.from(text);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([length, header, Uint8Array.from(data)]);
}

/** Values that answer differently each time, or throw. */
export const thrower = () => {
  throw new TypeError("a getter of a stranger's");
};
export const SHY = new Proxy({}, {
  get: thrower, has: thrower, ownKeys: thrower, getPrototypeOf: thrower, getOwnPropertyDescriptor: thrower,
});
export const REVOKED = (() => {
  const { proxy, revoke } = Proxy.revocable([], {});
  revoke();
  return proxy;
})();
/** Values that cannot be turned into text. */
export const UNPRINTABLE = [Symbol("a symbol"), Object.create(null), { toString: thrower }, { toString: 1, valueOf: 1 }, SHY, REVOKED];
/** Values of every kind. */
export const ODD = [
  ...UNPRINTABLE, null, 0, -0, -1, 1.5, NaN, Infinity, -Infinity, 2 ** 31, 2 ** 32, 2 ** 53, 1e308, 10n, true, false,
  "", "7", "x".repeat(1e6), [], [[]], {}, () => {}, new Date(NaN), new Map(), new Uint8Array(3), new ArrayBuffer(3),
  new Array(2 ** 32 - 1), { length: 2 ** 53 }, { [Symbol.toPrimitive]: thrower }, { get [Symbol.toStringTag]() { return thrower(); } },
  { then: thrower }, new (class extends Array { get length() { return 2 ** 32; } })(),
];
