/* A team of the system's threads, which wait for work between two runs. */
#define _POSIX_C_SOURCE 200809L
#include "team.h"
#include "base/error.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef HAVE_OPENBLAS
#include <cblas.h>
#endif

struct pool {
    vit_team team; /* first, so that a team's address is its pool's */
    pthread_mutex_t lock;
    pthread_cond_t start, done;
    vit_part *part; /* NULL: time to leave */
    void *context;
    size_t round, running, started;
    struct worker {
        struct pool *pool;
        size_t index;
        pthread_t thread;
    } workers[];
};

static void *work(void *argument) {
    struct worker *worker = argument;
    struct pool *pool = worker->pool;
    for (size_t round = 1;; round++) {
        pthread_mutex_lock(&pool->lock);
        while (pool->round < round) pthread_cond_wait(&pool->start, &pool->lock);
        vit_part *part = pool->part;
        void *context = pool->context;
        pthread_mutex_unlock(&pool->lock);
        if (!part) return NULL;
        part(context, worker->index, pool->team.size);
        pthread_mutex_lock(&pool->lock);
        if (--pool->running == 0) pthread_cond_signal(&pool->done);
        pthread_mutex_unlock(&pool->lock);
    }
}

static void begin(struct pool *pool, vit_part *part, void *context) {
    pthread_mutex_lock(&pool->lock);
    pool->part = part;
    pool->context = context;
    pool->running = pool->team.size - 1;
    pool->round++;
    pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->lock);
}

static void run(vit_team *team, vit_part *part, void *context) {
    struct pool *pool = (struct pool *)team;
    begin(pool, part, context);
    part(context, 0, team->size);
    pthread_mutex_lock(&pool->lock);
    while (pool->running) pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

vit_status team_open(vit_team **out, size_t threads, vit_error *why) {
    *out = NULL;
#ifdef HAVE_OPENBLAS
    openblas_set_num_threads(1); /* the team has the threads: a product runs on one of them */
#endif
    struct pool *pool = calloc(1, sizeof *pool + threads * sizeof *pool->workers);
    if (!pool) return vit_fail(why, VIT_NO_MEMORY, "no memory for %z threads", threads);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->start, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->team = (vit_team){threads, run};
    for (pool->started = 1; pool->started < threads; pool->started++) {
        struct worker *worker = &pool->workers[pool->started];
        *worker = (struct worker){.pool = pool, .index = pool->started};
        if (pthread_create(&worker->thread, NULL, work, worker)) {
            vit_status status = vit_fail(why, VIT_NO_MEMORY, "cannot start thread %z of %z",
                                         pool->started + 1, threads);
            team_close(&pool->team);
            return status;
        }
    }
    *out = &pool->team;
    return VIT_OK;
}

void team_close(vit_team *team) {
    struct pool *pool = (struct pool *)team;
    if (!pool) return;
    begin(pool, NULL, NULL);
    for (size_t i = 1; i < pool->started; i++) pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->start);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

size_t cpu_count(void) {
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (size_t)count : 1;
}
