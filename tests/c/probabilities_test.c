/* Logits → probabilities, and the config keys `temperature` and `uncertain_below`. */
#include "check.h"
#include "vit.h"

/* ---- vit_probabilities -------------------------------------------------- */

/* softmax(logits / temperature)[i], as 1 / sum of exp(differences), which needs no maximum. */
static double share(const float *logits, size_t n, double temperature, size_t i) {
    double sum = 0;
    for (size_t j = 0; j < n; j++) sum += exp(((double)logits[j] - logits[i]) / temperature);
    return 1 / sum;
}

TEST("probabilities are softmax(logits / temperature) and sum to 1") {
    static const float TEMPERATURES[] = {1, 0.5f, 0.01f, 3, 100};
    uint64_t seed = 7;
    for (size_t n = 1; n < 40; n += 3)
        for (size_t t = 0; t < sizeof TEMPERATURES / sizeof *TEMPERATURES; t++) {
            float *logits = random_floats(n, 9, &seed), *p = guarded(n);
            double sum = 0;
            vit_probabilities(p, logits, n, TEMPERATURES[t]);
            CHECK(guards_intact(p, n), "wrote past %zu classes", n);
            for (size_t i = 0; i < n; i++) {
                double want = share(logits, n, TEMPERATURES[t], i);
                CHECK(within(p[i], want, FLT_EPSILON * want + (double)FLT_MIN),
                      "%zu of %zu at %g: %.9g, not %.9g", i, n, (double)TEMPERATURES[t],
                      (double)p[i], want);
                sum += p[i];
            }
            CHECK(within(sum, 1, (double)n * FLT_EPSILON), "%zu classes sum to %.9g", n, sum);
            vit_probabilities(logits, logits, n, TEMPERATURES[t]);
            CHECK_SAME_BITS(logits, p, n, "in place");
            guarded_free(p);
            free(logits);
        }
}

TEST("the largest logits and the coldest temperatures still give probabilities") {
    static const float EXTREMES[][3] = {
        {FLT_MAX, -FLT_MAX, 0}, {-FLT_MAX, -FLT_MAX, -FLT_MAX}, {1e30f, 1e30f, -1e30f}, {0, 0, 0}};
    static const float WANT[][3] = {
        {1, 0, 0}, {1 / 3.f, 1 / 3.f, 1 / 3.f}, {0.5f, 0.5f, 0}, {1 / 3.f, 1 / 3.f, 1 / 3.f}};
    for (size_t i = 0; i < 4; i++) {
        float p[3];
        vit_probabilities(p, EXTREMES[i], 3, 1e-40f);
        CHECK_CLOSE(p, WANT[i], 3, (double)FLT_EPSILON, "at 1e-40");
        if (i > 0) {
            vit_probabilities(p, EXTREMES[i], 3, 100);
            CHECK_CLOSE(p, WANT[i], 3, (double)FLT_EPSILON, "at 100");
        }
    }
}

TEST("a temperature changes an answer's probability, but not the answer") {
    uint64_t seed = 3;
    for (int round = 0; round < 200; round++) {
        float logits[10], cold[10], warm[10];
        size_t best = 0;
        random_fill(logits, 10, 5, &seed);
        for (size_t i = 1; i < 10; i++) best = logits[i] > logits[best] ? i : best;
        vit_probabilities(cold, logits, 10, 0.5f);
        vit_probabilities(warm, logits, 10, 2);
        CHECK(cold[best] > warm[best], "expected a larger probability when colder: %g, %g",
              (double)cold[best], (double)warm[best]);
        for (size_t i = 0; i < 10; i++)
            CHECK(cold[i] <= cold[best] && warm[i] <= warm[best], "another answer, %zu", i);
    }
}

TEST("answers are probabilities together, probabilities each, or the logits") {
    enum { K = 9 };
    uint64_t seed = 5;
    for (int round = 0; round < 50; round++) {
        float logits[K], p[K], want[K];
        random_fill(logits, K, round % 2 ? 3 : 300, &seed);
        vit_config c = {.classes = K, .temperature = 0.7f};
        vit_answers(p, logits, &c);
        vit_probabilities(want, logits, K, c.temperature);
        CHECK_SAME_BITS(p, want, K, "one label");
        c.problem_type = VIT_MULTI_LABEL_CLASSIFICATION;
        vit_answers(p, logits, &c);
        for (size_t i = 0; i < K; i++) {
            double each = 1 / (1 + exp(-logits[i] / (double)c.temperature));
            CHECK(within(p[i], each, FLT_EPSILON * each + (double)FLT_MIN), "%g: %.9g, not %.9g",
                  (double)logits[i], (double)p[i], each);
        }
        c.problem_type = VIT_REGRESSION;
        memcpy(p, logits, sizeof p);
        vit_answers(p, p, &c);
        CHECK_SAME_BITS(p, logits, K, "values");
    }
}

/* ---- The config --------------------------------------------------------- */

#define START                                                                                      \
    "{\"image_size\":[4,4],\"patch_size\":[2,2],\"channels\":1,\"width\":4,\"depth\":1,"           \
    "\"heads\":2,\"mlp_width\":3,\"classes\":2"

static vit_status read_config(vit_config *config, vit_error *why, const char *key,
                              const char *value) {
    char json[512];
    snprintf(json, sizeof json, "%s,\"%s\":%s}", START, key, value);
    strcpy(why->text, "");
    return vit_config_read(config, json, strlen(json), why);
}

TEST("a config without a temperature and a threshold gets 1, and no answer is uncertain") {
    vit_config config;
    vit_error why = {""};
    CHECK(!vit_config_read(&config, START "}", strlen(START "}"), &why), "%s", why.text);
    CHECK(config.temperature == 1 && config.uncertain_below == 0, "%g, %g",
          (double)config.temperature, (double)config.uncertain_below);
}

TEST("a model of one class that does not say has a probability of its own") {
    static const char one[] =
        "{\"image_size\":[4,4],\"patch_size\":[2,2],\"channels\":1,\"width\":4,"
        "\"depth\":1,\"heads\":2,\"mlp_width\":3,\"classes\":1";
    static const struct {
        const char *key;
        vit_problem want;
    } cases[] = {
        {"", VIT_MULTI_LABEL_CLASSIFICATION},
        {",\"problem_type\":\"single_label_classification\"", VIT_SINGLE_LABEL_CLASSIFICATION},
        {",\"problem_type\":\"regression\"", VIT_REGRESSION}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vit_config config;
        vit_error why = {""};
        char json[512];
        snprintf(json, sizeof json, "%s%s}", one, cases[i].key);
        CHECK(!vit_config_read(&config, json, strlen(json), &why), "%s", why.text);
        CHECK(config.problem_type == cases[i].want, "%s", json);
    }
}

TEST("with doubt the classes' probabilities sum to 1/(1+e^d), at any temperature") {
    vit_config c = {.classes = 3, .doubt = true, .temperature = 0.5f};
    static const float DOUBTS[] = {-200, -2, 0, 3, 200};
    for (size_t i = 0; i < sizeof DOUBTS / sizeof *DOUBTS; i++) {
        const float logits[] = {1, -1, 2.5f, DOUBTS[i]};
        float p[3], plain[3];
        double certainty = 1 / (1 + exp((double)DOUBTS[i]));
        vit_answers(p, logits, &c);
        vit_probabilities(plain, logits, 3, 0.5f);
        for (size_t k = 0; k < 3; k++)
            CHECK(within((double)p[k], certainty * (double)plain[k], 2 * FLT_EPSILON),
                  "%zu at %g: %g", k, (double)DOUBTS[i], (double)p[k]);
    }
    CHECK(vit_logits(&c) == 4, "%zu logits", vit_logits(&c));
}

TEST("doubt needs classes that exclude each other") {
    vit_config config;
    vit_error why;
    CHECK(!read_config(&config, &why, "doubt", "true") && config.doubt, "%s", why.text);
    CHECK(read_config(&config, &why, "problem_type", "\"regression\", \"doubt\": true") ==
                  VIT_BAD_CONFIG &&
              strstr(why.text, "doubt: expected classes that exclude each other"),
          "%s", why.text);
}

TEST("a temperature above 0 up to 100 and a threshold from 0 to 1 are accepted") {
    static const char *const TEMPERATURES[] = {"0.6137", "1", "100", "1e-3", "1e2"};
    static const char *const THRESHOLDS[] = {"0", "0.9461", "1", "1e-3", "0.0"};
    for (size_t i = 0; i < 5; i++) {
        vit_config config;
        vit_error why;
        CHECK(!read_config(&config, &why, "temperature", TEMPERATURES[i]), "%s", why.text);
        CHECK(config.temperature == strtof(TEMPERATURES[i], NULL), "%s is %.9g", TEMPERATURES[i],
              (double)config.temperature);
        CHECK(!read_config(&config, &why, "uncertain_below", THRESHOLDS[i]), "%s", why.text);
        CHECK(config.uncertain_below == strtof(THRESHOLDS[i], NULL), "%s is %.9g", THRESHOLDS[i],
              (double)config.uncertain_below);
    }
}

TEST("any other temperature or threshold is refused by name") {
    static const char *const BAD[] = {"-0.1", "-1e-9", "1e400", "\"1\"", "null",
                                      "[1]",  "{}",    "true",  "-0.5",  "100.1"};
    vit_config config;
    vit_error why;
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        CHECK(read_config(&config, &why, "temperature", BAD[i]) == VIT_BAD_CONFIG &&
                  strstr(why.text, "temperature: expected a number above 0 and up to 100, got"),
              "temperature %s: %s", BAD[i], why.text);
        CHECK(read_config(&config, &why, "uncertain_below", BAD[i]) == VIT_BAD_CONFIG &&
                  strstr(why.text, "uncertain_below: expected a number from 0 to 1, got"),
              "uncertain_below %s: %s", BAD[i], why.text);
    }
    static const char *const TOO_COLD[] = {"0", "0.0", "1e-60", "-0"};
    for (size_t i = 0; i < 4; i++)
        CHECK(read_config(&config, &why, "temperature", TOO_COLD[i]) == VIT_BAD_CONFIG,
              "temperature %s", TOO_COLD[i]);
    CHECK(read_config(&config, &why, "uncertain_below", "1.0001") == VIT_BAD_CONFIG, "above 1");
}
