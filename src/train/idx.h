/* Data sets in MNIST's own format. */
#ifndef VIT_IDX_H
#define VIT_IDX_H

#include "data.h"
#include "vit.h"

/* Reads an image and a label file, each plain or gzipped, and checks them against each other
 * and against the model: its image size, labels below its classes. Of a model with a decoder the
 * labels are texts (count, tokens): tokens below its vocabulary. The images are (count,H,W), or
 * (count,C,H,W) if the model has more channels than one. */
vit_status data_open(struct data_set *data, const char *images, const char *labels,
                     const vit_config *config, vit_error *why);
/* The training set of a directory that holds MNIST's file names, each with or without .gz. Those of
 * several channels are in train-images-idx4-ubyte, texts in train-tokens-idx2-ubyte. */
vit_status data_open_directory(struct data_set *data, const char *directory,
                               const vit_config *config, vit_error *why);

#endif
