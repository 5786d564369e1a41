/** All chapters, by the ids of their sections in index.html. They are one file, which loads when the first of them comes near the screen. */
export { build as block } from "./block/chapter.ts";
export { build as cnn } from "./cnn/chapter.ts";
export { build as doubt } from "./doubt/chapter.ts";
export { build as layers } from "./layers/chapter.ts";
export { build as learning } from "./learning/chapter.ts";
export { build as masks } from "./masks/chapter.ts";
export { build as patches } from "./patches/chapter.ts";
export { build as positions } from "./positions/chapter.ts";
export { build as score } from "./score/chapter.ts";
export { build as teach } from "./teach/chapter.ts";
export { build as why } from "./why/chapter.ts";
export { build as words } from "./words/chapter.ts";
