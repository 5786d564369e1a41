/* Grids resized as torch.nn.functional.interpolate does it without antialiasing. */
#include "check.h"
#include "file/interpolate.h"

/* Made by PyTorch from the grid below: F.interpolate(mode="bicubic"), by size; by a scale_factor of
 * (size + 0.1) / 3; by size with align_corners. */
static const float GRID[] = {1, -2, 0.5f, 3, 0, -1, 2, 1.5f, -3};
static const struct {
    vit_resize kind;
    size_t rows, columns;
    float want[20];
} CASES[] = {
    {VIT_RESIZE_PLAIN, 5, 4, {1.023332,    -1.4225176, -1.4996328, 0.84756055,  2.076252,
                              -0.33923145, -1.1790352, 0.16205762, 3.215332,    1.190918,
                              -0.68994141, -1.0717773, 2.6375127,  1.9645928,   -0.32253223,
                              -2.5756123,  1.9226621,  2.2689902,  -0.12722461, -3.5391152}},
    {VIT_RESIZE_OFFSET, 5, 4, {1.031531,    -1.3288008,  -1.6462152, 0.76061838, 2.043697,
                               -0.28238489, -1.2674673,  0.14111889, 3.2055912,  1.2072392,
                               -0.67880934, -0.95858577, 2.716615,   1.983546,   -0.17786422,
                               -2.3862447,  1.9423431,   2.2526022,  0.10305167, -3.3532658}},
    {VIT_RESIZE_ALIGN_CORNERS, 5, 4, {1,           -1.3333333, -1.5462963, 0.5,         2.09375,
                                      -0.2421875,  -1.1605903, -0.0625,    3,           1.0555556,
                                      -0.64814815, -1,         2.6875,     1.8304398,   -0.2259838,
                                      -2.140625,   2,          2.1574074,  0.027777778, -3}},
    {VIT_RESIZE_PLAIN, 2, 2, {0.72434235, -0.29271698, 2.1899185, -1.7693481}},
    {VIT_RESIZE_OFFSET, 2, 2, {0.77176306, -0.57714212, 2.3018899, -1.2935796}},
    {VIT_RESIZE_ALIGN_CORNERS, 2, 2, {1, 0.5, 2, -3}},
    {VIT_RESIZE_PLAIN,
     1,
     7,
     {3.3279883, 2.6501458, 1.3644315, 0, -0.73469388, -0.91836735, -1.1093294}},
    {VIT_RESIZE_OFFSET,
     1,
     7,
     {3.1959297, 2.4910106, 1.0831415, -0.28769457, -0.81733564, -0.68567514, -0.70971864}},
    {VIT_RESIZE_ALIGN_CORNERS,
     1,
     7,
     {1, -0.083333333, -1.3333333, -2, -1.5462963, -0.4537037, 0.5}},
};

TEST(
    "a grid without antialiasing is resized as PyTorch resizes it, by size, by scale, by corners") {
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        for (size_t D = 1; D <= 5; D += 2) {
            size_t n = CASES[i].rows * CASES[i].columns;
            float *in = floats(9 * D), *out = guarded(n * D);
            for (size_t k = 0; k < 9 * D; k++) in[k] = GRID[k / D] * (float)(k % D + 1);
            const size_t from[2] = {3, 3}, to[2] = {CASES[i].rows, CASES[i].columns};
            interpolate(out, in, from, to, D, CASES[i].kind);
            for (size_t k = 0; k < n * D; k++) {
                double want = CASES[i].want[k / D] * (double)(k % D + 1);
                CHECK(within(out[k], want, 16 * 4 * FLT_EPSILON * (double)(k % D + 1)),
                      "case %zu, number %zu: %.9g, want %.9g", i, k, (double)out[k], want);
            }
            CHECK(guards_intact(out, n * D), "case %zu wrote past the grid", i);
            guarded_free(out), free(in);
        }
}
