/* A team of the system's threads, which wait for work between two runs. */
#define _POSIX_C_SOURCE 200809L
#include "team.h"
#include "base/error.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef HAVE_OPENBLAS
#include <cblas.h>
#include <string.h>

#if defined(__GLIBC__) && defined(__x86_64__)

/* OpenBLAS 0.3.21, which Debian 12 has, takes a processor that it does not know for a Prescott of
 * 2004, and uses SSE3 alone. It reads the variable when it is loaded, so the program starts again. */
static void choose_core(char **arguments) {
    const char *core = NULL;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) core = "Haswell";
    if (__builtin_cpu_supports("avx512bw")) core = "SkylakeX";
    char path[4096]; /* execv("/proc/self/exe") would rename the process to exe */
    if (!core || getenv("OPENBLAS_CORETYPE") || strcmp(openblas_get_corename(), "Prescott")) return;
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length < 0 || setenv("OPENBLAS_CORETYPE", core, 0)) return;
    path[length] = '\0';
    execv(path, arguments);
}

#else
#define choose_core(arguments) (void)(arguments)
#endif

/* Before main. The team has the threads: a product runs on one of them. */
__attribute__((constructor)) static void begin_openblas(int count, char **arguments) {
    (void)count;
    choose_core(arguments);
    openblas_set_num_threads(1);
}

#endif

struct native_team {
    vit_team team; /* first, so that both have the same address */
    pthread_mutex_t lock;
    pthread_cond_t start, done;
    vit_part *part; /* NULL: time to leave */
    void *context;
    size_t round, running, started;
    struct worker {
        struct native_team *native;
        size_t index;
        pthread_t thread;
    } workers[];
};

static void *work(void *argument) {
    struct worker *worker = argument;
    struct native_team *native = worker->native;
    for (size_t round = 1;; round++) {
        pthread_mutex_lock(&native->lock);
        while (native->round < round) pthread_cond_wait(&native->start, &native->lock);
        vit_part *part = native->part;
        void *context = native->context;
        pthread_mutex_unlock(&native->lock);
        if (!part) return NULL;
        part(context, worker->index, native->team.size);
        pthread_mutex_lock(&native->lock);
        if (--native->running == 0) pthread_cond_signal(&native->done);
        pthread_mutex_unlock(&native->lock);
    }
}

static void begin(struct native_team *native, vit_part *part, void *context) {
    pthread_mutex_lock(&native->lock);
    native->part = part;
    native->context = context;
    native->running = native->team.size - 1;
    native->round++;
    pthread_cond_broadcast(&native->start);
    pthread_mutex_unlock(&native->lock);
}

static void run(vit_team *team, vit_part *part, void *context) {
    struct native_team *native = (struct native_team *)team;
    begin(native, part, context);
    part(context, 0, team->size);
    pthread_mutex_lock(&native->lock);
    while (native->running) pthread_cond_wait(&native->done, &native->lock);
    pthread_mutex_unlock(&native->lock);
}

vit_status team_open(vit_team **out, size_t threads, vit_error *why) {
    *out = NULL;
    struct native_team *native = calloc(1, sizeof *native + threads * sizeof *native->workers);
    if (!native) return vit_fail(why, VIT_NO_MEMORY, "no memory for %z threads", threads);
    pthread_mutex_init(&native->lock, NULL);
    pthread_cond_init(&native->start, NULL);
    pthread_cond_init(&native->done, NULL);
    native->team = (vit_team){threads, run};
    for (native->started = 1; native->started < threads; native->started++) {
        struct worker *worker = &native->workers[native->started];
        *worker = (struct worker){.native = native, .index = native->started};
        if (pthread_create(&worker->thread, NULL, work, worker)) {
            vit_status status = vit_fail(why, VIT_NO_MEMORY, "cannot start thread %z of %z",
                                         native->started + 1, threads);
            team_close(&native->team);
            return status;
        }
    }
    *out = &native->team;
    return VIT_OK;
}

void team_close(vit_team *team) {
    struct native_team *native = (struct native_team *)team;
    if (!native) return;
    begin(native, NULL, NULL);
    for (size_t i = 1; i < native->started; i++) pthread_join(native->workers[i].thread, NULL);
    pthread_cond_destroy(&native->done);
    pthread_cond_destroy(&native->start);
    pthread_mutex_destroy(&native->lock);
    free(native);
}

size_t cpu_count(void) {
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (size_t)count : 1;
}
