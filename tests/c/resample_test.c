/* Resampling of floats, compared with PyTorch and with its definition in double; and properties
 * that every resampling must have. */
#include "resampled.h"

#include "image/resample.h"

static float *resized(const float *in, size_t in_rows, size_t in_columns, size_t out_rows,
                      size_t out_columns, size_t channels, vit_filter filter) {
    size_t n = out_rows * out_columns * channels;
    float *out = guarded(n);
    void *scratch =
        malloc(resample_size(in_rows, in_columns, out_rows, out_columns, channels, filter));
    resample(out, in, in_rows, in_columns, out_rows, out_columns, channels, filter, scratch);
    CHECK(guards_intact(out, n), "written outside");
    free(scratch);
    return out;
}

/* F.interpolate(x.view(1, 1, 3, 4), size, mode=…, antialias=True) of PyTorch 1.13. */
TEST("resampled values are PyTorch's") {
    static const float x[12] = {0, 10, 1, 6, 3, 3, 6, 1, 10, 0, 4, 0};
    static const struct {
        size_t rows, columns;
        vit_filter filter;
        float want[15];
    } cases[] = {
        {5,
         3,
         VIT_BILINEAR,
         {3, 5.5f, 4.5000005f, 3, 5.0999999f, 3.7f, 3, 4.5f, 2.4999995f, 5.4000006f, 2.9999995f,
          1.7199994f, 7, 2, 1.1999996f}},
        {5,
         3,
         VIT_BICUBIC,
         {2.9981863f, 5.7514772f, 4.3884563f, 2.7306769f, 5.4545374f, 3.6565976f, 2.8283753f,
          4.6760058f, 2.4073224f, 5.7243767f, 2.7566957f, 1.5522724f, 7.6372352f, 1.5708903f,
          1.1275847f}},
        {2,
         7,
         VIT_BILINEAR,
         {1.1250001f, 3.3571434f, 6.9285717f, 5.125f, 2.9642861f, 3.6785719f, 4.125f, 7.375f,
          5.1428566f, 1.5714285f, 2.9375f, 4.437499f, 1.9374993f, 0.37500003f}},
        {2,
         7,
         VIT_BICUBIC,
         {0.22133724f, 3.0384958f, 7.5072546f, 5.5904894f, 2.7472451f, 3.6644917f, 4.4064007f,
          8.2184696f, 5.4283991f, 0.95434904f, 2.7002404f, 4.8123507f, 1.7421421f, -0.22762138f}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float *out = resized(x, 3, 4, cases[i].rows, cases[i].columns, 1, cases[i].filter);
        CHECK_CLOSE(out, cases[i].want, cases[i].rows * cases[i].columns, 1e-5, "interpolated");
        guarded_free(out);
    }
}

TEST("resampling between any sizes agrees with the definition in double") {
    uint64_t seed = 1;
    for (size_t trial = 0; trial < 60; trial++) {
        size_t h = 1 + random_below(&seed, 12), w = 1 + random_below(&seed, 12);
        size_t H = 1 + random_below(&seed, 12), W = 1 + random_below(&seed, 12);
        size_t C = 1 + random_below(&seed, 3);
        vit_filter filter = (vit_filter)(trial % 3);
        float *in = random_floats(h * w * C, 1, &seed);
        float *out = resized(in, h, w, H, W, C, filter);
        double exact[12 * 12 * 3], narrow[12 * 12 * 3]; /* (h,w,C), then (h,W,C) */
        for (size_t i = 0; i < h * w * C; i++) exact[i] = in[i];
        for (size_t i = 0; i < h * W * C; i++)
            narrow[i] = resampled(exact + i / (W * C) * w * C + i % C, C, w, W, i / C % W, filter);
        for (size_t o = 0; o < H * W * C; o++) {
            double want = resampled(narrow + o % (W * C), W * C, h, H, o / (W * C), filter);
            CHECK(within(out[o], want, 3e-6), "%zux%zu to %zux%zu: [%zu] got %g, want %g", h, w, H,
                  W, o, (double)out[o], want);
        }
        guarded_free(out);
        free(in);
    }
}

TEST("resampling to the same size keeps every bit, and a constant image stays constant") {
    uint64_t seed = 2;
    float *in = random_floats(7 * 5 * 3, 10, &seed);
    for (int filter = VIT_BILINEAR; filter <= VIT_LANCZOS; filter++) {
        float *out = resized(in, 7, 5, 7, 5, 3, (vit_filter)filter);
        CHECK_SAME_BITS(out, in, 7 * 5 * 3, "the same size");
        guarded_free(out);
        float flat[35];
        for (size_t i = 0; i < 35; i++) flat[i] = 3;
        out = resized(flat, 7, 5, 3, 40, 1, (vit_filter)filter);
        for (size_t i = 0; i < 120; i++) CHECK(within(out[i], 3, 2e-6), "%g", (double)out[i]);
        guarded_free(out);
    }
    free(in);
}

TEST("sizes whose scratch memory overflows need 0 bytes") {
    CHECK(resample_size(SIZE_MAX / 4, 4, 8, 8, 1, VIT_BICUBIC) == 0, "rows");
    CHECK(resample_size(4, 4, 8, 8, SIZE_MAX / 64, VIT_BICUBIC) == 0, "channels");
    CHECK(resample_size(4, SIZE_MAX / 4, 8, 8, 1, VIT_BICUBIC) == 0, "columns");
    CHECK(resample_size(4, 4, 8, 8, 1, VIT_BICUBIC) > 0, "a small grid");
}
