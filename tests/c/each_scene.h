/* Tests of each scene of a file, which has its own `struct scene` and
 * `each_scene(void (*check)(struct scene *))`.
 *
 *     TEST_SCENES("every row of the attention sums to 1") {
 *         CHECK(s->T > 0, "%s", s->name);   s: the scene
 *     } */
#ifndef EACH_SCENE_H
#define EACH_SCENE_H

#include "check.h"

#define TEST_SCENES(sentence) TEST_SCENES_AT(sentence, __LINE__)
#define TEST_SCENES_AT(sentence, line) TEST_SCENES_ON(sentence, line)
#define TEST_SCENES_ON(sentence, line)                                                             \
    static void scene_##line(struct scene *s);                                                     \
    TEST_NAMED(sentence, test_##line, add_##line) {                                                \
        each_scene(scene_##line);                                                                  \
    }                                                                                              \
    static void scene_##line(struct scene *s)

#endif
