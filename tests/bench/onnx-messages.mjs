// The messages of an ONNX file that our models need, as onnx.proto has them.
import "../../node_modules/protobufjs/dist/protobuf.min.js"; // no ES module; it makes the global `protobuf`

const { root } = globalThis.protobuf.parse(`
  syntax = "proto2";
  message ModelProto {
    optional int64 ir_version = 1;
    optional string producer_name = 2;
    optional GraphProto graph = 7;
    repeated OperatorSetIdProto opset_import = 8;
  }
  message OperatorSetIdProto { optional string domain = 1; optional int64 version = 2; }
  message GraphProto {
    repeated NodeProto node = 1;
    optional string name = 2;
    repeated TensorProto initializer = 5;
    repeated ValueInfoProto input = 11;
    repeated ValueInfoProto output = 12;
  }
  message NodeProto {
    repeated string input = 1;
    repeated string output = 2;
    optional string op_type = 4;
    repeated AttributeProto attribute = 5;
    optional string domain = 7;
  }
  message AttributeProto {
    optional string name = 1;
    optional float f = 2;
    optional int64 i = 3;
    optional bytes s = 4;
    repeated int64 ints = 8;
    optional int32 type = 20;
  }
  message TensorProto {
    repeated int64 dims = 1;
    optional int32 data_type = 2;
    optional string name = 8;
    optional bytes raw_data = 9;
  }
  message ValueInfoProto { optional string name = 1; optional TypeProto type = 2; }
  message TypeProto {
    optional Tensor tensor_type = 1;
    message Tensor { optional int32 elem_type = 1; optional TensorShapeProto shape = 2; }
  }
  message TensorShapeProto {
    repeated Dimension dim = 1;
    message Dimension { optional int64 dim_value = 1; }
  }
`, { keepCase: true });

/** The bytes of an ONNX file, of a ModelProto as a plain object. */
export const encodeModel = (model) => root.lookupType("ModelProto").encode(model).finish();
