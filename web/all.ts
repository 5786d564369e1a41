/**
 * The package with the parts that it otherwise imports when a model needs them. A service worker,
 * and with it the background script of an extension, may not import then: `import "vitrine/all"`.
 */
import * as settings from "./foreign/settings.js";
import * as decoders from "./foreign/decoders.js";
import * as examples from "./foreign/examples.js";
import * as foreign from "./foreign/foreign.js";
import * as pickle from "./foreign/pickle/pickle.js";
import * as decoder from "./foreign/structure/decoder.js";
import * as rare from "./foreign/structure/rare.js";
import * as structure from "./foreign/structure/structure.js";
import * as folder from "./load/folder.js";
import * as impostors from "./load/impostors.js";
import * as entities from "./text/entities.js";
import * as text from "./text/text.js";
import { provided } from "./load/provided.js";

provided.all = { decoder, decoders, entities, examples, folder, foreign, impostors, pickle, rare, settings, structure, text };

export * from "./vitrine.js";
