/* Functions that the targets share: failing, counting memory, opening, running, comparing. */
#ifndef FUZZ_HARNESS_H
#define FUZZ_HARNESS_H

#include "generator.h"
#include "kernels/kernels.h"
#include "vit.h"

/* Says what was expected and ends the process, so that libFuzzer keeps the input. */
#define EXPECT(condition, ...)                                                                     \
    do {                                                                                           \
        if (!(condition)) fuzz_fail(__FILE__, __LINE__, #condition, __VA_ARGS__);                  \
    } while (0)
__attribute__((noreturn, format(printf, 4, 5))) void
fuzz_fail(const char *file, int line, const char *condition, const char *format, ...);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* The peak of heap in use between start and stop, not counting memory in use before start. */
void meter_start(void);
size_t meter_stop(void);
/* Expects that a file of `bytes` bytes costs at most 50 MB and 16 times its size to open or refuse.
 */
void expect_cheap(size_t peak, uint64_t bytes, const char *what);

/* Every table compiled in, including those of wasm by SIMDe. In all of them a row's result depends
 * on that row alone. */
const struct vit_kernels *kernels_pick(size_t index);
size_t kernels_count(void);
struct source {
    const uint8_t *bytes;
    size_t size;
    const char *json; /* NULL: the file's own */
    size_t json_size;
    const char *map; /* NULL: none */
    size_t map_size;
};
struct source specimen_source(const struct specimen *specimen);
vit_status open_whole(vit_model **out, const struct source *source,
                      const struct vit_kernels *kernels, vit_error *why);
/* Expects the same parameters to the bit, and the same config. */
void expect_same_models(const vit_model *a, const vit_model *b, const char *what);
/* Expects that the model of a file without changes has every size of the plan. */
void expect_planned(const struct specimen *specimen, const vit_model *model);

/* Whether a run of `batch` images is worth its time in a search. */
bool affordable(const vit_model *model, size_t batch);
size_t image_floats(const vit_config *config);
/* Images with numbers in -1…1, or with `wild` of any size. The caller frees them. */
float *images_new(const vit_config *config, size_t batch, bool wild, uint64_t *seed);
/* Runs in memory of exactly the size. Returns the logits on the heap, or NULL if an image was
 * refused. */
float *run_logits(const vit_model *model, const float *images, size_t batch, size_t state_batch,
                  vit_team *team);
/* Texts of random tokens about an image, which is finite, through all texts of the model, and texts
 * that it writes. `plain`: results must be finite. */
void run_texts(const vit_model *model, const float *image, bool plain, uint64_t *seed);
bool same_bits(const float *a, const float *b, size_t n);
bool finite_floats(const float *x, size_t n);
/* Opens the file, which must be cheap, runs it once and closes it. */
void open_and_run(const struct source *source, const struct vit_kernels *kernels);

#endif
