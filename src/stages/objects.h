/* What the detection tokens find. */
#ifndef VIT_OBJECTS_H
#define VIT_OBJECTS_H

#include "vit.h"

/* x (B·tokens,D), normed: the first `tokens` of each image, the whole prefix at least. → logits
 * (B,detections,K+5): vit_logits. first, second (detections,D): scratch. */
void objects_forward(const vit_model *m, float *logits, float *first, float *second, const float *x,
                     size_t batch, size_t tokens);

#endif
