/* Learned positions for other image sizes. */
#ifndef VIT_RESIZE_H
#define VIT_RESIZE_H

#include "vit.h"

/* in: tables of positions that fit the file's grid, each (position_rows - N +
 * position_grid[0]·position_grid[1],D), without a row of the class token's own. → out (tables,
 * position_rows,D): their grids for the image's patches. The rows before a grid are copied.
 * Errors: VIT_NO_MEMORY. */
vit_status positions_resize(float *out, const float *in, size_t tables, const vit_config *config,
                            vit_error *why);

#endif
