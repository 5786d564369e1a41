// node weights/tools/others.mjs FOLDER [MODEL]: of how many photographs of other things a model of photos is not sure,
// and how many of its own it names, which unlike CIFAR's were never shrunk to 32×32 by others.
// FOLDER is the repository EliSchwartz/imagenet-sample-images: a photograph of each of ImageNet's classes (Deng et al.,
// 2009). The 200 classes are none of the ten nor like them, none that photos.mjs trains on, and hardly ever beside a
// car, a ship or a pet; of the 512 of this kind every second or third is here.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";
import { Vit } from "../../dist/vit.js";

const OTHERS = `
  tench tiger_shark stingray eft loggerhead mud_turtle banded_gecko American_chameleon frilled_lizard green_lizard
  Komodo_dragon thunder_snake hognose_snake garter_snake vine_snake Indian_cobra sea_snake sidewinder barn_spider
  wolf_spider echidna wallaby flatworm conch Dungeness_crab king_crab hermit_crab killer_whale American_black_bear
  mongoose tiger_beetle leaf_beetle rhinoceros_beetle cricket lacewing admiral lycaenid sea_urchin Angora porcupine
  beaver hippopotamus polecat skunk armadillo gibbon guenon langur proboscis_monkey howler_monkey squirrel_monkey indri
  barracouta coho sturgeon lionfish accordion analog_clock assault_rifle ballpoint banjo barometer baseball bathing_cap
  bearskin bib binder bookcase bow breastplate can_opener carton castle cellular_telephone chain_saw china_cabinet
  cinema clog coffee_mug combination_lock cornet cradle crate croquet_ball desktop_computer diaper dishrag dome
  Dutch_oven electric_guitar espresso_maker feather_boa flute fountain_pen French_horn gong grand_piano guillotine
  hair_spray hand_blower hard_disc harp home_theater hook iron jean joystick knot laptop lighter Loafer loupe mailbox
  marimba matchstick medicine_chest microphone mitten monastery mortar mosquito_net mountain_tent necklace notebook
  oil_filter oxygen_mask paddle pajama panpipe patio pencil_box Petri_dish pick pillow pitcher plastic_bag pool_table
  power_drill prison purse radiator radio_telescope restaurant rotisserie rule safety_pin sarong scale screw shoe_shop
  shopping_cart shower_cap sleeping_bag sliding_door soccer_ball soup_bowl spindle stage stole strainer studio_couch
  sundial sunscreen swing table_lamp tennis_ball thimble toaster totem_pole trench_coat trombone typewriter_keyboard
  vacuum vault violin wallet washbasin whiskey_jug wig Windsor_tie yurt consomme trifle cheeseburger broccoli
  spaghetti_squash cucumber cardoon fig jackfruit carbonara dough cup valley ballplayer yellow_lady's_slipper hip agaric
  stinkhorn bolete
`.trim().split(/\s+/);

/** There is no deer among ImageNet's classes. */
const OWN = {
  airplane: "airliner warplane",
  automobile: "sports_car convertible beach_wagon minivan cab limousine Model_T racer",
  bird: "goldfinch robin jay magpie junco bulbul chickadee house_finch ostrich pelican flamingo",
  cat: "tabby tiger_cat Persian_cat Siamese_cat Egyptian_cat",
  dog: "beagle boxer collie pug golden_retriever Siberian_husky Border_collie",
  frog: "bullfrog tree_frog tailed_frog",
  horse: "sorrel",
  ship: "container_ship liner pirate catamaran yawl speedboat",
  truck: "moving_van trailer_truck pickup garbage_truck fire_engine tow_truck",
};

const [folder, path = "weights/photos.safetensors"] = process.argv.slice(2);
if (!folder) {
  console.log("node weights/tools/others.mjs FOLDER [MODEL]: of how many photographs of other things a model is not sure");
  process.exit(process.argv.length > 2 ? 1 : 0);
}
const vit = await Vit.load(readFileSync(path)), files = readdirSync(folder);

async function read(name) {
  const file = files.find((file) => file.replace(/^n\d+_/, "") === `${name}.JPEG`);
  const { data, info } = await sharp(join(folder, file)).toColourspace("srgb").removeAlpha().raw().toBuffer({ resolveWithObject: true });
  const { uncertain, classes: [{ label, p }] } = await vit.classify({ data, width: info.width, height: info.height, channels: info.channels });
  return { uncertain, label, says: `${name}: ${label}, ${(100 * p).toFixed(1)} %${uncertain ? ", not sure" : ""}` };
}

let uncertain = 0;
for (const name of OTHERS) {
  const answer = await read(name);
  uncertain += answer.uncertain;
  if (!answer.uncertain) console.log(answer.says);
}
const counts = { sure: 0, unsure: 0, all: 0 };
for (const [label, names] of Object.entries(OWN)) {
  for (const name of names.split(" ")) {
    const answer = await read(name), right = answer.label === label;
    counts.all++;
    if (right) counts[answer.uncertain ? "unsure" : "sure"]++;
    if (!right || answer.uncertain) console.log(answer.says);
  }
}
console.log(`not sure of ${uncertain} of ${OTHERS.length} others, ${((100 * uncertain) / OTHERS.length).toFixed(1)} %`);
console.log(`right about ${counts.sure + counts.unsure} of its own ${counts.all}, not sure of ${counts.unsure} of them`);
vit.dispose();
