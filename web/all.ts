/**
 * The package with the parts that it otherwise imports when a model needs them. A service worker,
 * and with it the background script of an extension, may not import then: `import "vitrine/all"`.
 */
import * as impostors from "./load/impostors.js";
import * as pickle from "./load/pickle/pickle.js";
import { provided } from "./load/provided.js";
import * as translate from "./load/translate/translate.js";

provided.all = { impostors, pickle, translate };

export * from "./vit.js";
