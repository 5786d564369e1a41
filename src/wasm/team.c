/* Threads of the wasm module, in builds with shared memory: one leader and its helpers. The leader
 * calls all exports except vitw_help. A helper is a JavaScript worker. It instantiates the module
 * on the leader's memory, gives its instance a stack of its own, and stays in vitw_help.
 *
 * In a run the leader opens a part for every helper and does part 0. Then it does every part that
 * is still open, and waits for the other parts. So a helper that sleeps or never came costs only
 * time. The thread that exchanges a part's `open` for 0 does the part. */
#include <stdatomic.h>
#include <stdlib.h>

#include "vit.h"

enum {
    MOST_THREADS = 64,
    STACK_BYTES = 64 << 10,
    SPINS = 1 << 15 /* about 50 µs until a thread sleeps; within a run, work comes sooner */
};

typedef _Atomic uint32_t word;

/* Each helper has a cache line of its own. */
struct helper {
    _Alignas(64) word open; /* no thread has begun its part */
    word busy;              /* its part is not done yet */
    word sleeping;
};

static struct helper helpers[MOST_THREADS]; /* from 1 on */
static vit_part *task; /* the leader writes it and its context while no part is open */
static void *task_context;
static word leader_sleeping, dismissed;
static bool leader_may_sleep;
static char *stacks;

/* A function of its own, called through a pointer so that it is not inlined: after this
 * instruction, the baseline compiler of Node 20 and Chrome 113 has lost the locals of the
 * function. */
static void sleep_while(word *at, uint32_t value) {
    __builtin_wasm_memory_atomic_wait32((int *)at, (int)value, -1);
}
static void (*volatile const do_sleep)(word *at, uint32_t value) = sleep_while;

/* Returns when *at is no longer `value`; it may return earlier. A thread that changes *at calls
 * `wake` afterwards. All accesses are sequentially consistent, so either the waker sees `sleeping`,
 * or the waiter sees the new value. */
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

/* Makes a team of `threads`, which include this one. Call it once, before vitw_reserve.
 * may_sleep: false on a browser's main thread, which is not allowed to sleep. */
vit_status vitw_team(size_t threads, bool may_sleep) {
    if (stacks || threads < 2 || threads > MOST_THREADS) return VIT_BAD_ARGUMENT;
    stacks = malloc((threads - 1) * STACK_BYTES);
    if (!stacks) return VIT_NO_MEMORY;
    wasm_team.size = threads;
    leader_may_sleep = may_sleep;
    return VIT_OK;
}

/* → the top of the stack of helper `index`, from 1 up. A stack grows down. */
char *vitw_stack(size_t index) {
    return index < wasm_team.size ? stacks + index * STACK_BYTES : NULL;
}

/* Dismisses the helpers. From then on the leader does all parts alone. The parts of the helpers
 * stay open, so that a helper that is about to sleep, or that comes later, finds its part and
 * leaves. */
void vitw_dismiss(void) {
    atomic_store(&dismissed, 1);
    for (size_t i = 1; i < wasm_team.size; i++) {
        atomic_store(&helpers[i].open, 1);
        wake(&helpers[i].open, &helpers[i].sleeping);
    }
    wasm_team.size = 1;
}

/* ---- A helper ----------------------------------------------------------- */

/* Does the parts of helper `index` until the helpers are dismissed. */
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
