/* What other code calls the tensors of params.h: checkpoints of timm, transformers, torchvision,
 * vit-pytorch and of plain torch.nn.TransformerEncoder stacks. */
#ifndef VIT_NAMES_H
#define VIT_NAMES_H

#include "families.h"
#include "safetensors.h"
#include "vit.h"

/* A family's names in one file, all of them behind a prefix of the file's own. */
struct names {
    const struct family *family;
    const char *prefix; /* into the safetensors */
    size_t prefix_size;
};

/* The family whose first block the file holds; false: of none, and `why` names the closest. */
bool names_find(struct names *names, const struct safetensors *st, vit_error *why);
/* timm's own names, which are those of params.h, without a prefix. */
struct names names_timms(void);
bool names_are_timms(const struct names *names);
/* "timm", …, for messages. */
const char *names_family(const struct names *names);

/* The longest name that is looked for, prefix included, with its end. */
enum { NAMES_MOST = 384 };
/* The tensors that parameter `ours` is made of, their rows one after the other: 1, or 3 for
 * queries, keys and values apart; 0 where the file lacks it. */
enum { NAMES_SOURCES = 3 };
size_t names_sources(const struct st_tensor *sources[NAMES_SOURCES], const struct names *names,
                     const struct safetensors *st, const char *ours);
/* What the family calls it, for messages: the first of its names, prefix included. */
void names_write(char *out, size_t capacity, const struct names *names, const char *ours);
/* Whether the family's files hold such a tensor, and we need it not: another tower, a decoder. */
bool names_ignore(const struct names *names, const struct st_tensor *tensor);

const struct habits *names_habits(const struct names *names);

#endif
