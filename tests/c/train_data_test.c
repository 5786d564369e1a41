/* The input of training and its variation: IDX files, recipes, augmentation. */
#define _GNU_SOURCE
#include "train/augment.h"
#include "train/files.h"
#include "train/idx.h"
#include "train/jsonl.h"
#include "train/strokes.h"
#include "train_support.h"

#include <sys/stat.h>
#include <time.h>
#include <zlib.h>

/* ---- IDX ---------------------------------------------------------------- */

enum { IMAGES = 4 };
static const uint8_t IMAGE_HEAD[16] = {0, 0, 8, 3, 0, 0, 0, IMAGES, 0, 0, 0, SIDE, 0, 0, 0, SIDE};
static const uint8_t LABEL_HEAD[8] = {0, 0, 8, 1, 0, 0, 0, IMAGES};

struct idx_pair {
    uint8_t images[16 + IMAGES * PIXELS + 1], labels[8 + IMAGES + 1];
    size_t images_size, labels_size;
};

static struct idx_pair good_pair(void) {
    struct idx_pair pair = {.images_size = 16 + IMAGES * PIXELS, .labels_size = 8 + IMAGES};
    memcpy(pair.images, IMAGE_HEAD, sizeof IMAGE_HEAD);
    memcpy(pair.labels, LABEL_HEAD, sizeof LABEL_HEAD);
    for (size_t i = 0; i < IMAGES * PIXELS; i++) pair.images[16 + i] = (uint8_t)(i * 37);
    for (size_t i = 0; i < IMAGES; i++) pair.labels[8 + i] = (uint8_t)(i % 3);
    return pair;
}

static vit_status open_pair_for(bool doubt, struct data_set *data, const struct idx_pair *pair,
                                vit_error *why) {
    struct recipe recipe = recipe_of(RECIPE);
    recipe.config.doubt = doubt;
    char images[256], labels[256];
    strcpy(images, scratch_path("images"));
    strcpy(labels, scratch_path("labels"));
    put_file(images, pair->images, pair->images_size);
    put_file(labels, pair->labels, pair->labels_size);
    vit_status status = data_open(data, images, labels, &recipe.config, why);
    recipe_close(&recipe);
    return status;
}

static vit_status open_pair(struct data_set *data, const struct idx_pair *pair, vit_error *why) {
    return open_pair_for(false, data, pair, why);
}

static void expect_refused(const struct idx_pair *pair, const char *what, const char *words) {
    struct data_set data;
    vit_error why = {""};
    vit_status status = open_pair(&data, pair, &why);
    CHECK(status != VIT_OK, "%s was accepted", what);
    CHECK(strstr(why.text, words), "%s: the message does not say \"%s\": %s", what, words,
          why.text);
    data_close(&data);
}

TEST("a pair of IDX files is read, plain or gzipped, and refused if the gzip is damaged") {
    struct idx_pair pair = good_pair();
    struct data_set data;
    vit_error why = {""};
    MUST(open_pair(&data, &pair, &why));
    CHECK(data.count == IMAGES && data.rows == SIDE && data.columns == SIDE, "wrong sizes");
    CHECK_SAME_BITS(data.images, pair.images + 16, IMAGES * PIXELS, "images");
    CHECK_SAME_BITS(data.labels, pair.labels + 8, IMAGES, "labels");
    float image[PIXELS];
    data_image(image, &data, 1);
    CHECK(image[3] == (float)pair.images[16 + PIXELS + 3] / 255, "pixel 3 is %g", (double)image[3]);
    data_close(&data);

    struct recipe recipe = recipe_of(RECIPE);
    char zipped[256], labels[256];
    strcpy(zipped, scratch_path("images.gz"));
    strcpy(labels, scratch_path("labels"));
    gzFile file = gzopen(zipped, "wb");
    gzwrite(file, pair.images, (unsigned)pair.images_size);
    gzclose(file);
    MUST(data_open(&data, zipped, labels, &recipe.config, &why));
    CHECK_SAME_BITS(data.images, pair.images + 16, IMAGES * PIXELS, "gzipped images");
    data_close(&data);

    size_t size;
    uint8_t *bytes = bytes_of(zipped, &size);
    for (size_t cut = 0; cut < size; cut++) {
        put_file(zipped, bytes, cut);
        CHECK(data_open(&data, zipped, labels, &recipe.config, &why) != VIT_OK,
              "a gzip file cut at %zu of %zu was accepted", cut, size);
        data_close(&data);
    }
    bytes[size - 6] ^= 1; /* the checksum */
    put_file(zipped, bytes, size);
    CHECK(data_open(&data, zipped, labels, &recipe.config, &why) != VIT_OK, "a wrong checksum");
    data_close(&data);
    free(bytes);
    recipe_close(&recipe);
}

TEST("images of several channels are read from IDX of rank 4, and no others are taken for them") {
    enum { COUNT = 3, N = COUNT * 3 * PIXELS };
    struct recipe recipe = recipe_of(RECIPE);
    uint8_t images[20 + N] = {0, 0, 8, 4, 0, 0, 0, COUNT, 0, 0, 0, 3, 0, 0, 0, SIDE, 0, 0, 0, SIDE};
    uint8_t labels[8 + COUNT] = {0, 0, 8, 1, 0, 0, 0, COUNT, 2, 0, 1};
    char paths[2][256];
    struct data_set data;
    vit_error why = {""};
    for (size_t i = 0; i < N; i++) images[20 + i] = (uint8_t)(i * 11);
    strcpy(paths[0], scratch_path("train-images-idx4-ubyte"));
    strcpy(paths[1], scratch_path("train-labels-idx1-ubyte"));
    put_file(paths[0], images, sizeof images);
    put_file(paths[1], labels, sizeof labels);
    recipe.config.channels = 3;
    MUST(data_open(&data, paths[0], paths[1], &recipe.config, &why));
    CHECK(data.count == COUNT && data.channels == 3 && data.rows == SIDE, "wrong sizes");
    CHECK_SAME_BITS(data.images, images + 20, N, "images");
    data_close(&data);
    *strrchr(paths[0], '/') = '\0';
    MUST(data_open_directory(&data, paths[0], &recipe.config, &why));
    data_close(&data);
    recipe.config.channels = 4;
    CHECK(data_open_directory(&data, paths[0], &recipe.config, &why) == VIT_BAD_ARGUMENT &&
              strstr(why.text, "holds images of 3 channels; the model wants 4"),
          "%s", why.text);
    recipe_close(&recipe);
}

TEST("texts are read from IDX of rank 2, whose tokens the model must know, and no others are "
     "accepted") {
    enum { AT = 12, TOKENS = 3, ALL = IMAGES * TOKENS };
    static const struct {
        size_t byte, size; /* size: of the tokens */
        uint8_t value;
        const char *says;
    } BAD[] = {{AT + 4, ALL, 6, "text 1 has token 6; the model has 6 tokens"},
               {7, ALL - TOKENS, IMAGES - 1, "has 3 labels"},
               {11, IMAGES, 1, "expected texts of 2 to 3 tokens, got 1"},
               {11, ALL + IMAGES, TOKENS + 1, "expected texts of 2 to 3 tokens, got 4"},
               {3, ALL, 1, "expected IDX bytes of rank 2"}};
    struct recipe recipe = recipe_of(RECIPE);
    recipe.config.decoder = (vit_text_config){.depth = 1, .vocabulary = 6, .max_tokens = TOKENS};
    uint8_t texts[AT + ALL + IMAGES] = {0, 0, 8, 2, 0, 0, 0, IMAGES, 0, 0, 0, TOKENS};
    const struct idx_pair pair = good_pair();
    char paths[2][256];
    struct data_set data;
    vit_error why = {""};
    for (size_t i = 0; i < ALL; i++) texts[AT + i] = (uint8_t)(i % 6);
    strcpy(paths[0], scratch_path("train-images-idx3-ubyte"));
    strcpy(paths[1], scratch_path("train-tokens-idx2-ubyte"));
    put_file(paths[0], pair.images, pair.images_size);
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        uint8_t original = texts[BAD[i].byte];
        texts[BAD[i].byte] = BAD[i].value;
        put_file(paths[1], texts, AT + BAD[i].size);
        texts[BAD[i].byte] = original;
        CHECK(data_open(&data, paths[0], paths[1], &recipe.config, &why) == VIT_BAD_FILE &&
                  strstr(why.text, BAD[i].says),
              "case %zu: %s", i, why.text);
    }
    put_file(paths[1], texts, AT + ALL);
    *strrchr(paths[0], '/') = '\0';
    MUST(data_open_directory(&data, paths[0], &recipe.config, &why));
    CHECK(data.count == IMAGES && data.text_tokens == TOKENS, "%zu texts of %zu tokens", data.count,
          data.text_tokens);
    CHECK(!memcmp(data.labels, texts + AT, ALL), "other tokens");
    data_close(&data);
    unlink(scratch_path("train-images-idx3-ubyte")); /* other tests want none */
    recipe_close(&recipe);
}

TEST("a model with doubt takes images of no class, but none of a class that it lacks") {
    struct idx_pair pair = good_pair();
    struct data_set data;
    vit_error why = {""};
    pair.labels[8 + 1] = NO_CLASS;
    MUST(open_pair_for(true, &data, &pair, &why));
    CHECK(data.labels[1] == NO_CLASS, "label %d", data.labels[1]);
    data_close(&data);
    pair.labels[8 + 1] = NO_CLASS - 1;
    CHECK(open_pair_for(true, &data, &pair, &why) == VIT_BAD_FILE &&
              strstr(why.text, "item 1 has label 254"),
          "%s", why.text);
    data_close(&data);
}

TEST("a broken IDX file is refused with a message that says why") {
    struct idx_pair pair;
    for (size_t cut = 0; cut < 16 + IMAGES * PIXELS; cut += cut < 20 ? 1 : 50) {
        pair = good_pair();
        pair.images_size = cut;
        expect_refused(&pair, "a cut file", "images: expected");
    }
    pair = good_pair();
    pair.images_size++;
    expect_refused(&pair, "a trailing byte", "more than");
    pair = good_pair();
    pair.images[2] = 0x0d;
    expect_refused(&pair, "floats", "type 13");
    pair = good_pair();
    pair.images[3] = 1;
    expect_refused(&pair, "labels in place of images", "rank 3");
    pair = good_pair();
    memset(pair.images + 4, 0xff, 12);
    expect_refused(&pair, "a data set of 2^96 bytes", "sizes");
    pair = good_pair();
    pair.images[4] = 0x40; /* the header promises 2^30 images, 64 GiB; 256 bytes are there */
    expect_refused(&pair, "a huge promise", "got 256");
    pair = good_pair();
    memset(pair.images + 4, 0, 4);
    expect_refused(&pair, "no images", "sizes");
    pair = good_pair();
    pair.labels[8 + 2] = 3;
    expect_refused(&pair, "a fourth class of three", "item 2 has label 3");
    pair.labels[8 + 2] = NO_CLASS;
    expect_refused(&pair, "an image of no class", "item 2 has label 255");
    pair = good_pair();
    pair.labels[7] = IMAGES - 1;
    pair.labels_size--;
    expect_refused(&pair, "a label too few", "3 labels");
    pair = good_pair();
    pair.images[11] = SIDE * 2;
    pair.images[15] = SIDE / 2;
    expect_refused(&pair, "images of another size", "(16,4)");
}

/* ---- Bombs -------------------------------------------------------------- */

/* Writes `head` and `times` copies of a text, gzipped. */
static void put_gzip(const char *name, const void *head, size_t head_size, const char *text,
                     size_t size, size_t times) {
    gzFile file = gzopen(scratch_path(name), "wb9");
    gzwrite(file, head, (unsigned)head_size);
    for (size_t i = 0; i < times; i++) gzwrite(file, text, (unsigned)size);
    gzclose(file);
}

static double seconds(void) {
    return (double)clock() / CLOCKS_PER_SEC;
}

TEST("an IDX file that inflates to more than is plausible is refused by its header") {
    static const char zeros[1 << 16];
    enum { MANY = 1 << 20, MEBIBYTES = MANY / (1 << 20) * PIXELS };
    uint8_t image_head[16] = {0, 0, 8, 3, 0, MANY >> 16, 0, 0, 0, 0, 0, SIDE, 0, 0, 0, SIDE};
    uint8_t label_head[8] = {0, 0, 8, 1, 0, MANY >> 16, 0, 0};
    char images[256], labels[256];
    put_gzip("bomb.gz", image_head, 16, zeros, sizeof zeros, MEBIBYTES * 16);
    put_gzip("labels.gz", label_head, 8, zeros, sizeof zeros, MANY / sizeof zeros);
    strcpy(images, scratch_path("bomb.gz"));
    strcpy(labels, scratch_path("labels.gz"));
    struct recipe recipe = recipe_of(RECIPE);
    struct data_set data;
    vit_error why = {""};
    double before = seconds();
    CHECK_FAILS(data_open(&data, images, labels, &recipe.config, &why), VIT_BAD_FILE,
                "more than is plausible");
    CHECK(seconds() - before < 0.2, "it took %g s", seconds() - before);
    put_gzip("few.gz", LABEL_HEAD, 8, zeros, 1, IMAGES);
    before = seconds();
    put_gzip("bomb.gz", IMAGE_HEAD, 16, zeros, sizeof zeros, 1600);
    CHECK_FAILS(
        data_open(&data, images, strcpy(labels, scratch_path("few.gz")), &recipe.config, &why),
        VIT_BAD_FILE, "more than the 256 bytes its header announces");
    recipe_close(&recipe);
}

TEST("a data set is read from files, not from devices or folders") {
    struct recipe recipe = recipe_of(RECIPE);
    struct data_set data;
    struct drawings drawings;
    vit_error why = {""};
    CHECK_FAILS(data_open(&data, "/dev/zero", "/dev/zero", &recipe.config, &why), VIT_BAD_FILE,
                "got a device");
    CHECK_FAILS(drawings_open(&drawings, "/dev/zero", 3, &why), VIT_BAD_FILE, "got a device");
    CHECK_FAILS(drawings_open(&drawings, scratch_path(""), 3, &why), VIT_BAD_FILE,
                "got a directory");
    mkfifo(scratch_path("train-images-idx3-ubyte"), 0600); /* opening it would block forever */
    CHECK_FAILS(data_open_directory(&data, scratch_path(""), &recipe.config, &why), VIT_BAD_FILE,
                "expected train-images");
    recipe_close(&recipe);
}

TEST("a gzip of drawings that inflates to an implausible size is refused early") {
    static const char ONE[] = "{\"label\":1,\"strokes\":[[[0,0],[1,1]]]}\n";
    static char text[1 << 16], lines[1 << 16], zeros[1 << 16];
    struct drawings drawings;
    vit_error why = {""};
    for (size_t i = 0; i + sizeof ONE < sizeof text; i += sizeof ONE - 1) strcpy(text + i, ONE);
    memset(lines, '\n', sizeof lines);
    const struct {
        const char *text, *words;
        size_t size;
    } bombs[] = {{text, "plausible", strlen(text)},
                 {lines, "plausible", sizeof lines},
                 {zeros, "bytes of 0", sizeof zeros}};
    for (size_t i = 0; i < 3; i++) {
        put_gzip("bomb.jsonl.gz", ONE, sizeof ONE - 1, bombs[i].text, bombs[i].size, 800);
        double before = seconds();
        CHECK(drawings_open(&drawings, scratch_path("bomb.jsonl.gz"), 3, &why) == VIT_BAD_FILE &&
                  strstr(why.text, bombs[i].words),
              "%zu: %s", i, why.text);
        CHECK(seconds() - before < 10, "%zu: it took %g s", i, seconds() - before);
        drawings_close(&drawings);
    }
    put_file(scratch_path("label.jsonl"), "{\"label\":300,\"strokes\":[[[0,0]]]}\n", 34);
    CHECK(drawings_open(&drawings, scratch_path("label.jsonl"), 1000, &why) == VIT_BAD_FILE,
          "a label too large for a byte is accepted");
    drawings_close(&drawings);
}

/* ---- Recipe ------------------------------------------------------------- */

static void expect_recipe_refused(const char *from, const char *to, const char *words) {
    char json[sizeof RECIPE + 200];
    const char *at = strstr(RECIPE, from);
    REQUIRE(at, "%s is not in the recipe", from);
    snprintf(json, sizeof json, "%.*s%s%s", (int)(at - RECIPE), RECIPE, to, at + strlen(from));
    expect_bad_recipe(json, words);
}

TEST("a recipe's unknown keys and values out of range are named") {
    expect_recipe_refused("\"epochs\": 6", "\"epochs\": 0",
                          "epochs: expected a whole number from 1");
    expect_recipe_refused("\"epochs\": 6", "\"epochs\": 2.5", "epochs");
    expect_recipe_refused("\"epochs\": 6", "\"epochs\": \"6\"", "epochs");
    expect_recipe_refused("\"epochs\": 6", "\"epoch\": 6", "\"epoch\" is not a training key");
    expect_recipe_refused("\"batch\": 32", "\"optimizer\": \"sgd\"", "adamw, adam, muon");
    expect_recipe_refused("\"batch\": 32", "\"beta2\": 1", "beta2");
    expect_recipe_refused("\"shift\": 0.5", "\"shft\": 1",
                          "\"shft\" is not a training.augment key");
    expect_recipe_refused("\"shift\": 0.5", "\"shift\": -1", "shift");
    expect_recipe_refused("\"training\"", "\"trainig\"", "trainig");
    expect_recipe_refused("\"width\": 16", "\"width\": 0", "width");
    expect_recipe_refused("\"norm\": \"pre\"", "\"nrom\": \"pre\"",
                          "\"nrom\" is not a key of `model`");
    expect_recipe_refused("}}}", "}}", "expected a JSON object");
    char deep[101] = "";
    memset(deep, '[', 100);
    expect_recipe_refused("6, \"batch\"", deep, "expected a JSON object");
    expect_recipe_refused("\"epochs\": 6", "\"epochs\": 1e999", "epochs");
    expect_recipe_refused("\"epochs\": 6", "\"epochs\": NaN", "expected a JSON object");
}

TEST("a recipe that is printed and read again is the same recipe") {
    struct recipe first = recipe_of(RECIPE);
    char *training = recipe_training_json(&first);
    char json[4096];
    snprintf(json, sizeof json, "{\"model\":%s,\"training\":%s}", first.model, training);
    struct recipe second = recipe_of(json);
    char *again = recipe_training_json(&second);
    CHECK(!strcmp(training, again), "%s\n%s", training, again);
    CHECK(!strcmp(first.model, second.model), "%s\n%s", first.model, second.model);
    char *metadata = recipe_metadata(&first, 0.5);
    vit_config config;
    vit_error why = {""};
    CHECK(!vit_config_read(&config, metadata, strlen(metadata), &why), "%s", why.text);
    CHECK(strstr(metadata, "\"seed\":5,\"epochs\":6,\"validation_accuracy\":0.5}"), "%s", metadata);
    free(metadata);
    free(again);
    free(training);
    recipe_close(&second);
    recipe_close(&first);
}

/* vit_prepare_image has a pixel's channels side by side, a data set has a channel's pixels so. */
static void check_prepared(const char *json, size_t channels) {
    vit_config config;
    vit_error why = {""};
    MUST(vit_config_read(&config, json, strlen(json), &why));
    uint8_t bytes[3 * PIXELS], planes[3 * PIXELS];
    float prepared[3 * PIXELS], image[3 * PIXELS];
    for (size_t i = 0; i < channels * PIXELS; i++) {
        bytes[i] = (uint8_t)(i * 37 % 256);
        planes[i % channels * PIXELS + i / channels] = bytes[i];
    }
    const vit_pixels pixels = {bytes, SIDE, SIDE, channels};
    void *scratch = malloc(vit_prepare_size(&config, SIDE, SIDE, channels));
    MUST(vit_prepare_image(prepared, scratch, &pixels, &config, &why));
    const struct data_set data = {planes, NULL, 1, channels, SIDE, SIDE, 0};
    data_image(image, &data, 0);
    data_standardise(image, channels * PIXELS, &config);
    for (size_t i = 0; i < channels * PIXELS; i++)
        CHECK(fabsf(image[i] - prepared[i]) < 1e-5f, "number %zu of %zu channels: %g, prepared %g",
              i, channels, (double)image[i], (double)prepared[i]);
    free(scratch);
}

#define PHOTO_MODEL(CHANNELS, MEAN, STD)                                                           \
    "{\"image_size\":[8,8],\"patch_size\":[4,4],\"channels\":" CHANNELS                            \
    ",\"width\":4,\"depth\":1,\"heads\":1,\"mlp_width\":4,\"classes\":2,\"prepare\":{"             \
    "\"kind\":\"photo\",\"resize\":8,\"crop\":8,\"mean\":[" MEAN "],\"std\":[" STD "]}}"

TEST("training prepares a photo model's images as vit_prepare_image does") {
    check_prepared(PHOTO_MODEL("1", "0.1307", "0.3081"), 1);
    check_prepared(PHOTO_MODEL("3", "0.485,0.456,0.406", "0.229,0.224,0.225"), 3);
}

/* ---- Augmentation ------------------------------------------------------- */

static void draw_ring(uint8_t *image, size_t side) {
    for (size_t y = 0; y < side; y++)
        for (size_t x = 0; x < side; x++) {
            double centre = ((double)side - 1) / 2;
            double r = hypot((double)x - centre, (double)y - centre) / (double)side;
            image[y * side + x] = (uint8_t)(255 * exp(-pow((r - 0.27) / 0.06, 2)));
        }
}

enum { EPOCHS = 10 };

/* In the tests every second image counts as an image without a hole. */
#define SOLID(index) ((index) % 2 == 1)

static void augment_once(float *image, const uint8_t *source, const struct augment *how,
                         uint64_t seed, size_t epoch, size_t index) {
    struct augmenter *augmenter;
    vit_error why;
    if (augmenter_open(&augmenter, how, EPOCHS, 28, 28, &why)) exit(EXIT_FAILURE);
    float *scratch = guarded(augmenter_scratch(augmenter));
    augmenter_apply(image, scratch, augmenter, source, SOLID(index), seed, epoch, index);
    CHECK(guards_intact(scratch, augmenter_scratch(augmenter)), "written past the scratch");
    guarded_free(scratch);
    augmenter_close(augmenter);
}

static const struct augment ALL = {1, 2, 15, 0.15, 12, 1, 4, 0.4, 2, 4, 0.5, 0, 0.3, 0.4, 0};

TEST("augmentation depends on seed, epoch and image alone") {
    uint8_t source[784];
    float one[784], two[784];
    draw_ring(source, 28);
    augment_once(one, source, &ALL, 1, 2, 3);
    augment_once(two, source, &ALL, 1, 2, 3);
    CHECK_SAME_BITS(two, one, 784, "the same key");
    const size_t keys[][3] = {{2, 2, 3}, {1, 3, 3}, {1, 2, 4}, {1, 3, 2}, {2, 1, 3}};
    for (size_t i = 0; i < 5; i++) {
        augment_once(two, source, &ALL, keys[i][0], keys[i][1], keys[i][2]);
        CHECK(memcmp(one, two, sizeof one) != 0, "key %zu changes nothing", i);
    }
}

TEST("augmentation of any strength stays in 0..1, and of none is the identity") {
    uint8_t source[784];
    float image[784], plain[784];
    draw_ring(source, 28);
    for (size_t i = 0; i < 784; i++) plain[i] = (float)source[i] / 255;
    struct augment none = {.probability = 1, .elastic_grid = 4};
    augment_once(image, source, &none, 1, 0, 0);
    CHECK_CLOSE(image, plain, 784, 1e-5, "identity"); /* coordinates of up to 31, rounded */
    struct augment never = ALL;
    never.probability = 0;
    augment_once(image, source, &never, 1, 0, 0);
    CHECK_SAME_BITS(image, plain, 784, "probability 0");
    struct augment wild = {1, 1000, 180, 4, 60, 100, 7, 1, 10, 28, 1, 5, 1, 1, 0};
    for (size_t index = 0; index < 200; index++) {
        augment_once(image, source, index % 2 ? &ALL : &wild, 9, 0, index);
        for (size_t i = 0; i < 784; i++)
            CHECK(image[i] >= 0 && image[i] <= 1.000001f, "pixel %zu is %g", i, (double)image[i]);
    }
}

TEST("augmentation changes ever fewer images in the last epochs, and none in the last") {
    static const double SHARES[EPOCHS] = {1, 1, 1, 1, 1, 1, 0.75, 0.5, 0.25, 0};
    uint8_t source[784];
    float image[784], plain[784], unsettled[784];
    struct augment settling = ALL;
    settling.settle = 0.4;
    draw_ring(source, 28);
    for (size_t i = 0; i < 784; i++) plain[i] = (float)source[i] / 255;
    for (size_t epoch = 0; epoch < EPOCHS; epoch++) {
        size_t changed = 0, count = 400;
        for (size_t index = 0; index < count; index++) {
            augment_once(image, source, &settling, 3, epoch, index);
            if (!memcmp(image, plain, sizeof image)) continue;
            changed++;
            augment_once(unsettled, source, &ALL, 3, epoch, index);
            CHECK(!memcmp(image, unsettled, sizeof image), "changed in another way");
        }
        double share = (double)changed / (double)count, spread = 4 * sqrt(0.25 / (double)count);
        bool all = SHARES[epoch] == 0 || SHARES[epoch] == 1;
        CHECK(within(share, SHARES[epoch], all ? 0 : spread), "epoch %zu: %g are changed", epoch,
              share);
    }
}

TEST("augmentation shifts as far as the recipe says, and thickness changes the amount of ink") {
    uint8_t source[784];
    float image[784];
    draw_ring(source, 28);
    struct augment shift = {.probability = 1, .shift = 3, .elastic_grid = 4};
    struct augment thick = {.probability = 1, .thickness = 0.5, .elastic_grid = 4};
    double farthest_shift = 0, least = INFINITY, most = 0;
    for (size_t index = 0; index < 200; index++) {
        double ink = 0, moment = 0;
        augment_once(image, source, &shift, 4, 0, index);
        for (size_t i = 0; i < 784; i++) {
            ink += (double)image[i];
            moment += (double)image[i] * (double)(i % 28);
        }
        farthest_shift = fmax(farthest_shift, fabs(moment / ink - 13.5));
        augment_once(image, source, &thick, 4, 0, index);
        ink = 0;
        for (size_t i = 0; i < 784; i++) ink += (double)image[i];
        least = fmin(least, ink);
        most = fmax(most, ink);
    }
    CHECK(farthest_shift > 2.7 && farthest_shift <= 3.001, "shifted by %g at most", farthest_shift);
    CHECK(most > 1.3 * least, "ink between %g and %g", least, most);
}

enum { CROP = 2, PLACES = 2 * CROP + 1 };

/* Whether an image is `source`, moved and then flipped. */
static bool is_crop(const float *image, const uint8_t *source, int down, int right, bool flip) {
    for (int i = 0; i < 784; i++) {
        int y = i / 28 - down, x = (flip ? 27 - i % 28 : i % 28) - right;
        bool inside = y >= 0 && y < 28 && x >= 0 && x < 28;
        if (image[i] != (inside ? (float)source[y * 28 + x] / 255 : 0)) return false;
    }
    return true;
}

TEST("crop moves every image by whole pixels and flip mirrors its share, warped or not") {
    uint8_t source[784];
    float image[784], warped[784];
    uint64_t seed = 6;
    size_t flipped = 0, count = 1000, found[PLACES][PLACES] = {{0}};
    for (size_t i = 0; i < 784; i++) source[i] = (uint8_t)(1 + random_below(&seed, 255));
    struct augment crop = {.elastic_grid = 4, .flip = 0.3, .crop = CROP}, warp = crop;
    warp.probability = 1;
    for (size_t index = 0; index < count; index++) {
        size_t matches = 0;
        augment_once(image, source, &crop, 4, EPOCHS - 1, index);
        for (int i = 0; i < PLACES * PLACES * 2; i++) {
            int row = i / 2 / PLACES, column = i / 2 % PLACES;
            bool flip = i % 2;
            if (!is_crop(image, source, row - CROP, column - CROP, flip)) continue;
            found[row][column]++, flipped += flip, matches++;
        }
        CHECK(matches == 1, "image %zu is %zu crops of the source", index, matches);
        augment_once(warped, source, &warp, 4, EPOCHS - 1, index); /* by the identity */
        CHECK_CLOSE(warped, image, 784, 1e-4, "warped");
    }
    /* 0.3 and 1/25 of 1,000, within four standard deviations */
    CHECK(flipped > 300 - 58 && flipped < 300 + 58, "%zu of %zu flipped", flipped, count);
    for (size_t i = 0; i < PLACES * PLACES; i++) {
        size_t times = found[i / PLACES][i % PLACES];
        CHECK(times > 40 - 25 && times < 40 + 25, "place %zu: %zu of %zu", i, times, count);
    }
}

TEST("colour changes brightness, contrast and saturation, and stays in 0..1") {
    enum { COLOUR_SIDE = 6, PLANE = COLOUR_SIDE * COLOUR_SIDE, N = 3 * PLANE };
    struct augment how = {.probability = 1, .elastic_grid = 4, .colour = 0.4};
    struct augmenter *augmenter;
    vit_error why = {""};
    float source[N], image[N];
    for (size_t i = 0; i < N; i++) source[i] = (float)(i * 7 % 50) / 100 + 0.2f;
    MUST(augmenter_open(&augmenter, &how, 1, COLOUR_SIDE, COLOUR_SIDE, &why));
    double least = 9, most = 0;
    for (size_t index = 0; index < 300; index++) {
        double sum = 0;
        memcpy(image, source, sizeof image);
        augmenter_colour(image, NULL, augmenter, 3, 1, 0, index);
        for (size_t i = 0; i < N; i++) {
            CHECK(image[i] >= 0 && image[i] <= 1, "%g", (double)image[i]);
            sum += (double)image[i] / N;
        }
        least = fmin(least, sum), most = fmax(most, sum);
        /* Each step is affine, and the same for all pixels of one grey: equal pixels stay equal. */
        for (size_t i = 50; i + 50 < PLANE; i++) CHECK(image[i] == image[i + 50], "pixel %zu", i);
    }
    CHECK(least < 0.3 && most > 0.57, "means from %g to %g of 0.445", least, most);
    augmenter_close(augmenter);
}

TEST("bold thickens half of the images without a hole, up to its pixels, and no others") {
    uint8_t source[784] = {0};
    float image[784];
    size_t bold = 0, solids = 0;
    double fattest = 0;
    for (size_t y = 4; y < 24; y++) source[y * 28 + 14] = 255;
    struct augment augment = {.probability = 1, .elastic_grid = 4, .bold = 2};
    for (size_t index = 0; index < 400; index++) {
        double ink = 0;
        augment_once(image, source, &augment, 7, 0, index);
        for (size_t i = 0; i < 784; i++) ink += (double)image[i];
        solids += SOLID(index);
        bold += ink > 20.001;
        CHECK(ink > 19.999 && (SOLID(index) || ink < 20.001), "%g pixels of ink", ink);
        fattest = fmax(fattest, ink);
    }
    CHECK(3 * bold > solids && 3 * bold < 2 * solids, "%zu of %zu bold", bold, solids);
    CHECK(fattest > 0.9 * 5 * 24 && fattest < 5 * 24.001, "%g pixels of ink", fattest);
}

TEST("erasing turns one square anywhere on the image into paper") {
    enum { ERASE = 5 };
    uint8_t source[784];
    float image[784];
    size_t lowest = 28, highest = 0;
    memset(source, 255, sizeof source);
    struct augment augment = {.probability = 1, .elastic_grid = 4, .erase = ERASE};
    for (size_t index = 0; index < 500; index++) {
        size_t paper = 0, first = 784, last = 0;
        augment_once(image, source, &augment, 6, 0, index);
        for (size_t i = 0; i < 784; i++) {
            if (image[i] > 0) continue;
            paper++;
            first = i < first ? i : first;
            last = i;
        }
        CHECK(paper == ERASE * ERASE, "%zu pixels of paper", paper);
        CHECK(last - first == (ERASE - 1) * 28 + ERASE - 1, "from %zu to %zu", first, last);
        lowest = first % 28 < lowest ? first % 28 : lowest;
        highest = last % 28 > highest ? last % 28 : highest;
    }
    CHECK(lowest == 0 && highest == 27, "columns %zu to %zu", lowest, highest);
    vit_error why = {""};
    struct augmenter *augmenter;
    augment.erase = 29;
    CHECK(augmenter_open(&augmenter, &augment, 1, 28, 28, &why) == VIT_BAD_CONFIG && !augmenter,
          "a square larger than the image: %s", why.text);
}
