/* A team of threads gives the same bits as one thread. */
#include "base/team.h"
#include "models.h"
#include "train/team.h"
#ifdef HAVE_OPENBLAS
#include <cblas.h>
#endif

enum { MOST_IMAGES = 5 };

/* A share of the tensor's largest value, as for the golden vectors. */
static const double CLOSE = 2e-5;

/* ---- Teams -------------------------------------------------------------- */

/* A team that runs its parts one after the other, with another number and order each time. */
struct orderly {
    vit_team team;
    uint64_t seed;
    size_t most_parts; /* seen so far */
};

static void run_in_turn(vit_team *team, vit_part *part, void *context) {
    struct orderly *orderly = (struct orderly *)team;
    size_t count =
        random_below(&orderly->seed, 4) ? team->size : 1 + random_below(&orderly->seed, team->size);
    size_t start = random_below(&orderly->seed, count);
    for (size_t i = 0; i < count; i++) part(context, (start + i) % count, count);
    if (count > orderly->most_parts) orderly->most_parts = count;
}

/* ---- Runs --------------------------------------------------------------- */

/* Outputs of a run besides the logits. Without hidden or final tokens the last block carries only
 * the tokens that the head reads, but its map still is of all tokens. */
enum { NOTHING, MAPS, LAST_MAP, TOKENS, ALL, WANTS };
static const char *const OUTPUTS[] = {"nothing", "maps", "the last map", "tokens", "all"};

struct subject {
    const char *name;
    size_t config, turn;
    const vit_model *model;
    float *images; /* MOST_IMAGES */
};

static struct outputs run(const struct subject *s, size_t batch, size_t state_batch, int wants,
                          vit_team *team) {
    const vit_config *c = vit_model_config(s->model);
    struct outputs o = new_outputs(c, batch);
    struct owned_state state = new_team_state(s->model, state_batch, team);
    uint8_t *last = calloc(c->depth + 1, 1);
    if (c->depth) last[c->depth - 1] = 1;
    vit_taps taps = {0};
    if (wants == MAPS || wants == LAST_MAP || wants == ALL) taps.attention = o.attention;
    if (wants == LAST_MAP) taps.attention_layers = last;
    if (wants == TOKENS || wants == ALL) taps.hidden = o.hidden, taps.tokens = o.tokens;
    vit_status status = vit_run(s->model, state.state, s->images, batch, o.logits, &taps);
    CHECK(!status, "%s: vit_run: %s", s->name, vit_status_name(status));
    CHECK(outputs_intact(&o), "%s: vit_run wrote past an output", s->name);
    free(last);
    free(state.memory);
    /* The comparison counts only the requested outputs. */
    if (wants == LAST_MAP && c->depth) o.attention_count /= c->depth;
    if (!taps.attention) o.attention_count = 0;
    if (!taps.tokens) o.hidden_count = o.tokens_count = 0;
    return o;
}

static void same(const struct subject *s, const float *got, const float *want, size_t n,
                 const char *what) {
    if (rows_keep_bits(vit_model_kernels(s->model)))
        CHECK_SAME_BITS(got, want, n, what);
    else if (n)
        CHECK_CLOSE(got, want, n, CLOSE * largest(want, n), what);
}

/* Compares a run by `team` with `alone`, the outputs of one thread. */
static void check_team(const struct subject *s, const struct outputs *alone, size_t batch,
                       size_t state_batch, int wants, vit_team *team) {
    char what[160];
    struct outputs shared = run(s, batch, state_batch, wants, team);
    snprintf(what, sizeof what, "%s, %s%s, %zu images of %zu, %s, %zu threads", s->name,
             vit_model_kernels(s->model)->name, vit_model_config(s->model)->int8 ? " int8" : "",
             batch, state_batch, OUTPUTS[wants], team->size);
    same(s, shared.logits, alone->logits, alone->logits_count, what);
    same(s, shared.attention, alone->attention, alone->attention_count, what);
    same(s, shared.hidden, alone->hidden, alone->hidden_count, what);
    same(s, shared.tokens, alone->tokens, alone->tokens_count, what);
    outputs_free(&shared);
}

static void check_config(size_t config, const struct vit_kernels *k, bool int8,
                         void (*check)(const struct subject *)) {
    uint64_t seed = 100 + config;
    vit_model *origin = random_model(&CONFIGS[config].config, unpacked_kernels(), seed);
    vit_model *model = origin ? reopen_as(origin, int8, k) : NULL;
    REQUIRE(model, "%s: no model", CONFIGS[config].name);
    float *images = random_floats(MOST_IMAGES * image_floats(vit_model_config(model)), 1, &seed);
    static size_t turns[CONFIGS_COUNT];
    size_t turn = config + turns[config]++;
    check(&(struct subject){CONFIGS[config].name, config, turn, model, images});
    free(images);
    vit_close(model);
    vit_close(origin);
}

static void each_subject(void (*check)(const struct subject *)) {
    EACH_MODEL(k, i) {
        check_config(i, k, false, check);
        if (rows_keep_bits(k)) check_config(i, k, true, check);
    }
}

/* ---- The tests ---------------------------------------------------------- */

enum { TEAMS_COUNT = 5 };

/* Two of the teams. Every team meets each batch and each requested output in some models. */
static size_t team_at(const struct subject *s, size_t batch, int wants, size_t i) {
    return (s->config + batch + (size_t)wants + 2 * i) % TEAMS_COUNT;
}

static void check_run(const struct subject *s, size_t batch, size_t state_batch, int wants) {
    static const size_t SIZES[TEAMS_COUNT] = {1, 2, 3, 8, 200};
    struct outputs alone = run(s, batch, state_batch, wants, NULL);
    for (size_t i = 0; i < 2; i++) {
        size_t size = SIZES[team_at(s, batch, wants, i)];
        struct orderly o = {{size, run_in_turn}, i + batch, 0};
        check_team(s, &alone, batch, state_batch, wants, &o.team);
        CHECK(size == 1 || o.most_parts > 1, "%s: the team had nothing to do", s->name);
    }
    outputs_free(&alone);
}

/* Under sanitizers each batch meets one of the five requested outputs. It is another one each time that
 * a config comes, in the next table or in int8. */
static bool is_turn(const struct subject *s, size_t batch, int wants) {
    return !SANITIZED || (s->turn + batch + (size_t)wants) % WANTS == 0;
}

static void check_parts(const struct subject *s) {
    for (size_t batch = 1; batch <= MOST_IMAGES; batch += 2)
        for (int wants = 0; wants < WANTS; wants++) {
            if (!is_turn(s, batch, wants)) continue;
            check_run(s, batch, batch, wants);
            if (batch == MOST_IMAGES) check_run(s, batch, 2, wants);
        }
}

TEST("a run cut into any number of parts, in any order, gives the bits of one part") {
    each_subject(check_parts);
}

static vit_team *teams[TEAMS_COUNT];

static void check_threads(const struct subject *s) {
    for (size_t batch = 1; batch <= MOST_IMAGES; batch += 2)
        for (int wants = MAPS; wants <= ALL; wants += ALL - MAPS) {
            if (!is_turn(s, batch, wants)) continue;
            struct outputs alone = run(s, batch, batch, wants, NULL);
            for (size_t i = 0; i < 2; i++)
                check_team(s, &alone, batch, batch, wants, teams[team_at(s, batch, wants, i)]);
            outputs_free(&alone);
        }
}

TEST("1, 2, 3, 5 and 8 threads at once give the bits of one thread") {
    static const size_t SIZES[TEAMS_COUNT] = {1, 2, 3, 5, 8};
    vit_error why = {""};
    for (size_t i = 0; i < TEAMS_COUNT; i++)
        REQUIRE(!team_open(&teams[i], SIZES[i], &why), "no threads: %s", why.text);
    each_subject(check_threads);
    for (size_t i = 0; i < TEAMS_COUNT; i++) team_close(teams[i]);
}

#if defined(HAVE_OPENBLAS) && defined(__GLIBC__) && defined(__x86_64__)
TEST("OpenBLAS uses the vectors that the processor has") {
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        SKIP("this processor has none that OpenBLAS leaves unused");
    CHECK(strcmp(openblas_get_corename(), "Prescott") != 0, "it uses SSE3 alone");
}
#endif

TEST("a team of no threads is refused") {
    vit_model *model = random_model(&CONFIGS[0].config, unpacked_kernels(), 1);
    REQUIRE(model, "no model");
    vit_team none = {0, run_in_turn};
    vit_state *state;
    char memory[64];
    CHECK(vit_state_size(model, 1, &none) == 0, "a state for no thread has a size");
    CHECK(vit_state_init(&state, memory, sizeof memory, model, 1, &none) == VIT_BAD_ARGUMENT,
          "a state for no thread was made");
    vit_close(model);
}

TEST("the shares of rows follow one another, as even as whole tiles or whole images allow") {
    for (size_t parts = 1; parts <= 9; parts++)
        for (size_t batch = 1; batch <= 9; batch++)
            for (size_t each = 1; each <= 200; each += each < 9 ? 1 : 47) {
                size_t next = 0, most = 0;
                for (size_t i = 0; i < parts; i++) {
                    struct rows share = rows_part(batch, each, i, parts);
                    CHECK(share.first == next, "%zu of %zu begins at %zu, not at %zu", i, parts,
                          share.first, next);
                    next = share.first + share.count;
                    most = share.count > most ? share.count : most;
                }
                CHECK(next == batch * each, "%zu of %zu rows", next, batch * each);
                CHECK(most <= (batch * each + parts - 1) / parts + 4, "%zu of %zu rows for one",
                      most, batch * each);
            }
    struct rows first = rows_part(1, 197, 0, 2), image = rows_part(4, 50, 1, 2);
    CHECK(first.count == 100, "%zu of 197 rows", first.count);
    CHECK(image.first == 100 && image.count == 100, "an image is cut");
}
