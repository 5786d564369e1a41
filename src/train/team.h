/* The system's threads. */
#ifndef VIT_TRAIN_TEAM_H
#define VIT_TRAIN_TEAM_H

#include "vit.h"

/* A team of `threads`, of which the caller is the first; each does one part of every run. */
vit_status team_open(vit_team **out, size_t threads, vit_error *why);
void team_close(vit_team *team);
size_t cpu_count(void);

#endif
