// safetensors in plain JavaScript, independent of the C reader: float32 and int8.

const types = { F32: Float32Array, I8: Int8Array };

/** bytes → { config, tensors: Map of name → { shape, data } }. data is a copy. config is undefined
 *  if the file has none. */
export function readSafetensors(bytes) {
  const { buffer, byteOffset } = bytes;
  const start = 8 + Number(new DataView(buffer, byteOffset).getBigUint64(0, true));
  const { __metadata__: metadata, ...entries } = JSON.parse(
    new TextDecoder().decode(bytes.subarray(8, start)),
  );
  const tensors = new Map();
  for (const [name, { dtype, shape, data_offsets }] of Object.entries(entries)) {
    if (!(dtype in types)) throw new Error(`${name}: expected F32 or I8, got ${dtype}`);
    const [from, to] = data_offsets.map((offset) => byteOffset + start + offset);
    tensors.set(name, { shape, data: new types[dtype](buffer.slice(from, to)) });
  }
  return { config: metadata && JSON.parse(metadata.vitrine), tensors };
}

/** The inverse of readSafetensors. The wider type comes first, so that all data is aligned. */
export function writeSafetensors({ config, tensors }) {
  const header = { __metadata__: { vitrine: JSON.stringify(config) } };
  const placed = [];
  let size = 0;
  for (const [dtype, type] of Object.entries(types)) {
    for (const [name, { shape, data }] of tensors) {
      if (!(data instanceof type)) continue;
      placed.push([data, size]);
      header[name] = { dtype, shape, data_offsets: [size, (size += data.byteLength)] };
    }
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const start = 8 + Math.ceil(text.length / 8) * 8;
  const bytes = new Uint8Array(start + size).fill(0x20, 8, start);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(start - 8), true);
  bytes.set(text, 8);
  for (const [{ buffer, byteOffset, byteLength }, at] of placed) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), start + at);
  }
  return bytes;
}
