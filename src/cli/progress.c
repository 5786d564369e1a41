/* Shows how far an epoch is: one line on a terminal, a line every half minute elsewhere. */
#define _POSIX_C_SOURCE 200809L
#include "cli.h"

#include <unistd.h>

struct progress progress_open(FILE *out) {
    return (struct progress){.out = out, .terminal = isatty(fileno(out)) == 1};
}

/* h:mm:ss or m:ss. */
static void print_time(char *out, size_t size, double seconds) {
    unsigned long s = (unsigned long)(seconds + 0.5);
    if (s >= 3600)
        snprintf(out, size, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(out, size, "%lu:%02lu", s / 60, s % 60);
}

struct times {
    double rate; /* images per second */
    char epoch_eta[32], run_eta[32];
};

static struct times times_of(const struct train_progress *p) {
    struct times t = {.rate = p->rate};
    size_t rest = p->images - p->done, later = (p->epochs - p->epoch) * p->images;
    print_time(t.epoch_eta, sizeof t.epoch_eta, (double)rest / t.rate);
    print_time(t.run_eta, sizeof t.run_eta, (double)(rest + later) / t.rate);
    return t;
}

static void draw_bar(FILE *out, const struct train_progress *p, const struct times *t) {
    enum { WIDTH = 20 };
    int full = (int)(WIDTH * p->done / p->images);
    fprintf(out,
            "\r\x1b[Kepoch %zu/%zu [%.*s%.*s] %3zu %%  loss %.4f  %.0f images/s  "
            "%.1f GFLOP/s  left %s of the epoch, %s of the run",
            p->epoch, p->epochs, full, "####################", WIDTH - full, "                    ",
            100 * p->done / p->images, p->loss, t->rate, p->gflops, t->epoch_eta, t->run_eta);
}

static void print_line(FILE *out, const struct train_progress *p, const struct times *t) {
    fprintf(out,
            "epoch %zu/%zu  %zu/%zu images  loss %.4f  %.0f images/s  left %s of the epoch, "
            "%s of the run\n",
            p->epoch, p->epochs, p->done, p->images, p->loss, t->rate, t->epoch_eta, t->run_eta);
}

void progress_show(struct progress *progress, const struct train_progress *now) {
    const double interval = progress->terminal ? 0.2 : 30; /* seconds */
    bool ended = now->done >= now->images; /* off a terminal, the epoch's own line follows */
    if (now->epoch != progress->epoch) progress->epoch = now->epoch, progress->printed_at = 0;
    if (ended ? !progress->terminal : now->seconds - progress->printed_at < interval) return;
    progress->printed_at = now->seconds;
    const struct times times = times_of(now);
    (progress->terminal ? draw_bar : print_line)(progress->out, now, &times);
    fflush(progress->out);
}

void progress_clear(struct progress *progress) {
    if (progress->terminal) fprintf(progress->out, "\r\x1b[K");
}
