/**
 * Files of safetensors: 8 bytes with the length of the header, the header as JSON, the tensors' bytes.
 * Plain JavaScript, because scripts and the bench's pages import it without a build. It trusts what it
 * reads; src/file/safetensors.c checks what comes from outside.
 */

export const LENGTH_BYTES = 8;

/** The typed arrays of tensors. The wider type comes first, so that all data is aligned. */
const TYPES = { F32: Float32Array, I8: Int8Array };

/** The bytes of the header's JSON, as the first bytes of a file say; 0 if these are too few to say it. */
export function headerLength(start) {
  return start.length < LENGTH_BYTES ? 0 : Number(new DataView(start.buffer, start.byteOffset).getBigUint64(0, true));
}

/** The header for tensors that follow one another: pairs of a name and { dtype, shape, size }, the size in bytes. */
export function headerOf(tensors, metadata) {
  let at = 0;
  const entries = Array.from(tensors, ([name, { dtype, shape, size }]) =>
    [name, { dtype, shape, data_offsets: [at, (at += size)] }]);
  return { ...(metadata && { __metadata__: metadata }), ...Object.fromEntries(entries) };
}

/** A file's bytes before its data. Spaces end the header, so that tensors stay aligned. */
export function headerBytes(header) {
  const text = new TextEncoder().encode(JSON.stringify(header));
  const padded = Math.ceil(text.length / LENGTH_BYTES) * LENGTH_BYTES;
  const bytes = new Uint8Array(LENGTH_BYTES + padded).fill(0x20);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(padded), true);
  bytes.set(text, LENGTH_BYTES);
  return bytes;
}

/** A file's header, parsed, and a view of the bytes after it. */
export function splitFile(file) {
  const end = LENGTH_BYTES + headerLength(file);
  return { header: JSON.parse(new TextDecoder().decode(file.subarray(LENGTH_BYTES, end))), data: file.subarray(end) };
}

/** The inverse of splitFile, with the data in any number of parts. */
export function joinFile(header, ...data) {
  const parts = [headerBytes(header), ...data];
  const file = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    file.set(part, at);
    at += part.length;
  }
  return file;
}

/** bytes → { config, tensors: Map of name → { shape, data } }. data is a copy. config is undefined
 *  if the file has none. */
export function readSafetensors(bytes) {
  const { header: { __metadata__: metadata, ...entries }, data } = splitFile(bytes);
  const tensors = new Map();
  for (const [name, { dtype, shape, data_offsets }] of Object.entries(entries)) {
    if (!(dtype in TYPES)) throw new Error(`${name}: expected F32 or I8, got ${dtype}`);
    tensors.set(name, { shape, data: new TYPES[dtype](new Uint8Array(data.subarray(...data_offsets)).buffer) });
  }
  return { config: metadata?.vitrine && JSON.parse(metadata.vitrine), tensors };
}

/** The inverse of readSafetensors. */
export function writeSafetensors({ config, tensors }) {
  const ordered = Object.entries(TYPES).flatMap(([dtype, type]) => Array.from(tensors)
    .filter(([, { data }]) => data instanceof type)
    .map(([name, { shape, data }]) => [name, { dtype, shape, data, size: data.byteLength }]));
  const parts = ordered.map(([, { data }]) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  return joinFile(headerOf(ordered, { vitrine: JSON.stringify(config) }), ...parts);
}

/**
 * The same file with these keys in its config, `__metadata__.vitrine`. Tensors keep their bytes.
 * Throws if the file is not of this library.
 */
export function withKeys(file, keys) {
  let parts, config;
  try {
    parts = splitFile(file);
    config = JSON.parse(parts.header.__metadata__.vitrine);
  } catch (cause) {
    throw new Error("expected a file of safetensors with a config in __metadata__.vitrine, got another", { cause });
  }
  parts.header.__metadata__.vitrine = JSON.stringify({ ...config, ...keys });
  return joinFile(parts.header, parts.data);
}
