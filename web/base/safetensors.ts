/** Changes the config of a file of safetensors: a length of 8 bytes, a JSON header, the tensors' bytes. */
import type { Piece } from "./bytes.js";

const LENGTH_BYTES = 8;

interface Header {
  __metadata__: { vitrine: string };
}

/** @throws for a file that is not of this library. */
function parsed(text: string): { readonly header: Header; readonly config: object } {
  try {
    const header = JSON.parse(text) as Header;
    return { header, config: JSON.parse(header.__metadata__.vitrine) as object };
  } catch (cause) {
    throw new Error("expected a file of safetensors with a config in __metadata__.vitrine, got another", { cause });
  }
}

/** The same file with these keys in its config, `__metadata__.vitrine`. Tensors keep their bytes. */
export function withKeys(file: Piece, keys: Readonly<Record<string, unknown>>): Piece {
  const length = file.length < LENGTH_BYTES ? 0 : Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
  const end = LENGTH_BYTES + length;
  const { header, config } = parsed(new TextDecoder().decode(file.subarray(LENGTH_BYTES, end)));
  header.__metadata__.vitrine = JSON.stringify({ ...config, ...keys });
  const text = JSON.stringify(header);
  const bytes = new TextEncoder().encode(text);
  const padded = Math.ceil(bytes.length / LENGTH_BYTES) * LENGTH_BYTES; // tensors stay aligned
  const out = new Uint8Array(LENGTH_BYTES + padded + file.length - end).fill(0x20, LENGTH_BYTES, LENGTH_BYTES + padded);
  new DataView(out.buffer).setBigUint64(0, BigInt(padded), true);
  out.set(bytes, LENGTH_BYTES);
  out.set(file.subarray(end), LENGTH_BYTES + padded);
  return out;
}
