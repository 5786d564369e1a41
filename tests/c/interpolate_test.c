/* Grids resized without antialiasing, compared with torch.nn.functional.interpolate. */
#include "check.h"
#include "file/interpolate.h"

/* PyTorch made the results from the grid below by F.interpolate(mode="bicubic"), given the size, or
 * a scale_factor of (size + 0.1) / 3, or the size with align_corners. */
static const float GRID[] = {1, -2, 0.5f, 3, 0, -1, 2, 1.5f, -3};
static const struct {
    vit_resize kind;
    size_t rows, columns;
    float want[20];
} CASES[] = {
    {VIT_RESIZE_PLAIN, 5, 4, {1.023332f,    -1.4225176f, -1.4996328f, 0.84756055f,  2.076252f,
                              -0.33923145f, -1.1790352f, 0.16205762f, 3.215332f,    1.190918f,
                              -0.68994141f, -1.0717773f, 2.6375127f,  1.9645928f,   -0.32253223f,
                              -2.5756123f,  1.9226621f,  2.2689902f,  -0.12722461f, -3.5391152f}},
    {VIT_RESIZE_OFFSET, 5, 4, {1.031531f,    -1.3288008f,  -1.6462152f, 0.76061838f, 2.043697f,
                               -0.28238489f, -1.2674673f,  0.14111889f, 3.2055912f,  1.2072392f,
                               -0.67880934f, -0.95858577f, 2.716615f,   1.983546f,   -0.17786422f,
                               -2.3862447f,  1.9423431f,   2.2526022f,  0.10305167f, -3.3532658f}},
    {VIT_RESIZE_ALIGN_CORNERS, 5, 4, {1,        -1.3333333f, -1.5462963f,  0.5f,
                                      2.09375f, -0.2421875f, -1.1605903f,  -0.0625f,
                                      3,        1.0555556f,  -0.64814815f, -1,
                                      2.6875f,  1.8304398f,  -0.2259838f,  -2.140625f,
                                      2,        2.1574074f,  0.027777778f, -3}},
    {VIT_RESIZE_PLAIN, 2, 2, {0.72434235f, -0.29271698f, 2.1899185f, -1.7693481f}},
    {VIT_RESIZE_OFFSET, 2, 2, {0.77176306f, -0.57714212f, 2.3018899f, -1.2935796f}},
    {VIT_RESIZE_ALIGN_CORNERS, 2, 2, {1, 0.5f, 2, -3}},
    {VIT_RESIZE_PLAIN,
     1,
     7,
     {3.3279883f, 2.6501458f, 1.3644315f, 0, -0.73469388f, -0.91836735f, -1.1093294f}},
    {VIT_RESIZE_OFFSET,
     1,
     7,
     {3.1959297f, 2.4910106f, 1.0831415f, -0.28769457f, -0.81733564f, -0.68567514f, -0.70971864f}},
    {VIT_RESIZE_ALIGN_CORNERS,
     1,
     7,
     {1, -0.083333333f, -1.3333333f, -2, -1.5462963f, -0.4537037f, 0.5f}},
};

TEST("a grid is resized without antialiasing as in PyTorch, by size, by scale and by corners") {
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        for (size_t D = 1; D <= 5; D += 2) {
            size_t n = CASES[i].rows * CASES[i].columns;
            float *in = floats(9 * D), *out = guarded(n * D);
            for (size_t k = 0; k < 9 * D; k++) in[k] = GRID[k / D] * (float)(k % D + 1);
            const size_t from[2] = {3, 3}, to[2] = {CASES[i].rows, CASES[i].columns};
            interpolate(out, in, from, to, D, CASES[i].kind, false);
            for (size_t k = 0; k < n * D; k++) {
                double want = CASES[i].want[k / D] * (double)(k % D + 1);
                CHECK(within(out[k], want, 16 * 4 * FLT_EPSILON * (double)(k % D + 1)),
                      "case %zu, number %zu: %.9g, want %.9g", i, k, (double)out[k], want);
            }
            CHECK(guards_intact(out, n * D), "case %zu wrote past the grid", i);
            guarded_free(out), free(in);
        }
}

/* PyTorch made these of GRID, or of sin(1.7 i): plain by F.interpolate(mode="bilinear"), the others by
 * timm's resize_rel_pos_bias_table. */
static const struct {
    vit_resize kind;
    size_t from, rows, columns; /* of the grids of patches */
    float want[15];
} RELATIVE[] = {
    {VIT_RESIZE_PLAIN,
     2,
     3,
     2,
     {1, -2, 0.5f, 1.8f, -1.2f, -0.1f, 3, 0, -1, 2.4f, 0.9f, -2.2f, 2, 1.5f, -3}},
    {VIT_RESIZE_ANTIALIAS, 2, 3, 2, {1, -2, 0.5f, 1, -2, 0.5f, 3, 0, -1, 2, 1.5f, -3, 2, 1.5f, -3}},
    {VIT_RESIZE_ANTIALIAS,
     3,
     2,
     3,
     {0.78365052f, -0.69987524f, -0.61813664f, 0.85916203f, 0.4013193f, -0.95335323f, -0.14899828f,
      0.99979293f, -0.10863698f, -0.96325123f, 0.36420947f, 0.8792727f, -0.58563858f, -0.72836053f,
      0.75845784f}},
    {VIT_RESIZE_BY_FAMILY, 2, 1, 1, {0}},
};

TEST("biases of relative positions are resized as in transformers and timm") {
    for (size_t i = 0; i < sizeof RELATIVE / sizeof *RELATIVE; i++)
        for (size_t heads = 1; heads <= 5; heads += 2) {
            size_t side = 2 * RELATIVE[i].from - 1, from[2] = {side, side};
            size_t to[2] = {2 * RELATIVE[i].rows - 1, 2 * RELATIVE[i].columns - 1};
            size_t n = to[0] * to[1];
            float *in = floats(side * side * heads), *out = guarded(n * heads);
            for (size_t k = 0; k < side * side * heads; k++) {
                double x = side == 3 ? (double)GRID[k / heads] : sin(1.7 * (double)(k / heads));
                in[k] = (float)x * (float)(k % heads + 1);
            }
            interpolate(out, in, from, to, heads, RELATIVE[i].kind, true);
            for (size_t k = 0; k < n * heads; k++) {
                double want = RELATIVE[i].want[k / heads] * (double)(k % heads + 1);
                CHECK(within(out[k], want, 16 * FLT_EPSILON * (double)(k % heads + 1)),
                      "case %zu, number %zu: %.9g, want %.9g", i, k, (double)out[k], want);
            }
            CHECK(guards_intact(out, n * heads), "case %zu wrote past the table", i);
            guarded_free(out), free(in);
        }
}
