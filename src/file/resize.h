/* Learned positions for other image sizes. */
#ifndef VIT_RESIZE_H
#define VIT_RESIZE_H

#include "vit.h"

/* in: pos_embed as in the file, (position_rows - N + position_grid[0]·position_grid[1],D), without a
 * row of the class token's own. → out (position_rows,D): its grid for the image's patches. The rows
 * before the grid are copied.
 * Errors: VIT_NO_MEMORY. */
vit_status positions_resize(float *out, const float *in, const vit_config *config, vit_error *why);

#endif
