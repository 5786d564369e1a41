/* What the targets share: failing, counting memory, opening, running and comparing. */
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

/* The most heap that lives at once from start to stop, beyond what lived before. */
void meter_start(void);
size_t meter_stop(void);
/* What a file of so many bytes may cost to open or to refuse: 50 MB and what it justifies. */
void expect_cheap(size_t peak, uint64_t bytes, const char *what);

/* Every table compiled in, those of wasm by SIMDe included. */
const struct vit_kernels *kernels_pick(size_t index);
size_t kernels_count(void);
/* Whether a row's result depends on that row alone: here in all tables. */

struct source {
    const uint8_t *bytes;
    size_t size;
    const char *json; /* NULL: the file's own */
    size_t json_size;
};
struct source made_source(const struct made *made);
vit_status open_whole(vit_model **out, const struct source *source,
                      const struct vit_kernels *kernels, vit_error *why);
/* Both refused for the same reason, or the same parameters to the bit. */
void expect_same_models(const vit_model *a, const vit_model *b, const char *what);
/* The model is what the plan says: every size, of a file that nothing was changed in. */
void expect_planned(const struct made *made, const vit_model *model);

/* Whether a run of so many images is worth its time in a search. */
bool affordable(const vit_model *model, size_t batch);
size_t image_floats(const vit_config *config);
/* Images, their numbers of -1…1, or with `wild` of any size; free them. */
float *images_new(const vit_config *config, size_t batch, bool wild, uint64_t *seed);
/* Runs in memory of just the size; the logits on the heap, or NULL where the image was refused. */
float *run_logits(const vit_model *model, const float *images, size_t batch, size_t state_batch,
                  vit_team *team);
bool same_bits(const float *a, const float *b, size_t n);
bool finite_floats(const float *x, size_t n);
/* Opens cheaply, runs once, closes. */
void open_and_run(const struct source *source, const struct vit_kernels *kernels);

#endif
