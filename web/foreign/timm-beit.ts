/** timm's BEiT and EVA: queries and values have a bias of their own, keys have none, and BEiT's positions are relative. */
import { copyOf, type Family, isGated } from "./family.js";
import { TIMM } from "./timm.js";

const OWN = "blocks.*.attn.relative_position_bias_table";
const SHARED = "rel_pos_bias.relative_position_bias_table";

const beit: Family = {
  ...TIMM,
  name: "timm's BEiT",
  needs: ["blocks.0.attn.q_bias", OWN.replace("*", "0")],
  variant: true,
  names: `${TIMM.names}
    blocks.*.attn.rel_pos.relative_position_bias_table ${OWN}`,
  ignored: ["mask_token", "lm_head.", "cls_pt_"], // what only its training needs
  added: [
    ...TIMM.added!,
    { name: OWN, from: [SHARED], plan: copyOf, replaces: true },
  ],
  openWithoutPrefix: {},
  assumed: ["image_size", "norm_eps", "activation", "pool"],
  resize: "antialias",
};

export const TIMM_BEIT: readonly Family[] = [
  beit,
  { ...beit, needs: ["blocks.0.attn.q_bias", SHARED] },
  {
    ...beit,
    name: "timm's EVA",
    needs: ["blocks.0.attn.q_bias", "blocks.0.mlp.fc1.weight", "pos_embed"],
    assumed: TIMM.assumed!, // the norms of eva02_enormous follow the branches
    // Its models with rotary positions have these names, too. They have scales, registers or CLIP's norm.
    fits: (tensors) => !isGated(tensors),
    unknown: (tensors) => ["blocks.0.ls1.gamma", "reg_token", "norm_pre.weight"].map((name) => tensors.tensor(name)).find(Boolean),
  },
];
