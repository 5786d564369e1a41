// Runs the programs of README.md and of the tutorial, web/README.md, in a folder with vitrine and sharp installed.
import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { modelBytes } from "./golden.mjs";
import { checkpoint, folder, sharp, skip, start } from "./command.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (path) => readFileSync(join(root, path), "utf8");
const examples = ["README.md", "web/README.md"].map(read).join("\n");

/** The code below a heading. */
function code(heading) {
  const [, text] = examples.match(new RegExp(`^#+ ${heading}\n[^]*?^\`\`\`js\n([^]*?)^\`\`\``, "m"));
  return text;
}

/** Makes a folder with `node_modules`, two checkpoints and photos. */
async function workshop(t) {
  const place = folder(t);
  mkdirSync(place.at("node_modules"));
  symlinkSync(root, place.at("node_modules/vitrine"));
  if (!sharp) return place;
  symlinkSync(join(root, "node_modules", "sharp"), place.at("node_modules/sharp"));
  cpSync(checkpoint(place), place.at("vit-tiny"), { recursive: true });
  cpSync(place.at("vit-tiny"), place.at("dino"), { recursive: true });
  place.write("dino/model.safetensors", modelBytes("families/dinov2")); // photos are 20×20 pixels, the model sees 12×12
  place.write("dino/config.json", JSON.stringify({ model_type: "dinov2", num_attention_heads: 2, image_size: 20, patch_size: 4 }));
  mkdirSync(place.at("photos"));
  for (const [name, colour] of Object.entries({ red: "#c02010", pink: "#d05040", blue: "#1020c0" })) {
    const picture = sharp({ create: { width: 40, height: 30, channels: 3, background: colour } });
    place.write(`photos/${name}.png`, await picture.png().toBuffer());
  }
  for (const [label, colour] of Object.entries({ red: [192, 32, 16], blue: [16, 32, 192] })) {
    mkdirSync(place.at(`pets/${label}`), { recursive: true });
    for (const light of [0, 20, 40]) {
      const [r, g, b] = colour.map((value) => value + light);
      const picture = sharp({ create: { width: 40, height: 30, channels: 3, background: { r, g, b } } });
      place.write(`pets/${label}/${light}.jpg`, await picture.jpeg().toBuffer());
    }
  }
  const red = sharp({ create: { width: 40, height: 30, channels: 3, background: "#c02010" } });
  place.write("photo.jpg", await red.jpeg({ quality: 100, chromaSubsampling: "4:4:4" }).toBuffer());
  return place;
}

async function runs(place, heading) {
  writeFileSync(place.at("program.mjs"), code(heading));
  const { code: exit, stdout, stderr } = await start([], { program: "program.mjs", cwd: place.path }).done;
  assert.equal(exit, 0, stderr.slice(-2000));
  return stdout.trim().split("\n");
}

test("every relative link in the documents leads to a file", () => {
  for (const path of ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "web/README.md", "web/REFERENCE.md", "web/RECIPES.md", "weights/README.md", "weights/experiments.md", "tests/README.md", "src/README.md"]) {
    const links = [...read(path).replace(/^```[^]*?^```$|`[^`\n]*`/gm, "").matchAll(/\]\((?![a-z]+:|#)([^)#]+)/g)];
    assert.ok(links.length > 0, path);
    for (const [, link] of links) assert.ok(existsSync(join(root, dirname(path), link)), `${path}: ${link}`);
  }
});

test("README: the ten lines with a digit run", async (t) => {
  const [first] = await runs(await workshop(t), "Ten lines");
  assert.match(first, /^\{ label: '1', index: 1, p: 0\.9\d+ \}$/);
});

test("README: the two signs are taught and told apart", async (t) => {
  const lines = await runs(await workshop(t), "Two new signs");
  const losses = lines.slice(0, 30).map((line) => Number(line.split(" ")[1]));
  assert.ok(losses[29] < losses[0] / 2, lines.join("\n"));
  assert.match(lines[30], /^\{ label: 'cross', index: 0, p: 0\.[89]\d+ \}$/);
});

test("README: three photos a class are learnt, by a program and by the command", { skip }, async (t) => {
  const place = await workshop(t);
  const lines = await runs(place, "Three photos a class");
  assert.deepEqual(lines.map((line) => Number(line.split(" ")[0])), Array.from({ length: 20 }, (_, index) => index + 1));
  assert.match(lines[19], / 1$/);
  cpSync(place.at("pets"), place.at("other-pets"), { recursive: true });
  const commandsOf = (title, count) =>
    read("web/REFERENCE.md").match(new RegExp(`^### ${title}\n+\`\`\`sh\n([^]*?)^\`\`\``, "m"))[1].split("\n").slice(0, count);
  for (const command of [...commandsOf("Training by the command", 2), ...commandsOf("Measuring, calibrating and shrinking", 3)]) {
    const args = command.match(/^npx vitrine (.*)$/)[1].match(/"[^"]*"|\S+/g).map((word) => word.replaceAll('"', ""));
    const { code: exit, stdout, stderr } = await start(args, { cwd: place.path }).done;
    assert.equal(exit, 0, stderr);
    if (args[0] === "classify") assert.match(stdout, /^photo\.jpg\tred\t/);
    if (args[0] === "eval") assert.match(stdout, /\naccuracy: [\d.]+ \(\d+\/\d+\)\n$/);
  }
});

test("README: the ten lines with a photo run", { skip }, async (t) => {
  const lines = await runs(await workshop(t), "A photo in ten lines");
  const shares = lines.slice(0, 5).map((line) => Number(line.match(/ (0\.\d{4})$/)[1]));
  assert.deepEqual(shares, shares.toSorted((a, b) => b - a));
  assert.match(lines[5], /^\[ 3, 3 \] Float32Array\(9\) \[/);
});

test("README: the image search finds similar photos first", { skip }, async (t) => {
  const lines = await runs(await workshop(t), "Image search");
  assert.deepEqual(lines.map((line) => line.split(" ")[1]), ["photos/red.png", "photos/pink.png", "photos/blue.png"]);
  assert.ok(Number(lines[0].split(" ")[0]) > 0.99);
});
