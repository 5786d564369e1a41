/* The two editions of the wasm module that runs models. The full one has everything, as the native
 * library and the module that trains have. A page downloads the small one first, which has what our
 * own models and an ordinary ViT need: of the keys that VIT_PLAIN names in config.def, only their
 * plain values. config_read refuses others, so the accessors here are constants where only 0 is plain,
 * and the compiler leaves out the code behind them. */
#ifndef VIT_EDITION_H
#define VIT_EDITION_H

#include "vit_config.h"

#ifdef VITRINE_SMALL
enum { VIT_FULL = 0 };
#define VIT_FULL_ONLY(...)
#else
enum { VIT_FULL = 1 };
#define VIT_FULL_ONLY(...) __VA_ARGS__ /* rows of a table */
#endif

#ifdef __clang__
#define VIT_ASSUME(condition) __builtin_assume(condition)
#else
#define VIT_ASSUME(condition) (void)0
#endif

/* position_of(config), pool_of(config) and so on. */
#define VIT_PLAIN(key, last)                                                                       \
    static inline size_t key##_of(const vit_config *c) {                                           \
        size_t value = (size_t)c->key, most = (size_t)(last);                                      \
        if (VIT_FULL) return value;                                                                \
        VIT_ASSUME(value <= most);                                                                 \
        return most ? value : 0;                                                                   \
    }
/* Its depth. */
#define VIT_PLAIN_TEXT(key)                                                                        \
    static inline size_t key##_of(const vit_config *c) {                                           \
        return VIT_FULL ? c->key.depth : 0;                                                        \
    }
#include "config.def"

#endif
