/* The output of vit train during an epoch, at times that the tests choose. */
#define _GNU_SOURCE
#include "check.h"

#include "../../src/cli/cli.h"

static char output[1 << 16];

/* Reports progress once a second, in epochs of `seconds` seconds with 600 images a second. `output`
 * holds the output. */
static void run(size_t epochs, size_t seconds, bool terminal) {
    FILE *out = tmpfile();
    if (!out) exit(EXIT_FAILURE);
    struct progress progress = progress_open(out);
    if (terminal) progress.terminal = true;
    for (size_t epoch = 1; epoch <= epochs; epoch++)
        for (size_t second = 1; second <= seconds; second++)
            progress_show(&progress, &(struct train_progress){
                                         .epoch = epoch,
                                         .epochs = epochs,
                                         .done = 600 * second,
                                         .images = 600 * seconds,
                                         .seconds = (double)second,
                                         .rate = 600,
                                         .loss = 1.0 / (double)second,
                                         .gflops = 25,
                                     });
    rewind(out);
    output[fread(output, 1, sizeof output - 1, out)] = '\0';
    fclose(out);
}

TEST("without a terminal, vit train prints a line every half minute of a long epoch") {
    static const char want[] =
        "epoch 1/2  18000/60000 images  loss 0.0333  600 images/s  left 1:10 of the epoch, 2:50 of "
        "the run\n"
        "epoch 1/2  36000/60000 images  loss 0.0167  600 images/s  left 0:40 of the epoch, 2:20 of "
        "the run\n"
        "epoch 1/2  54000/60000 images  loss 0.0111  600 images/s  left 0:10 of the epoch, 1:50 of "
        "the run\n"
        "epoch 2/2  18000/60000 images  loss 0.0333  600 images/s  left 1:10 of the epoch, 1:10 of "
        "the run\n"
        "epoch 2/2  36000/60000 images  loss 0.0167  600 images/s  left 0:40 of the epoch, 0:40 of "
        "the run\n"
        "epoch 2/2  54000/60000 images  loss 0.0111  600 images/s  left 0:10 of the epoch, 0:10 of "
        "the run\n";
    run(2, 100, false);
    CHECK(!strcmp(output, want), "output:\n%s", output);
}

TEST("without a terminal, vit train prints no progress in an epoch of less than half a minute") {
    run(5, 29, false);
    CHECK(!output[0], "output:\n%s", output);
    run(2, 30, false); /* the epoch's own line reports its end */
    CHECK(!output[0], "output:\n%s", output);
}

TEST("vit train prints a line every half minute, also after a step longer than an earlier epoch") {
    FILE *out = tmpfile();
    REQUIRE(out, "no file");
    struct progress progress = progress_open(out);
    struct train_progress now = {1, 2, 300, 1000, 40, 7.5, 1, 0, 1};
    progress_show(&progress, &now);
    now = (struct train_progress){2, 2, 300, 1000, 50, 6, 1, 0, 1};
    progress_show(&progress, &now);
    rewind(out);
    output[fread(output, 1, sizeof output - 1, out)] = '\0';
    fclose(out);
    CHECK(strstr(output, "epoch 1/2") && strstr(output, "epoch 2/2"), "output:\n%s", output);
}

TEST("on a terminal, vit train redraws one line until the end of each epoch") {
    run(2, 3, true);
    size_t bars = 0;
    for (const char *at = output; (at = strchr(at, '\r')); at++) bars++;
    CHECK(bars == 6 && !strchr(output, '\n'), "%zu bars:\n%s", bars, output);
    CHECK(strstr(output, "epoch 2/2 [####################] 100 %"), "output:\n%s", output);
}
