// The part of protocol buffers that is needed to write an ONNX file.
// Messages and field numbers: onnx.proto; wire format: protobuf.dev/programming-guides/encoding.

const messages = {
  ModelProto: {
    ir_version: [1, "int"],
    producer_name: [2, "text"],
    graph: [7, "GraphProto"],
    opset_import: [8, "OperatorSetIdProto"],
  },
  OperatorSetIdProto: { domain: [1, "text"], version: [2, "int"] },
  GraphProto: {
    node: [1, "NodeProto"],
    name: [2, "text"],
    initializer: [5, "TensorProto"],
    input: [11, "ValueInfoProto"],
    output: [12, "ValueInfoProto"],
  },
  NodeProto: {
    input: [1, "text"],
    output: [2, "text"],
    op_type: [4, "text"],
    attribute: [5, "AttributeProto"],
    domain: [7, "text"],
  },
  AttributeProto: {
    name: [1, "text"],
    f: [2, "float"],
    i: [3, "int"],
    s: [4, "text"],
    ints: [8, "int"],
    type: [20, "int"],
  },
  TensorProto: {
    dims: [1, "int"],
    data_type: [2, "int"],
    name: [8, "text"],
    raw_data: [9, "bytes"],
  },
  ValueInfoProto: { name: [1, "text"], type: [2, "TypeProto"] },
  TypeProto: { tensor_type: [1, "TensorType"] },
  TensorType: { elem_type: [1, "int"], shape: [2, "Shape"] },
  Shape: { dim: [1, "Dimension"] },
  Dimension: { dim_value: [1, "int"] },
};

const utf8 = new TextEncoder();
const VARINT = 0, LENGTH = 2, FIXED32 = 5; // wire types

/** `value` as bytes. It is an object with the keys above; an array repeats its field. */
export function encode(message, value) {
  const { parts, size } = measured(message, value);
  const all = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** encode's bytes in parts, so that bytes deep in a message are copied only once. */
function measured(message, value) {
  const all = { parts: [], size: 0 };
  const add = (parts, size) => {
    for (const part of parts) all.parts.push(part);
    all.size += size;
  };
  const put = (bytes) => add([bytes], bytes.length);
  for (const [key, content] of Object.entries(value)) {
    const [field, type] = messages[message][key];
    const tag = (wire) => put(varint((field << 3) | wire));
    for (const item of Array.isArray(content) ? content : [content]) {
      if (type === "int") {
        tag(VARINT);
        put(varint(item));
      } else if (type === "float") {
        tag(FIXED32);
        put(new Uint8Array(Float32Array.of(item).buffer));
      } else {
        const { parts, size } = type in messages ? measured(type, item) : leaf(type, item);
        tag(LENGTH);
        put(varint(size));
        add(parts, size);
      }
    }
  }
  return all;
}

function leaf(type, item) {
  const bytes = type === "text" ? utf8.encode(item) : item;
  return { parts: [bytes], size: bytes.length };
}

/** Seven bits a byte, lowest first. A negative number is written as its 64-bit two's complement. */
function varint(number) {
  let rest = BigInt.asUintN(64, BigInt(number));
  const bytes = [];
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Uint8Array.of(...bytes, Number(rest));
}
