/* The program in vit.h's comment, which CMake cuts out and compiles. Its answers are compared with
 * those of the library, which here opens the model in pieces and runs the drawings in one batch.
 * With sanitizers, a leak or a stray read in the program is a failure too. */
#define _GNU_SOURCE
#include "check.h"
#include "draw.h"

#include <sys/wait.h>
#include <unistd.h>

static const char MODEL[] = GOLDEN_DIR "/../../weights/digits.safetensors";
enum { ROWS = 90, COLUMNS = 70, AREA = ROWS * COLUMNS };

/* Runs the example. Until the next run `output` holds what it prints, errors too. */
static char output[1024];

static int example(const char *model, const char *image) {
    char command[1024];
    snprintf(command, sizeof command, EXAMPLE " '%s' '%s' 2>&1", model, image);
    FILE *pipe = popen(command, "r");
    if (!pipe) exit(EXIT_FAILURE);
    output[fread(output, 1, sizeof output - 1, pipe)] = '\0';
    while (fgetc(pipe) != EOF) continue;
    int status = pclose(pipe);
    /* Sanitizers exit with 1, too. */
    CHECK(!strstr(output, "Sanitizer"), "%s, %s: %s", model, image, output);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- Files -------------------------------------------------------------- */

/* A temporary file. The caller unlinks it. */
struct made {
    char path[32];
};

static struct made make_file(const void *bytes, size_t size) {
    struct made made = {"/tmp/vit-example-XXXXXX"};
    int file = mkstemp(made.path);
    if (file < 0 || write(file, bytes, size) != (ssize_t)size || close(file)) exit(EXIT_FAILURE);
    return made;
}

static struct made make_pgm(const uint8_t *grey, size_t rows, size_t columns, size_t held) {
    char pgm[AREA + 32];
    int head = snprintf(pgm, sizeof pgm, "P5 %zu %zu 255\n", columns, rows);
    memcpy(pgm + head, grey, held);
    return make_file(pgm, (size_t)head + held);
}

static uint8_t *read_model(size_t *size) {
    FILE *file = fopen(MODEL, "rb");
    if (!file || fseek(file, 0, SEEK_END)) exit(EXIT_FAILURE);
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(*size);
    if (!bytes || fread(bytes, 1, *size, file) != *size) exit(EXIT_FAILURE);
    fclose(file);
    return bytes;
}

/* ---- Drawings ----------------------------------------------------------- */

enum { DRAWINGS = 3, POINTS = 5 };
static const struct {
    size_t digit, count;
    vit_point points[POINTS];
} STROKES[DRAWINGS] = {
    {1, 2, {{38, 15, 7}, {32, 75, 7}}},
    {7, 3, {{15, 18, 7}, {54, 17, 7}, {28, 76, 7}}},
    {0, 5, {{35, 14, 7}, {5, 45, 7}, {35, 84, 7}, {64, 45, 7}, {35, 14, 7}}},
};

/* Black ink on white paper. */
static void draw(uint8_t grey[AREA], size_t index) {
    memset(grey, 0, AREA);
    vit_draw_stroke(grey, ROWS, COLUMNS, STROKES[index].points, STROKES[index].count);
    for (size_t i = 0; i < AREA; i++) grey[i] = (uint8_t)(255 - grey[i]);
}

/* ---- The library's own answers ------------------------------------------ */

static vit_model *open_in_pieces(void) {
    enum { PIECE = 1000 };
    size_t size;
    uint8_t *bytes = read_model(&size);
    vit_loader *loader = NULL;
    vit_model *model = NULL;
    vit_error why = {""};
    if (vit_open_begin(&loader, size, NULL, 0, NULL, 0, NULL, &why)) exit(EXIT_FAILURE);
    for (size_t at = 0; at < size; at += PIECE)
        vit_open_feed(loader, bytes + at, size - at < PIECE ? size - at : PIECE);
    if (vit_open_end(&model, loader, &why)) exit(EXIT_FAILURE);
    free(bytes);
    return model;
}

/* The logits (DRAWINGS,K + 1) of all drawings in one batch. */
static float *run_batch(const vit_model *model) {
    const vit_config *c = vit_model_config(model);
    size_t pixels = c->image_size[0] * c->image_size[1];
    size_t need = vit_state_size(model, DRAWINGS, NULL);
    float *images = floats(DRAWINGS * pixels), *logits = floats(DRAWINGS * vit_logits(c));
    void *memory = malloc(need), *scratch = malloc(vit_prepare_size(c, ROWS, COLUMNS, 1));
    vit_state *state = NULL;
    for (size_t i = 0; i < DRAWINGS; i++) {
        uint8_t grey[AREA];
        draw(grey, i);
        vit_status status =
            vit_prepare_digit(images + i * pixels, scratch, &(vit_pixels){grey, ROWS, COLUMNS, 1},
                              c->image_size[0], c->image_size[1], NULL);
        CHECK(status == VIT_OK, "drawing %zu: %s", i, vit_status_name(status));
    }
    CHECK(!vit_state_init(&state, memory, need, model, DRAWINGS, NULL) &&
              !vit_run(model, state, images, DRAWINGS, logits, NULL),
          "the batch does not run");
    free(scratch);
    free(memory);
    free(images);
    return logits;
}

TEST("the example in vit.h prints the class, label and probability that the library gives") {
    vit_model *model = open_in_pieces();
    const vit_config *c = vit_model_config(model);
    float *logits = run_batch(model);
    for (size_t i = 0; i < DRAWINGS; i++) {
        const float *own = logits + i * vit_logits(c);
        double sum = 0;
        size_t best = 0;
        for (size_t k = 0; k < c->classes; k++) best = own[k] > own[best] ? k : best;
        for (size_t k = 0; k < c->classes; k++) sum += exp((own[k] - own[best]) / c->temperature);
        uint8_t grey[AREA];
        draw(grey, i);
        struct made pgm = make_pgm(grey, ROWS, COLUMNS, AREA);
        int code = example(MODEL, pgm.path);
        unlink(pgm.path);
        size_t class = SIZE_MAX;
        char label[32] = "";
        double p = 0;
        int read = sscanf(output, "class %zu (%31[^)]), probability %lf", &class, label, &p);
        CHECK(code == 0 && read == 3, "drawing %zu: exit %d, '%s'", i, code, output);
        CHECK(class == best && best == STROKES[i].digit,
              "got class %zu, the library %zu, drawn %zu", class, best, STROKES[i].digit);
        CHECK(strcmp(label, vit_model_label(model, best)) == 0, "got label %s", label);
        double certainty = c->doubt ? 1 / (1 + exp(own[c->classes])) : 1;
        CHECK(within(p, certainty / sum, 0.00006), "got probability %g, the library %g", p,
              certainty / sum);
    }
    free(logits);
    vit_close(model);
}

/* ---- Refusals ----------------------------------------------------------- */

static void check_refusal(const char *model, const char *image, const char *words) {
    int code = example(model, image);
    CHECK(code == EXIT_FAILURE && strstr(output, words), "%s, %s: exit %d, '%s', expected '%s'",
          model, image, code, output, words);
    CHECK(!strstr(output, "class"), "%s, %s: the example goes on: %s", model, image, output);
}

TEST("the example in vit.h stops at a model that is missing, cut short or not a model") {
    uint8_t grey[AREA];
    size_t size;
    draw(grey, 0);
    uint8_t *bytes = read_model(&size);
    struct made pgm = make_pgm(grey, ROWS, COLUMNS, AREA);
    struct made half = make_file(bytes, size / 2);
    check_refusal("/nowhere/model.safetensors", pgm.path, "/nowhere/model.safetensors: No such");
    check_refusal(half.path, pgm.path, "bad_tensor: ");
    check_refusal(pgm.path, pgm.path, "bad_file: ");
    free(bytes);
    unlink(half.path);
    unlink(pgm.path);
}

TEST("the example in vit.h stops at an image that is missing, blank, cut short or not an image") {
    uint8_t white[AREA];
    memset(white, 255, sizeof white);
    struct made blank = make_pgm(white, ROWS, COLUMNS, AREA);
    struct made cut = make_pgm(white, ROWS, COLUMNS, AREA - 1);
    struct made empty = make_pgm(white, 0, COLUMNS, AREA);
    check_refusal(MODEL, "/nowhere/image.pgm", "/nowhere/image.pgm: No such");
    check_refusal(MODEL, blank.path, "blank_image: ");
    check_refusal(MODEL, cut.path, "bad_image: ");
    check_refusal(MODEL, empty.path, "bad_image: ");
    check_refusal(MODEL, MODEL, "bad_image: ");
    unlink(blank.path);
    unlink(cut.path);
    unlink(empty.path);
}
