/* The cost of a forward pass, computed from the config alone. */
#include "flops.h"
#include "shapes.h"

double forward_flops(const vit_config *config) {
    double N = (double)vit_patches(config), T = (double)vit_tokens(config);
    double D = (double)config->width, M = (double)config->mlp_width;
    double patch = (double)patch_values(config), stem = 0;
    for (size_t i = 0; i < config->stem_layers; i++) {
        struct maps from = stem_maps(config, i, NULL), to = stem_maps(config, i + 1, NULL);
        stem += 9 * (double)from.channels * (double)maps_floats(&to);
    }
    double A = (double)attention_width(config);
    double qkv = config->attention == VIT_PER_HEAD ? 3 * D * D / (double)config->heads : 3 * D * A;
    double proj = config->attention == VIT_PER_HEAD ? 0 : D * A;
    double block = T * (qkv + proj + D * ((double)mlp_rows(config) + M)) + 2 * T * T * A;
    double H = (double)config->head_hidden, last = H > 0 ? H : D;
    double head = D * H + last * (double)vit_logits(config);
    return 2 * (stem + N * patch * D + (double)config->depth * block + head);
}
