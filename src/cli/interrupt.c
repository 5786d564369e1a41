/* Ctrl-C ends a command only when the command asks, so that it can end tidily. */
#define _POSIX_C_SOURCE 200809L
#include "cli.h"

#include <signal.h>

static volatile sig_atomic_t caught;

static void catch (int signal) {
    (void)signal;
    caught = 1;
}

void interrupts_catch(void) {
    struct sigaction action = {.sa_handler = catch, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool interrupted(void) {
    return caught;
}
