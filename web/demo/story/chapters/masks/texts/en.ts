/** Encoder, decoder. */
import type { Messages } from "../../../../texts/sentences.ts";

export const texts = {
  lead: "Every Transformer mixes its tokens alike; what differs is which scores count. This ViT is an encoder: each token may look at each. A decoder writes one token after another, so a mask sets the scores of what is not yet written to −∞, and their shares are 0.",
  chips: "Which scores count?",
  kinds: { full: "full", causal: "causal", cross: "cross" },
  notes: {
    full: "Full: the matrix that the model used. Click a row to see what its token sees.",
    causal: "Causal: a token sees itself and what stands before it. What it may not see is hatched.",
    cross: "Cross: queries of what is being written, keys and values of what was read. Here one query, the class token’s, asks the patches.",
    crossPatch: "Cross: queries of what is being written, keys and values of what was read. Here one query, the chosen patch’s, asks the patches.",
  },
  matrix: "Shares after mask and softmax",
  axes: "Rows ask, columns are asked: the class token, then the patches row by row.",
  map: "The chosen row on your drawing",
  asks: "query of {token}",
  asked: "key of {token}",
  masked: "{masked} of {all} cells are masked.",
  sees: "The query of {token} sees {seen} of {all} tokens; its shares sum to {sum}.",
  honest: "Only this head is masked here: the model never learnt with a mask.",
  question: "The class token stands first. What does it still see of your drawing under the causal mask?",
  options: { none: "nothing", some: "the first row", all: "all of it" },
  truth: "It sees {seen} of {all} patches: {share} of its attention stays on itself. That is why a decoder reads its answer from the last token.",
  cost: {
    title: "What attention costs",
    says: "Every token meets every token: twice the side makes four times the tokens, and sixteen times the work between them. The MLP grows only with the tokens, and so does attention in windows, as in Swin. With T = M tokens, as many as the MLP has hidden units, attention costs as much as the MLP.",
    side: "Side of the image, in patches of {patch} pixels",
    at: "{side} × {side} pixels: {tokens} tokens. Multiplications in a block: {between} million between tokens, {mlp} million in the MLP; in windows of 7 × 7: {windows} million.",
    chart: "Multiplications in one block",
    axis: "tokens T (both scales are linear)",
    between: "attention 2T²D",
    mlp: "MLP 2TDM",
    windows: "windows 2T·49·D",
    equal: "T = M = {tokens}",
  },
  uses: {
    title: "who uses what",
    rest: "CaiT’s class attention is the closest to the cross attention above: Touvron et al., arXiv:2103.17239. The three uses: Vaswani et al., section 3.2.3, arXiv:1706.03762. Beside what the chart shows, the maps to q, k, v and out cost 4TD², which grows only with the tokens.",
    vit: { name: "ViT, BERT: encoders", full: "in every block", causal: "–", cross: "–" },
    gpt: { name: "GPT: a decoder", full: "–", causal: "in every block", cross: "–" },
    translator: { name: "Translator (Vaswani et al.)", full: "among the words it reads", causal: "among the words it has written", cross: "from each written word to the words it reads" },
    captioner: { name: "Captioner with a ViT", full: "among the patches", causal: "among the caption’s words", cross: "from each of the caption’s words to the patches" },
    cait: { name: "CaiT: a ViT", full: "among the patches, in all blocks but the last two", causal: "–", cross: "from the class token to the patches and itself, in the last two" },
  },
  before: {
    title: "what came before, and after",
    recurrent: { name: "A recurrent network", says: "It reads word by word into one state. To translate, the whole sentence had to pass through the last state, however long it was: a bottleneck." },
    alignment: { name: "Alignment", says: "Each word that is written looks back at all states of the words that were read, with weights that sum to 1. Attention began here: Bahdanau, Cho and Bengio, arXiv:1409.0473." },
    caption: { name: "Show, attend and tell", says: "The same for a picture: a convolutional network gives a grid of vectors, and every word of the caption has a map of its own: Xu et al., arXiv:1502.03044." },
    t2t: { name: "T2T-ViT", says: "Patches that overlap, and neighbouring tokens made into one, again and again, so that a token knows edges before the blocks begin: Yuan et al., arXiv:2101.11986." },
    swin: { name: "Swin", says: "Attention only inside windows, which are shifted by half their side from block to block, so that neighbours meet; then four tokens become one: Liu et al., arXiv:2103.14030." },
    mvit: { name: "MViT", says: "Pooled queries, keys and values: stage by stage fewer tokens, each with more numbers, from many simple features to few complex ones: Fan et al., arXiv:2104.11227." },
    detr: { name: "DETR", says: "A decoder whose learned queries each ask the whole picture by cross attention and answer with one box and its class, all at once: Carion et al., arXiv:2005.12872." },
  },
} as const;

export type Words = Messages<typeof texts>;
