/* Threads for the wasm module, in builds with shared memory: one leader, who calls all the other
 * exports, and helpers. A helper is a worker of JavaScript's that instantiates the module on the
 * leader's memory, gives it a stack of its own and stays in vitw_help.
 *
 * In a run of the team the leader opens a part for every helper, does part 0, then every part
 * that is still open, and waits for the others: a helper that sleeps, or never came, costs time
 * and nothing else. Who exchanges a part's `open` for 0 does it. */
#include <stdatomic.h>
#include <stdlib.h>

#include "vit.h"

enum {
    MOST_THREADS = 64,
    STACK_BYTES = 64 << 10,
    SPINS = 1 << 15 /* some 50 µs before a thread sleeps: within a run, work comes sooner */
};

typedef _Atomic uint32_t word;

/* A cache line of its own. */
struct helper {
    _Alignas(64) word open; /* its part waits for somebody to do it */
    word busy;              /* its part is not done */
    word sleeping;
};

static struct helper helpers[MOST_THREADS]; /* from 1 on */
static vit_part *task; /* with its context, written by the leader while nothing is open */
static void *task_context;
static word leader_sleeping, dismissed;
static bool leader_may_sleep;
static char *stacks;

/* On its own and called through a pointer, lest it be inlined: after this instruction the baseline
 * compiler of Node 20 and Chrome 113 has forgotten the function's locals. */
static void sleep_while(word *at, uint32_t value) {
    __builtin_wasm_memory_atomic_wait32((int *)at, (int)value, -1);
}
static void (*volatile const do_sleep)(word *at, uint32_t value) = sleep_while;

/* Returns once *at is not `value`, or now and then for no reason. Who changes the word calls `wake`
 * after it. All accesses are sequentially consistent, so either the waker sees `sleeping`, or the
 * waiter sees the new value. */
static void wait_while(word *at, uint32_t value, word *sleeping, bool may_sleep) {
    for (int spins = 0; spins < SPINS; spins++)
        if (atomic_load(at) != value) return;
    if (!may_sleep) return;
    atomic_store(sleeping, 1);
    do_sleep(at, value);
    atomic_store(sleeping, 0);
}

static void wake(word *at, const word *sleeping) {
    if (atomic_load(sleeping)) __builtin_wasm_memory_atomic_notify((int *)at, 1);
}

/* ---- The leader --------------------------------------------------------- */

static void run(vit_team *team, vit_part *part, void *context) {
    task = part;
    task_context = context;
    for (size_t i = 1; i < team->size; i++) {
        atomic_store(&helpers[i].busy, 1);
        atomic_store(&helpers[i].open, 1);
        wake(&helpers[i].open, &helpers[i].sleeping);
    }
    part(context, 0, team->size);
    for (size_t i = 1; i < team->size; i++)
        if (atomic_exchange(&helpers[i].open, 0)) {
            part(context, i, team->size);
            atomic_store(&helpers[i].busy, 0);
        }
    for (size_t i = 1; i < team->size; i++)
        while (atomic_load(&helpers[i].busy))
            wait_while(&helpers[i].busy, 1, &leader_sleeping, leader_may_sleep);
}

vit_team wasm_team = {1, run};

/* A team of `threads`, this one among them; once, and before vitw_reserve. A browser's main thread
 * may not sleep. */
vit_status vitw_team(size_t threads, bool may_sleep) {
    if (stacks || threads < 2 || threads > MOST_THREADS) return VIT_BAD_ARGUMENT;
    stacks = malloc((threads - 1) * STACK_BYTES);
    if (!stacks) return VIT_NO_MEMORY;
    wasm_team.size = threads;
    leader_may_sleep = may_sleep;
    return VIT_OK;
}

/* Where the stack of helper 1…threads-1 begins, growing down. */
char *vitw_stack(size_t index) {
    return index < wasm_team.size ? stacks + index * STACK_BYTES : NULL;
}

/* Sends the helpers home. What is run afterwards, the leader does alone. The parts stay open: a
 * helper that is about to sleep, or comes later, still finds its part and leaves. */
void vitw_dismiss(void) {
    atomic_store(&dismissed, 1);
    for (size_t i = 1; i < wasm_team.size; i++) {
        atomic_store(&helpers[i].open, 1);
        wake(&helpers[i].open, &helpers[i].sleeping);
    }
    wasm_team.size = 1;
}

/* ---- A helper ----------------------------------------------------------- */

/* Helper `index` at work until it is dismissed. */
void vitw_help(size_t index) {
    if (index >= MOST_THREADS) return;
    struct helper *helper = &helpers[index];
    for (;;) {
        wait_while(&helper->open, 0, &helper->sleeping, true);
        if (!atomic_exchange(&helper->open, 0)) continue;
        if (atomic_load(&dismissed)) return;
        task(task_context, index, wasm_team.size);
        atomic_store(&helper->busy, 0);
        wake(&helper->busy, &leader_sleeping);
    }
}
