/* One line on a terminal that says how far an epoch is. */
#define _POSIX_C_SOURCE 200809L
#include "cli.h"

#include <stdio.h>
#include <unistd.h>

struct progress_bar progress_open(void) {
    return (struct progress_bar){.shown = isatty(STDERR_FILENO) == 1};
}

/* h:mm:ss or m:ss. */
static void print_time(char *out, size_t size, double seconds) {
    unsigned long s = (unsigned long)(seconds + 0.5);
    if (s >= 3600)
        snprintf(out, size, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(out, size, "%lu:%02lu", s / 60, s % 60);
}

void progress_draw(struct progress_bar *bar, const struct train_progress *p) {
    enum { WIDTH = 20 };
    static const double INTERVAL = 0.2; /* seconds */
    if (!bar->shown) return;
    if (p->seconds < bar->drawn) bar->drawn = 0; /* a new epoch */
    if (p->seconds - bar->drawn < INTERVAL && p->done < p->images) return;
    bar->drawn = p->seconds;
    double rate = (double)p->done / p->seconds;
    double left = (double)((p->epochs - p->epoch) * p->images + p->images - p->done) / rate;
    int full = (int)(WIDTH * p->done / p->images);
    char epoch_left[32], run_left[32];
    print_time(epoch_left, sizeof epoch_left, (double)(p->images - p->done) / rate);
    print_time(run_left, sizeof run_left, left);
    fprintf(stderr,
            "\r\x1b[Kepoch %zu/%zu [%.*s%.*s] %3zu %%  loss %.4f  %.0f images/s  "
            "%.1f GFLOP/s  left %s of the epoch, %s of the run",
            p->epoch, p->epochs, full, "####################", WIDTH - full, "                    ",
            100 * p->done / p->images, p->loss, rate, p->gflops, epoch_left, run_left);
    fflush(stderr);
}

void progress_clear(struct progress_bar *bar) {
    if (bar->shown) fprintf(stderr, "\r\x1b[K");
}
