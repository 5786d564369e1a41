/* What text.c needs of session.c. */
#ifndef VIT_WASM_SESSION_H
#define VIT_WASM_SESSION_H

#include "vit.h"

/* The model that runs, or NULL, and how many models have been in use so far: another number says that
 * a pointer to the model may no longer be kept. */
const vit_model *session_model(size_t *uses);
/* (T,D) of an image of the last vitw_run, if it kept tokens; NULL if there are none. */
const float *session_tokens(size_t image);

#endif
