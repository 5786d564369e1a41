/* Files that ../golden/make.py and families.py wrote, and a comparison with them. The scripts
 * describe the files. */
#ifndef GOLDEN_H
#define GOLDEN_H

#include "check.h"
#include "file/safetensors.h"
#include "models.h"

#ifndef GOLDEN_DIR
#define GOLDEN_DIR "tests/golden"
#endif

enum { BATCH = 3 };

/* Largest difference allowed, as a share of a tensor's largest value. */
static const double FORWARD = 2e-5;

struct golden {
    const char *name;
    uint8_t *model, *results;
    size_t model_size, results_size;
    struct safetensors st;
    const uint8_t *data; /* the results' */
};

static inline uint8_t *read_file(const char *name, const char *ending, size_t *size) {
    char path[1024];
    const char *folder = getenv("GOLDEN_DIR");
    snprintf(path, sizeof path, "%s/%s%s", folder ? folder : GOLDEN_DIR, name, ending);
    FILE *file = fopen(path, "rb");
    if (!file) {
        check_failed(__FILE__, __LINE__, "cannot open %s; GOLDEN_DIR names its folder", path);
        return NULL;
    }
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(*size);
    if (bytes && fread(bytes, 1, *size, file) != *size) {
        check_failed(__FILE__, __LINE__, "cannot read %s", path);
        free(bytes);
        bytes = NULL;
    }
    fclose(file);
    return bytes;
}

static inline void golden_close(struct golden *g) {
    st_close(&g->st);
    free(g->model);
    free(g->results);
}

static inline vit_status results_open(struct golden *g, vit_error *why) {
    size_t length, begin;
    vit_status status = st_length(&length, g->results, g->results_size, why);
    if (status) return status;
    begin = ST_LENGTH_BYTES + length;
    g->data = g->results + begin;
    return st_open(&g->st, (const char *)g->results + ST_LENGTH_BYTES, length,
                   g->results_size - begin, why);
}

static inline bool golden_open(struct golden *g, const char *name) {
    vit_error why = {""};
    *g = (struct golden){.name = name};
    g->model = read_file(name, ".safetensors", &g->model_size);
    g->results = read_file(name, ".golden.safetensors", &g->results_size);
    if (!g->model || !g->results || results_open(g, &why)) {
        check_failed(__FILE__, __LINE__, "%s.golden.safetensors: %s", name, why.text);
        golden_close(g);
        return false;
    }
    return true;
}

/* The floats of a result, which must be `count`. The caller frees them. */
static inline float *result_floats(const struct golden *g, const char *name, size_t count) {
    const struct st_tensor *t = st_find(&g->st, name, strlen(name));
    float *out = floats(count);
    if (t && t->count == count)
        st_floats(out, t->type, g->data + t->begin, count);
    else
        check_failed(__FILE__, __LINE__, "%s: expected %s of %zu numbers", g->name, name, count);
    return out;
}

static inline void compare_above(const struct golden *g, const char *kernels, const char *name,
                                 const float *got, size_t count, double tolerance, double floor) {
    char what[128];
    float *want = result_floats(g, name, count);
    snprintf(what, sizeof what, "%s, %s, %s", g->name, kernels, name);
    CHECK_CLOSE(got, want, count, tolerance * largest(want, count) + floor, what);
    free(want);
}

static inline void compare(const struct golden *g, const char *kernels, const char *name,
                           const float *got, size_t count, double tolerance) {
    compare_above(g, kernels, name, got, count, tolerance, 0);
}

#endif
