/* Separable resampling with Pillow's antialiasing filters, which torchvision and timm follow. The
 * more an image shrinks, the wider the filter is. Sizes are at least 1. */
#ifndef VIT_RESAMPLE_H
#define VIT_RESAMPLE_H

#include "vit.h"

/* The most inputs that any output of an axis needs, if the axis is resized from `in` to `out`. */
size_t resample_taps(size_t in, size_t out, vit_filter filter);
/* Output `index` needs the inputs from *start on; returns how many. */
size_t resample_span(size_t *start, size_t in, size_t out, size_t index, vit_filter filter);
/* Also writes the weights of these inputs, which sum to 1. Not for VIT_NEAREST. */
size_t resample_weights(double *weights, size_t *start, size_t in, size_t out, size_t index,
                        vit_filter filter);

/* With VIT_NEAREST, at[i] is the input that output `first` + i copies. As Pillow does, this adds up
 * the steps, and with them their roundings. Each input lies in resample_span's span. */
void resample_nearest(size_t *at, size_t in, size_t out, size_t first, size_t count);

/* Bytes of scratch memory that resample needs; 0 if that overflows. */
size_t resample_size(size_t in_rows, size_t in_columns, size_t out_rows, size_t out_columns,
                     size_t channels, vit_filter filter);
/* out (out_rows,out_columns,channels) = in (in_rows,in_columns,channels) resized.
 * `scratch`: 8-byte aligned. */
void resample(float *restrict out, const float *restrict in, size_t in_rows, size_t in_columns,
              size_t out_rows, size_t out_columns, size_t channels, vit_filter filter,
              void *scratch);

#endif
