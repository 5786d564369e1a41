/* Drawings: pen strokes become ink, and ink the image of a digit. The rules and letters of vit.h hold
 * here too. */
#ifndef VIT_DRAW_H
#define VIT_DRAW_H

#include "vit.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Pixels of a drawing → image (rows,columns), ink from 0 to 1, as MNIST's images were made. Ink
 * is what differs from the paper, darker or lighter. It is cropped to its box, scaled by area so
 * that the longer side is 20/28 of the image, and centred by its mass (LeCun et al. 1998).
 * scratch: as many bytes as vit_prepare_size says for a model whose `prepare` is digit and whose
 * image size is (rows,columns).
 * Errors: VIT_BAD_IMAGE, VIT_BLANK_IMAGE. */
vit_status vit_prepare_digit(float *image, void *scratch, const vit_pixels *pixels, size_t rows,
                             size_t columns, vit_error *why);

/* Multiplies a prepared image (C,H,W) by `unfinished_ink`, which shows a model that has learnt from
 * such images that the pen is still down. */
void vit_prepare_unfinished(float *image, const vit_config *config);

/* A position of a pen, in pixels from the upper left corner, and the pen's width there. */
typedef struct vit_point {
    float x, y, width;
} vit_point;

/* Adds the stroke of points (count) to ink (rows,columns), 0 for none to 255 for full. Quadratic
 * curves go through the midpoints of the points, with round ends; one point makes a dot. Parts
 * outside the image are not drawn. All numbers must be finite. */
void vit_draw_stroke(uint8_t *ink, size_t rows, size_t columns, const vit_point *points,
                     size_t count);

#ifdef __cplusplus
}
#endif
#endif
