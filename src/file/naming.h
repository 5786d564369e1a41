/* Finds the tensors of params.h in checkpoints of other code: timm, transformers, torchvision,
 * vit-pytorch, CLIP and plain stacks of torch.nn.TransformerEncoderLayer. */
#ifndef VIT_NAMING_H
#define VIT_NAMING_H

#include "families.h"
#include "safetensors.h"
#include "vit.h"

/* A family, and the prefix that its names have in one file. */
struct names {
    const struct family *family;
    const char *prefix; /* points into the safetensors */
    size_t prefix_size;
};

/* Finds the family whose first block the file holds. False if it holds no family's; `why` then
 * names the closest. */
bool names_find(struct names *names, const struct safetensors *st, vit_error *why);
/* timm's own names, which are those of params.h, without a prefix. */
struct names names_timms(void);
bool names_are_timms(const struct names *names);
/* → "timm", … */
const char *names_family(const struct names *names);

/* Bytes of the longest name that is looked for, with its prefix and the 0 at its end. */
enum { NAMES_MOST = 384 };
/* Finds the tensors that make parameter `ours`, their rows one after the other.
 * → how many: 1; 2 or 3 if queries, keys and values are apart; 0 if the file lacks one. */
enum { NAMES_SOURCES = 3 };
size_t names_sources(const struct st_tensor *sources[NAMES_SOURCES], const struct names *names,
                     const struct safetensors *st, const char *ours);
/* Writes the family's name of `ours`, with the prefix; the first of several names. For messages. */
void names_write(char *out, size_t capacity, const struct names *names, const char *ours);
/* Whether the tensor is one that the family's files hold and that a model here does not need, such
 * as another tower or a decoder, or a counter. */
bool names_ignore(const struct names *names, const struct st_tensor *tensor);

const struct habits *names_habits(const struct names *names);

#endif
