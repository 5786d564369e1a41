// The figures of "How sure is it?": they are of the model that is shipped, and the twenty digits
// that the page offers are MNIST's own. Where MNIST is not at hand, what needs its images is skipped.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { worstDigits } from "../../web/demo/worst.mjs";
import { testDigits } from "../../web/scripts/data.mjs";
import { file, hashOf, model, pictures } from "../../weights/tools/reliability.mjs";
import { load } from "./support.mjs";

const figures = JSON.parse(readFileSync(file, "utf8"));
const digits = testDigits();
const skip = digits ? false : "MNIST's test images are not at hand";
const PIXELS = 28 * 28;

test("the figures are of the model that tells the story as it is", () => {
  assert.equal(figures.sha256, hashOf(model), `weights/${figures.model}.safetensors is another: run ${figures.by}`);
});

test("at every temperature the bins hold all images, and as many right answers as the model's card says", () => {
  const card = readFileSync(new URL("../../weights/README.md", import.meta.url), "utf8");
  const [, right, of] = card.match(/^\| \[digits\].*?\((\d+)\/(\d+)\)/m).map(Number);
  assert.equal(figures.images, of);
  for (const { temperature, bins } of figures.at) {
    const sum = (at) => bins.reduce((total, bin) => total + bin[at], 0);
    assert.equal(sum(0), of, `images at ${temperature}`);
    assert.ok(Math.abs(sum(1) - right) <= 1, `${sum(1)} right at ${temperature}, and the card says ${right}`); // a tie may round
    bins.forEach(([count, good, sure], at) => {
      assert.ok(good <= count);
      if (count > 0) assert.ok(sure >= at / 15 - 1e-5 && sure <= (at + 1) / 15 + 1e-5, `bin ${at} at ${temperature}: ${sure}`);
    });
  }
});

test("at the model's own temperature its doubt is nearer to its errors than without", async () => {
  const { config } = await load(model);
  assert.equal(figures.temperature, config.temperature);
  assert.equal(figures.uncertain_below, config.uncertain_below);
  const gap = (value) => {
    const { bins } = figures.at.find(({ temperature }) => temperature === value);
    return bins.reduce((sum, [count, right, sure]) => sum + Math.abs(right - sure * count), 0) / figures.images;
  };
  assert.ok(gap(config.temperature) < gap(1));
});

test("the twenty are the images of greatest loss, worst first, and reach the model as they are", { skip }, async () => {
  const vit = await load(model);
  const { worst } = figures;
  assert.equal(new Set(worst).size, 20);
  const read = await vit.classifyAll(pictures(digits, worst));
  read.forEach(({ input }, at) => {
    const image = digits.images.subarray(worst[at] * PIXELS, (worst[at] + 1) * PIXELS);
    input.forEach((value, i) => assert.ok(Math.abs(value - image[i] / 255) < 1e-6, `image ${worst[at]}, pixel ${i}`));
  });
  const lossOf = ({ classes }, index) => -Math.log(classes.find((one) => one.index === digits.labels[index]).p);
  const losses = read.map((result, at) => lossOf(result, worst[at]));
  losses.slice(1).forEach((loss, at) => assert.ok(loss <= losses[at] + 1e-4));
  const others = Array.from({ length: 500 }, (_, index) => index * 20).filter((index) => !worst.includes(index));
  const rest = await vit.classifyAll(pictures(digits, others));
  rest.forEach((result, at) => assert.ok(lossOf(result, others[at]) <= losses.at(-1) + 1e-4, `image ${others[at]} is worse`));
});

test("a build with MNIST at hand carries the twenty's labels and images", { skip }, () => {
  const { source, code } = build("build");
  assert.match(code, /^export default import\.meta\.ROLLUP_FILE_URL_\w+;$/);
  assert.equal(source.length, 20 * (1 + PIXELS));
  figures.worst.forEach((index, at) => {
    assert.equal(source[at], digits.labels[index]);
    const image = source.subarray(20 + at * PIXELS, 20 + (at + 1) * PIXELS);
    assert.deepEqual([...image], [...digits.images.subarray(index * PIXELS, (index + 1) * PIXELS)]);
  });
});

test("without them the page is told so", () => {
  assert.deepEqual(build("serve"), { code: "export default undefined;", source: undefined });
});

/** What the plugin makes of its module. */
function build(command) {
  const plugin = worstDigits();
  let source;
  const emitFile = (asset) => {
    source = asset.source;
    return "name";
  };
  plugin.configResolved({ command });
  const code = plugin.load.call({ emitFile }, plugin.resolveId("virtual:worst-digits"));
  return { code, source };
}
