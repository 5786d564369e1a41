/** The English words that the page's own script needs. They are part of en.ts. */

/** What only the HTML says is in `page` and `ownPage` of en.ts. */
export const opening = {
  language: {
    failed: (wanted: string, stays: string) =>
      `${wanted} did not load, ${stays} stays; check the connection, then choose it again`,
  },
  theme: {
    useLight: "Use light colours",
    useDark: "Use dark colours",
  },
  answer: {
    certain: "certain",
    sure: "fairly sure",
    unsure: "unsure",
    unknown: "no digit it knows",
    unknownSign: "nothing it knows",
    next: (p: string, label: string, other: string) => `${p}; next ${label}, ${other}`,
    nearest: (label: string, p: string) => `nearest: ${label}, ${p}`,
    yours: (count: number) => (count === 1 ? "your sign, from one drawing" : `your sign, from ${count} drawings`),
    teach: "Teach it this sign",
    not: (label: string) => (label === "8" ? "not an 8?" : `not a ${label}?`),
    onlyThese: "It knows only the signs below. Three drawings are enough to add one of yours.",
    readsAs: (label: string, p: string) => `Reads as ${label}, ${p}`,
    unsureOf: (label: string, p: string) => `Not sure, perhaps ${label}, ${p}`,
    seesNone: "Sees no digit",
  },
  /** Where the map is hottest. {1} is the place. */
  looks: {
    kinds: {
      crossing: "the crossing",
      end: "the tip",
      turn: "the turn",
      bend: "the bend",
      line: "the line",
      ink: "the ink",
      gap: "the empty space",
    },
    positions: {
      topLeft: "at the top left",
      top: "at the top",
      topRight: "at the top right",
      left: "on the left",
      middle: "in the middle",
      right: "on the right",
      bottomLeft: "at the bottom left",
      bottom: "at the bottom",
      bottomRight: "at the bottom right",
    },
    at: (kind: string, position: string) => `${kind} ${position}`,
    both: (a: string, b: string) => `${a} and ${b}`,
    it: "It looks mostly at {1}: ",
    patch: "The chosen patch looks mostly at {1}: ",
    hold: (patches: number, all: number, share: string) =>
      patches === 1
        ? `one patch of ${all} holds ${share} of its attention.`
        : `${patches} of ${all} patches hold ${share} of its attention.`,
    spread: (p: string) => `It looks a little everywhere: no patch holds more than ${p} of its attention.`,
    onePatch: (p: string) => `${p} on one patch`,
  },
  waiting: {
    ink: "Waiting for ink",
    loading: "Loading",
    noModel: "No model",
    more: "More ink",
    noInk: "No ink found",
    reading: "Reading",
  },
  pad: {
    hint: "Draw a digit here",
    yourTurn: "Your turn: draw over it",
    blank: "The pad is blank",
    cleared: "Cleared",
    example: (label: string) => `An example: ${label}`,
  },
  maps: {
    mean: "mean",
    button: (layer: number, head: number) => `Layer ${layer}, head ${head}`,
    tick: (p: string) => `tick: all equal, ${p}`,
    most: (row: number, column: number, p: string) => `Most on row ${row}, column ${column}: ${p}.`,
    chosen: (row: number, column: number) => `Patch in row ${row}, column ${column}.`,
    none: "Draw, and each patch takes the colour of the attention it gets.",
    allHeads: "mean of all heads",
    head: (head: number) => `head ${head}`,
    ofClass: (layer: number, heads: string) =>
      `Attention of the class token to each patch in layer ${layer}, ${heads}.`,
    ofMean: (layer: number, heads: string) =>
      `Attention of the mean of all patches to each patch in layer ${layer}, ${heads}.`,
    ofPatch: (row: number, column: number, layer: number, heads: string) =>
      `Attention of the patch in row ${row}, column ${column} to each patch in layer ${layer}, ${heads}.`,
    toClass: "How much of each patch reaches the class token through all layers (Abnar & Zuidema, 2020).",
    toMean: "How much of each patch reaches the mean of all patches through all layers (Abnar & Zuidema, 2020).",
    similarity: (row: number, column: number) =>
      `Similarity of each patch to the patch in row ${row}, column ${column} after the last layer: the cosine of their vectors.`,
    common: (p: string) => `${p}, one scale for all`,
  },
  /** By the models' names in models.ts. */
  models: {
    digits: "digits",
    "digits-stem": "digits-stem: convolutions first",
    "digits-large": "digits-large: 2.4 times the size",
    myvit: "myvit: the tutorial’s tiny ViT",
    signs: "my signs",
  },
  calibration: {
    never: "They were never calibrated: the model may be right more or less often than they say.",
    scaled: (temperature: string) =>
      `The logits are first divided by ${temperature}. At 90\u00a0%, about nine in ten answers are right, on digits like those it learnt from.`,
    limit: (p: string) => `An answer below ${p} counts as not sure.`,
  },
  status: {
    kilobytes: (count: string) => `${count} kB`,
    megabytes: (count: string) => `${count} MB`,
    fetching: (loaded: string) => `Fetching the model: ${loaded}`,
    fetchingOf: (loaded: string, total: string) => `Fetching the model: ${loaded} of ${total}`,
    opening: (size: string) => `Opening the files: ${size}`,
    ready: "Ready",
    time: (milliseconds: string) => `${milliseconds} ms a drawing`,
    running: (build: string, size: string) => `${size} of learnt numbers, run by ${build}.`,
    builds: {
      relaxed: "the fastest build for this browser (WebAssembly, relaxed SIMD)",
      simd128: "the fast build (WebAssembly with SIMD)",
      scalar: "the plain build (WebAssembly without SIMD)",
    },
    retry: "Retry",
  },
  trouble: {
    because: (what: string, why: string) => `${what}: ${why}`,
    remedied: (what: string, remedy: string) => `${what}; ${remedy}`,
    remedy: "check the connection, then Retry",
    answered: (status: string) => `the server answered ${status}`,
    broken: "the connection failed or broke off",
    server: "the server",
    stopped: "The model stopped",
    notLoaded: "The model did not load",
    stays: (wanted: string, old: string) => `${wanted} did not load, ${old} stays`,
    light: "its light form",
    story: "This part did not load",
    tab: "This tab’s code did not load",
    action: (why: string) => `That did not work: ${why}`,
  },
  share: {
    share: "Share",
    damaged: "The drawing in that link is damaged or cut short, and was left out. Ask for the link again.",
    large: "This drawing is too large for a link: save its picture instead.",
    photo: "A link holds strokes and no photo: save the picture instead.",
    shared: "Shared: the link holds the drawing.",
    copied: "Link copied: it holds the drawing.",
    refused: "The browser does not let the page copy. The address above now holds the drawing: copy it.",
    saved: "The picture is saved among your downloads.",
    codeCopied: "Copied",
    codeRefused: "The browser does not let the page copy. The code is selected: copy it with the keyboard.",
    noPng: "the browser could not make a PNG",
  },
};
