import { jsonOf, modelOptions, type PlainCommand } from "./command.ts";
import { checkOut, readOut, writeWhole } from "./output.ts";

export const quantize: PlainCommand = {
  about: "turn a model's stem and blocks into int8, with a scale for each output row: about a quarter of the size",
  operand: "",
  options: {
    out: { value: "FILE", help: "safetensors to write; may be the model itself" },
    ndjson: { help: "the same on one line" },
  },
  plan(values) {
    const out = readOut(values);
    const { source, options: { variant = "auto" } } = modelOptions(values);
    return async ({ terminal }) => {
      await checkOut(out);
      const { quantize } = await import("vitrine/train");
      let size = 0;
      const onProgress = (loaded: number, total: number) => {
        size = loaded;
        terminal.loading(loaded, total);
      };
      const bytes = await quantize(source, { variant, worker: true, onProgress });
      await writeWhole(out, bytes);
      if (jsonOf(values).json) terminal.printJson({ out, bytes: bytes.length, before: size });
      else terminal.printRow([`${out}: ${bytes.length} bytes instead of ${size}`]);
      return true;
    };
  },
};
