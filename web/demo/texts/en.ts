/** The page's words in English. Each language has a file with the same keys. */
import { opening } from "./en-opening.ts";
import { own } from "./en-own.ts";

/**
 * The English of index.html, where data-text and data-attributes name it. A number in braces is the
 * place of the element's first, second, … child.
 */
const page = {
  title: "Vitrine: a Vision Transformer behind glass",
  description: "Draw a digit and watch a Vision Transformer read it in your browser, attention and all.",
  language: "Language",
  tabs: "What to look at",
  tabDraw: "Draw",
  tabOwn: "Your own ViT",
  heading: "Draw a digit.",
  lead: "A small Vision Transformer reads it while your pen moves, and shows where it looks. Nothing leaves this tab.",
  drawing: "Drawing",
  padRole: "drawing pad",
  padLabel: "Draw a digit here",
  padKeys:
    "Arrow keys move the pen, with Shift in larger steps. Space or Enter puts the pen down or lifts it. Control Z undoes a stroke, Control Y redoes it. Escape or Delete clears the pad.",
  undo: "Undo",
  undoTitle: "Undo (Ctrl+Z)",
  redo: "Redo",
  redoTitle: "Redo (Ctrl+Shift+Z)",
  clear: "Clear",
  clearTitle: "Clear (Escape)",
  examples: "Example drawings",
  photo: "Read a photo of a digit",
  photoTitle: "Read a photo of a digit: choose, drop or paste one",
  takeaway: "Save the drawing or its code",
  shareTitle: "A link that holds the drawing",
  save: "Picture",
  saveTitle: "Save drawing and map as a PNG",
  code: "Code",
  codeTitle: "The code that reads this drawing",
  model: "Model",
  keys: "Arrows move the pen and {1} puts it down. {2} {3} undoes, {4} {5} redoes, {6} clears.",
  space: "Space",
  ctrl: "Ctrl",
  esc: "Esc",
  reading: "What the model reads",
  bars: "Probability of each class",
  where: "Where it looks",
  map: "Map",
  mapClass: "Class token",
  mapPatch: "Patch at pointer",
  mapRollout: "Rollout",
  mapSimilarity: "Similarity to patch",
  layer: "Layer",
  head: "Head",
  strength: "Strength",
  axes: "Layers run across, heads down. Choose one.",
  maps: "Every layer and head; choose one",
  journey: "From ink to answer",
  patchRole: "patch chooser",
  pixelsLabel: "What the model sees",
  pixelsKeys: "Arrow keys choose the patch whose attention is shown.",
  pixels: "Pixels",
  pixelsText: "Your ink, centred. The model sees only this.",
  convolutions: "Convolutions",
  convolutionsText: "{1} in turn, 3\u00a0×\u00a03 each. A place has then seen up to {2} pixels: no patch is cut from the ink.",
  patches: "Patches",
  patchesText: "Cut into squares of {1} pixels, each read line by line.",
  tokens: "Tokens",
  tokensText: "A row of {1} numbers each, the class token’s first. Red above 0, blue below, up to ±{2}, on a root scale.",
  blocks: "Blocks",
  blocksText: "{1} times, each token takes from all others what it needs. These are its numbers at the end, up to ±{2}.",
  logits: "Logits",
  logitsText: "The class token’s {1} numbers become logits; softmax makes probabilities of them.",
  overlay: "Overlay",
  overlayText: "The class token’s attention, laid over your ink: here it looked.",
  reliable: "How reliable are the probabilities?",
  paper: "The Vision Transformer is by Dosovitskiy et al., {1}.",
  source: "Source",
  documents: "Documents",
  licence: "MIT licence",
  codeHeading: "The code that reads this drawing",
  codePage: "Web page",
  copy: "Copy",
  close: "Close",
  orTry: "or try",
  closer: "Look closer",
  mySigns: "My signs",
  machine: "The model, and what to take along",
  down: "How it reads: {1} steps, on your own drawing",
  local: "nothing leaves this tab",
};

/** The headings of the story, in index.html. */
const chapters = {
  patches: "Patch to token",
  positions: "Where am I?",
  score: "One score by hand",
  layers: "Layer by layer",
  doubt: "How sure is it?",
  learning: "How it learnt",
  cnn: "Beside a convolutional network",
  masks: "Encoder, decoder",
  why: "Which patches spoke for this class",
};

/** The second tab, in index.html. */
const ownPage = {
  heading: "Your own ViT.",
  lead: "Drop a photo and a checkpoint (safetensors or PyTorch, from timm, transformers, torchvision or vit-pytorch). See where every head looks. Nothing leaves this tab.",
  photo: "Photo",
  photoKeys: "Arrow keys choose the patch whose attention or similarity is shown.",
  choosePhoto: "Photo…",
  camera: "Camera",
  example: "Example",
  checkpoint: "Checkpoint",
  files: "Files of a checkpoint, or a photo",
  drop: "Drop weights or a photo, or choose files",
  chooseFolder: "Folder…",
  random: "A small random model",
  digits: "Our digits, on a photo of one",
  known: "Files that load as they are",
  knownHow: "Drop one with the config.json and preprocessor_config.json that lie beside it.",
  pixels: "Pixels",
  config: "Config",
  configHint: 'missing keys, such as {"heads": 3}',
  reading: "What the model sees in the photo",
  classes: "The most probable classes",
};

type Cell = { row: string; column: string; value: string };

const grid = {
  kind: "grid of numbers",
  keys: "Arrow keys move from cell to cell. Enter chooses a cell.",
  signed: (top: string) => `Blue: down to −${top}. Red: up to ${top}. Root scale.`,
  tick: (uniform: string) => `tick: all equal, ${uniform}; root scale`,
  hidden: "masked",
  cell: ({ row, column, value }: Cell) => `${row}, ${column}: ${value}`,
  largest: ({ row, column, value }: Cell) => `Largest: ${row}, ${column}, ${value}`,
};

/** Common to all chapters. */
const story = {
  title: "Inside: your drawing, step by step",
  rail: "Your drawing and the answer",
  railPad: "Draw here too",
  layer: "Layer",
  head: "Head",
  blank: "blank pad",
  clear: "Clear",
  chosen: (row: number, col: number) => `Patch: row ${row}, column ${col}`,
  patch: (row: number, col: number) => `row ${row}, column ${col}`,
  row: (n: number) => `row ${n}`,
  column: (n: number) => `column ${n}`,
  classToken: "class token",
  prefixToken: (n: number) => `prefix token ${n}`,
  loading: "Loading…",
};

/** 1. Patch to token. */
const patches = {
  lead: (patches: number, pixels: number) =>
    `The image is cut into ${patches} squares, called patches. For the model a patch is no picture but a list: its ${pixels} pixels, read line by line, 0 for paper and 1 for full ink.`,
  plain: (pixels: number, width: number) =>
    `A filter is a list of ${pixels} weights that training has found. Multiply each pixel by its weight, add the products and one more learnt number, the bias: this sum is one number of the patch’s token. ${width} filters make ${width} numbers, and these stand for the patch from here on.`,
  stem: (convolutions: number, side: string, width: number) =>
    `This model first passes the whole image through ${convolutions} convolutions: each makes new maps, in which every value is computed from 3 × 3 places of the maps before. So the patch’s ${width} numbers, its token, know of up to ${side} pixels, not only of its own square.`,
  taskPlain: "Choose a patch in the image, then a filter. Add the products one by one, and watch the filter’s bar.",
  taskStem: "Choose a patch in the image, and pass the convolutions one by one.",
  noticePlain:
    "A patch of empty paper has only products of 0, so each of its bars is the filter’s bias. All empty patches start as the same token: their positions come next.",
  noticeStem: "Each convolution widens the view, and one with stride 2 doubles the growth of all that follow. Beyond the image there is only padding: zeros.",
  citePlain: "The paper calls it the linear projection of flattened patches: Dosovitskiy et al., section 3.1, arXiv:2010.11929.",
  citeStem: "Convolutions before the patches: Xiao et al., arXiv:2106.14881.",
  chooser: "patch chooser",
  grid: "The image in patches",
  gridKeys: "Arrow keys choose the patch, for the whole page.",
  lift: "Lift the grid off the image",
  liftAgain: "Lift again",
  patch: (row: number, column: number, ink: string) => `Patch in row ${row}, column ${column}: ${ink} of it is ink.`,
  numbers: "The numbers of the chosen patch",
  unrolled: (row: number, column: number, pixels: number) =>
    `The patch in row ${row}, column ${column}, unrolled into ${pixels} numbers`,
  place: (row: number, column: number) => `${row},${column}`,
  rows: { pixel: "pixel", weight: "× weight", product: "= product" },
  filters: "Filters and token",
  filterLegend: (count: number) =>
    `The ${count} filters, and above each the number it makes of this patch. Together the ${count} numbers are the token.`,
  filterBar: (filter: number, value: string) => `Filter ${filter}: ${value}`,
  filtersKey: (top: string) => `Bars end at ±${top}. Red: above 0. Blue: below 0. So too the weights.`,
  filtersMissing: (why: string) => `The filters did not load: ${why}. Choose a patch to try again.`,
  filtersLoading: "Loading the filters…",
  added: (filter: number) => `Filter ${filter}: add the products one by one`,
  addAll: "Add them up",
  addedOf: (added: number, all: number) => `${added} of ${all} products`,
  sum: ({ added, all, sum, bias, value }: Record<"sum" | "bias" | "value", string> & Record<"added" | "all", number>) =>
    `${added === all ? `All ${all} products: ${sum}.` : `${added} of ${all} products: ${sum}.`} Plus the bias, ${bias}: ${value}.`,
  model: (value: string) => `The model’s own number: ${value}.`,
  passed: "Convolutions passed",
  grow: "Let the view grow",
  fieldFigure: "What the patch sees",
  field: ({ passed, rows, columns, inside, all }: Record<"passed" | "rows" | "columns" | "inside" | "all", number>) =>
    `${passed === 0 ? "The square alone" : passed === 1 ? "After 1 convolution" : `After ${passed} convolutions`}: ${rows} × ${columns} pixels. In the image are ${inside} of them; it has ${all} in all.`,
  token: (width: number) => `The patch’s token: ${width} numbers`,
  classTitle: "And one token without pixels",
  classToken: (width: number) =>
    `The class token enters empty: no square belongs to it, so no filter makes it. Its ${width} numbers are learnt, and the same for every drawing. In the blocks it gathers what the patches have to say, and in the end the answer is read from it.`,
  classBars: (width: number, top: string) => `The class token’s ${width} numbers; bars end at ±${top}`,
};

/** 3. One score by hand. */
const score = {
  leads: [
    "In attention every token asks the others for what it needs. For this a head computes three short lists of numbers from each token: a query q (what it asks), a key k (what it can be found by) and a value v (what it gives).",
    "Each number of q is multiplied by the same number of a key. The sum, divided by √d, is the score: high where both point the same way. Softmax makes a query’s scores into shares that sum to 1, and the head’s output is the sum of all values, each times its share.",
  ],
  task: "Click a patch on the grid: its query stands ready. Point at another one (a finger: tap a column below the grid), and its key slides under it. Then drag a number of q up or down (a finger: sideways; keys: arrows).",
  notice: "The shares are one whole: where one grows, all others shrink. A score that is larger by 1 has 2.7 times the share, whatever the other scores are.",
  cite: "Scaled dot-product attention: Vaswani et al., section 3.2.1, arXiv:1706.03762.",
  whose: "Whose query?",
  patchQuery: "the chosen patch’s",
  classQuery: "the class token’s",
  map: "Shares of this query, on your drawing",
  classKey: "Point at the class token",
  play: "Play all steps",
  pause: "Pause",
  next: "Next step",
  reset: "Put the numbers back",
  qName: (n: number) => `q, number ${n}`,
  kName: (n: number) => `k, number ${n}`,
  vName: (n: number) => `v, number ${n}`,
  pair: (query: string, key: string) => `Query of ${query}, key of ${key}`,
  value: (key: string, share: string) => `Value of ${key}, taken ${share}, and the head’s output: the sum over all tokens`,
  sum: (sum: string, root: string, score: string) => `Sum ${sum}, divided by ${root}: score ${score}`,
  sumBias: (sum: string, root: string, bias: string, score: string) =>
    `Sum ${sum}, divided by ${root}, plus ${bias} for the places’ distance: score ${score}`,
  steps: {
    query: (d: number) => `The query: ${d} numbers.`,
    key: () => "The other token’s key slides under it.",
    products: () => "Number by number, both are multiplied.",
    score: () => "The sum, divided by √d, is the score of this one pair.",
    scores: (_: number, tokens: number) => `The same query with all ${tokens} keys: ${tokens} scores.`,
    softmax: () => "Softmax: e to the power of each score, divided by the sum of all these.",
    values: () => "Every token’s value is multiplied by its share.",
    output: (d: number) => `Added up, they are the head’s output for this token: ${d} numbers.`,
  },
  stepOf: (n: number, all: number, text: string) => `Step ${n} of ${all}. ${text}`,
  strip: "All tokens: score, share, and value times share",
  stripLegend: (share: string, top: string) =>
    `One column a token; ▾ is the query’s own. Bars of shares: up to ${share}; dashed: all equal. Numbers: blue down to −${top}, red up to ${top}.`,
  scores: "scores",
  shares: "shares",
  values: "values",
  timesShare: "× share",
  outputShort: "sum",
  of: ({ token, score, share }: { token: string; score: string; share: string }) => `${token}: score ${score}, share ${share}`,
  table: "All scores and shares as a table",
  tableHead: ["Token", "Score", "Share"],
  changed: (moved: string, length: string) =>
    `You changed numbers. The head’s output (length ${length}) moved by ${moved}. Map, shares, output and the answer below are of your numbers; the rest of the model is as it was.`,
  followed: "The answer with your numbers",
  ownAnswer: (label: string, p: string) => `With its own numbers the model says ${label}, ${p}.`,
  sameAnswer: (label: string, before: string, after: string) =>
    `With your numbers in this head the model still says ${label}: ${after} instead of ${before}. Dashed: its own answer.`,
  otherAnswer: (old: string, before: string, now: string, p: string) =>
    `With your numbers in this head the model says ${now}, ${p}. With its own it said ${old}, ${before} (dashed).`,
  unchanged: "Those are the model’s own numbers.",
  undone: "The model’s own numbers are back.",
  headsTitle: "All heads, side by side",
  headsLead: (heads: number, d: number) =>
    `The block has ${heads} heads, and each computes this with q, k and v of its own, so each may look elsewhere. For one token every head gives ${d} numbers. Choose a head to open it above.`,
  head: (n: number) => `Head ${n}`,
  headName: ({ n, token, share }: { n: number; token: string; share: string }) => `Head ${n}. Most on ${token}: ${share}`,
  concatenated: "Heads’ outputs, concatenated",
  number: (n: number) => `number ${n}`,
  projected: "What attention adds to this token",
  projection: (sizes: { heads: number; d: number; inner: number; width: number }) =>
    `${sizes.heads} × ${sizes.d} = ${sizes.inner} numbers, one head a row, are multiplied by a learned matrix of ${sizes.inner} × ${sizes.width}, the projection, which mixes the heads. Its ${sizes.width} numbers are added to the token.`,
  noProjection: (sizes: { heads: number; d: number; inner: number }) =>
    `This model has no projection: its ${sizes.heads} × ${sizes.d} = ${sizes.inner} numbers, one head a row, are added to the token as they are.`,
  projectionOwn: "It is shown for the model’s own numbers.",
  layerScale: "A learned factor for each number (layer scale) is included.",
  ofPrefix: (name: string, share: string) => `${name} ${share}`,
  perHead: "In this model a head computes q, k and v from its own part of the token only, not from the whole token.",
  stem: "This model has convolutions before its patches, so a token has seen more than its own square.",
  qkNorm: "q and k are shown as they are multiplied: after this model’s norm of both.",
  relative: "This model has relative positions: each score gets a learned bias for the way from one patch to the other.",
};

/** Teaching on the first window. */
const teachIt = {
  title: "Teach it a sign",
  signs: "My signs",
  first: "Draw your sign on the pad.",
  more: (count: number): string => (count === 1 ? "And once more." : "Draw it twice more, as you would tomorrow."),
  enough: "That is enough. What is it called?",
  drawings: "The drawings of this sign",
  removeDrawing: (index: number) => `Remove drawing ${index}`,
  name: "What is it called?",
  placeholder: "star",
  known: "Or is it one that it knows?",
  itIs: (label: string) => `It is ${label}`,
  honest: "It also practises its digits and drawings of nothing, so that it stays honest about what it does not know.",
  cancel: "Cancel",
  next: "Next drawing",
  learn: "Learn",
  stop: "Stop",
  learning: "Learning, in this tab…",
  step: ({ step, steps, right, seconds }: { step: number; steps: number; right: string; seconds: string }) =>
    `step ${step} of ${steps} · ${right} right · ${seconds} s left`,
  taught: (seconds: string, right: number, all: number) =>
    `Learnt in ${seconds} s: it reads ${right} of your ${all} drawings.`,
  stopped: "Stopped. The model is as it was before.",
  failed: (why: string) => `It could not learn that: ${why}`,
  none: "No sign yet. Three drawings of each are enough.",
  remove: (label: string, index: number) => `Remove drawing ${index} of ${label}`,
  changed: "Your drawings have changed since it learnt.",
  again: "Learn again",
  another: "Teach another",
  forget: "Forget all",
  undo: "Undo",
  download: "Download",
  upload: "Load…",
  link: "Copy a link",
  close: "Close",
  kept: "Kept in this browser until you forget them.",
  notKept: "This browser keeps nothing. Download the model to have it later.",
  uploaded: (file: string) => `${file} is what reads now.`,
  refused: (file: string, why: string) => `${file} was not taken: ${why}`,
  photos: "it reads photos and no drawings; “Your own ViT” shows it",
  linked: "These drawings came with the link. Press “Learn again”, and the model learns them here.",
  damaged: "The link’s drawings are damaged.",
  tooLarge: "Too many drawings for a link. Download the model instead: its file holds them.",
};

/** The teacher's page. */
const teach = {
  lead:
    "Six exercises for a lesson of 45 minutes, from about the age of 15. Each needs only this page: no account, and no drawing leaves the tab. Once loaded, the page works without a network.",
  print: "Print this page",
  look: "What to look for",
  exercises: [
    {
      chapter: "positions",
      title: "Does order matter?",
      task: "Draw a 7. In “Where am I?” choose “none” and scramble the patches. Then choose “2-D sin-cos” and scramble again.",
      look: "Without positions no score changes, because attention adds up over a set and a set has no order. With positions the answer falls apart: the same patches now say that they are somewhere else.",
    },
    {
      chapter: "score",
      title: "One score by hand",
      task: "In “One score by hand” choose a patch on your ink and one beside it. Multiply the first four numbers of q and k on paper. Then let the page do all of them.",
      look: "The score is a sum of products divided by √d: large where q and k point the same way. Softmax makes shares of all scores, so a token can only look more at one patch by looking less at others.",
    },
    {
      chapter: "masks",
      title: "Who may look at whom?",
      task: "In “Encoder, decoder” switch from full to causal attention. Find the row of the first patch and the row of the last.",
      look: "With the causal mask the first row can only look at itself, and the last row still sees everything. A model that writes words one after another needs that; one that reads a whole picture does not.",
    },
    {
      chapter: "layers",
      title: "When does it know?",
      task: "Draw a 4 that nearly closes at the top. In “Layer by layer” read what the model would say after each block. Then leave out one head after another.",
      look: "The answer often forms in the last blocks, and most single heads can go without changing it: their work is shared (Michel et al., arXiv:1905.10650). Note which head your digit cannot do without.",
    },
    {
      chapter: "strokes",
      title: "Half a digit",
      task: "Draw a 9, beginning with its loop. In “While you drew” drag back to the moment when only the loop was there.",
      look: "The loop alone is a 0 or the start of a 6, 8 or 9. A good model spreads its probability there. Is this one honest? Compare with what you would have said.",
    },
    {
      chapter: "doubt",
      title: "What does 90 % mean?",
      task: "Draw something between a 4 and a 9. In “Softmax and doubt” move the temperature, then read the reliability diagram.",
      look: "Temperature never changes which class comes first, only how sure the model sounds. Calibrated means: of all answers at 90 %, about nine in ten are right, on digits like those it was measured on.",
    },
  ],
};

export const en = { ...opening, own, page, chapters, ownPage, grid, story, patches, score, teachIt, teach };

export type Texts = typeof en;
export type GridTexts = Texts["grid"];
