// Builds an ONNX graph: first nodes and constants, then the bytes of the file.
import { encodeModel } from "./onnx-messages.mjs";

export const MICROSOFT = "com.microsoft"; // ONNX Runtime's own operators

export const types = { FLOAT: 1, INT8: 3, INT64: 7 }; // TensorProto.DataType
const typeOf = (data) => (data instanceof Int8Array ? types.INT8 : types.FLOAT);

// The value of an attribute decides its type: text, a list of integers, a float in a Float32Array,
// an integer.
const attribute = (name, value) =>
  typeof value === "string"
    ? { name, s: new TextEncoder().encode(value), type: 3 }
    : Array.isArray(value)
     ? { name, ints: value, type: 7 }
     : value instanceof Float32Array
      ? { name, f: value[0], type: 1 }
      : { name, i: value, type: 2 };

/** Adds nodes and constants when they are asked for. A value's name is its number. */
export class Graph {
  #tensors;
  #nodes = [];
  #constants = new Map();
  #count = 0;

  constructor(tensors) {
    this.#tensors = tensors;
  }

  /** Adds a node. Returns its output's name, or a list of names if `outputs` says how many. */
  op(type, input, attributes = {}, { domain = "", output: name, outputs } = {}) {
    const output = Array.from({ length: outputs ?? 1 }, () => name ?? String(this.#count++));
    const list = Object.entries(attributes).map(([key, value]) => attribute(key, value));
    this.#nodes.push({ input, output, op_type: type, attribute: list, domain });
    return outputs ? output : output[0];
  }

  shape(name) {
    return this.#tensors.get(name)?.shape;
  }

  /** Those of the named tensors that the model has. */
  weights(...names) {
    return names
      .filter((name) => this.#tensors.has(name))
      .map((name) => {
        const { shape, data } = this.#tensors.get(name);
        return this.#constant(name, typeOf(data), shape, data);
      });
  }

  /** A Linear's weight (N,K) as (K,N). */
  transposed(name) {
    const { shape: [rows, columns], data } = this.#tensors.get(name);
    return this.#constant(`${name} transposed`, typeOf(data), [columns, rows], () =>
      transpose(data, rows, columns));
  }

  isInt8(name) {
    return this.#tensors.get(name).data instanceof Int8Array;
  }

  scalar(value) {
    return this.#constant(`float ${value}`, types.FLOAT, [], Float32Array.of(value));
  }

  /** A list of integers, or a single one as a scalar. */
  ints(values) {
    const data = BigInt64Array.from([values].flat(), BigInt);
    const shape = Array.isArray(values) ? [data.length] : [];
    return this.#constant(`int ${JSON.stringify(values)}`, types.INT64, shape, data);
  }

  /** `data`: numbers, or a function that makes them. */
  #constant(name, data_type, dims, data) {
    if (!this.#constants.has(name)) {
      const { buffer, byteOffset, byteLength } = typeof data === "function" ? data() : data;
      const raw_data = new Uint8Array(buffer, byteOffset, byteLength);
      this.#constants.set(name, { name, data_type, dims, raw_data });
    }
    return name;
  }

  encode(imageShape, logitsShape) {
    const value = (name, shape) => {
      const dim = shape.map((dim_value) => ({ dim_value }));
      return { name, type: { tensor_type: { elem_type: types.FLOAT, shape: { dim } } } };
    };
    return encodeModel({
      ir_version: 9,
      producer_name: "vitrine",
      graph: {
        name: "vit",
        node: this.#nodes,
        initializer: [...this.#constants.values()],
        input: [value("image", imageShape)],
        output: [value("logits", logitsShape)],
      },
      opset_import: [{ domain: "", version: 20 }, { domain: MICROSOFT, version: 1 }],
    });
  }
}

/** (rows,columns) → (columns,rows), a few rows at a time, so that both sides stay in the cache. */
export function transpose(data, rows, columns) {
  const STRIP = 16;
  const out = new data.constructor(data.length);
  for (let top = 0; top < rows; top += STRIP) {
    const end = Math.min(top + STRIP, rows);
    for (let column = 0; column < columns; column++) {
      for (let row = top; row < end; row++) {
        out[column * rows + row] = data[row * columns + column];
      }
    }
  }
  return out;
}
