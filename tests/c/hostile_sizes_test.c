/* Sizes from a stranger: sums and products that would wrap, which is near in wasm's 32 bits. */
#include "base/sizes.h"
#include "file/create.h"
#include "hostile.h"
#include "params.h"
#include "vit.h"

TEST("sums and products of sizes are exact or SIZE_TOO_LARGE, and stay SIZE_TOO_LARGE") {
    static const size_t SIZES[] = {0,
                                   1,
                                   2,
                                   3,
                                   15,
                                   16,
                                   65535,
                                   65536,
                                   65537,
                                   SIZE_MAX / 3,
                                   SIZE_MAX / 2,
                                   SIZE_MAX / 2 + 1,
                                   SIZE_MAX - 16,
                                   SIZE_MAX - 1};
    enum { COUNT = sizeof SIZES / sizeof *SIZES };
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j < COUNT; j++) {
            size_t a = SIZES[i], b = SIZES[j], sum = size_plus(a, b), times = size_times(a, b);
            CHECK(sum == (b < SIZE_MAX - a ? a + b : SIZE_TOO_LARGE), "%zu + %zu is %zu", a, b,
                  sum);
            bool fits = a == 0 || b <= (SIZE_MAX - 1) / a;
            CHECK(times == (fits ? a * b : SIZE_TOO_LARGE), "%zu * %zu is %zu", a, b, times);
            size_t whole = size_whole(a, 16);
            CHECK(whole == SIZE_TOO_LARGE ? a > SIZE_MAX - 16
                                          : whole % 16 == 0 && whole >= a && whole - a < 16,
                  "%zu up to sixteens is %zu", a, whole);
        }
    CHECK(size_times(SIZE_TOO_LARGE, 0) == SIZE_TOO_LARGE, "SIZE_TOO_LARGE times 0");
    CHECK(size_plus(SIZE_TOO_LARGE, 0) == SIZE_TOO_LARGE, "SIZE_TOO_LARGE plus 0");
}

/* A random number up to `most`, of a random magnitude. */
static size_t any_size(uint64_t *seed, size_t most) {
    size_t magnitude = 1;
    while (magnitude < most && random_below(seed, 8)) magnitude *= 2;
    size_t value = 1 + random_below(seed, magnitude < most ? magnitude : most);
    return value;
}

static void any_config(char *json, size_t size, uint64_t *seed) {
    static const char *const POSITIONS[] = {"none", "learned", "sincos1d", "relative"};
    static const char *const POOLS[] = {"mean", "attention"};
    static const char *const SPLITS[] = {"none", "transformer", "performer"};
    size_t split = random_below(seed, 5) ? 0 : 1 + random_below(seed, 2);
    size_t stem = split ? 0 : random_below(seed, 4);
    size_t P = split ? 16 : any_size(seed, 256) << stem,
           Q = split ? 16 : any_size(seed, 256) << stem;
    size_t heads = any_size(seed, 64), d = any_size(seed, 1024);
    snprintf(json, size,
             "{\"image_size\":[%zu,%zu],\"patch_size\":[%zu,%zu],\"channels\":%zu,\"width\":%zu,"
             "\"depth\":%zu,\"heads\":%zu,\"mlp_width\":%zu,\"classes\":%zu,\"position\":\"%s\","
             "\"pool\":\"%s\",\"prefix\":[],\"attention\":\"%s\",\"tokens_to_token\":\"%s\","
             "\"token_width\":%zu,\"stem\":[",
             P * any_size(seed, 16384 / P), Q * any_size(seed, 16384 / Q), P, Q,
             any_size(seed, 1024), heads * d, any_size(seed, 1024), heads, any_size(seed, 262144),
             any_size(seed, 1000000), POSITIONS[random_below(seed, 4)],
             POOLS[random_below(seed, 2)], random_below(seed, 2) ? "standard" : "per_head",
             SPLITS[split], any_size(seed, 4096));
    for (size_t i = 0; i < stem; i++)
        snprintf(json + strlen(json), size - strlen(json), i ? ",%zu" : "%zu",
                 any_size(seed, 4096));
    strcat(json, "]}");
}

/* In wasm's 32 bits about one config in two is too large. */
TEST("a config that is accepted needs no more bytes than size_t counts, in any table's packing") {
    uint64_t seed = 19;
    size_t accepted = 0, refused = 0;
    for (size_t i = 0; i < (SANITIZED ? 1000 : 4000); i++) {
        char json[1024];
        vit_config c;
        vit_error why = {""};
        any_config(json, sizeof json, &seed);
        vit_status status = vit_config_read(&c, json, strlen(json), &why);
        accepted += status == VIT_OK, refused += status == VIT_NO_MEMORY;
        CHECK(status == VIT_OK || status == VIT_NO_MEMORY || status == VIT_BAD_CONFIG, "%s", json);
        EACH_KERNELS(k) {
            if (status || !model_fits(&c, k)) continue;
            double bytes = 0, at = 0;
            struct params_walk walk = params_walk_start(&c, k, NULL);
            struct param p;
            while (params_next(&walk, &p)) {
                double count = 1;
                for (size_t j = 0; j < p.rank; j++) count *= (double)p.shape[j];
                CHECK((double)p.floats >= count, "%s: %s holds too little", json, p.name);
                CHECK((double)p.offset >= at, "%s: %s begins too early", json, p.name);
                bytes += 4 * count;
                at = (double)p.offset + (double)p.floats;
            }
            CHECK(bytes < (double)SIZE_MAX && 4 * at < (double)SIZE_MAX, "%s: %g bytes", json,
                  bytes);
            CHECK((double)params_floats(&c, k) == at, "%s: the walk ends at %g", json, at);
        }
    }
    printf("    %zu configs accepted, %zu too large\n", accepted, refused);
    CHECK(accepted > 100, "only %zu configs were accepted", accepted);
    CHECK(refused > 100 || SIZE_MAX > UINT32_MAX, "only %zu configs were too large", refused);
}
