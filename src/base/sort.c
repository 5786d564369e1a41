#include "sort.h"

static void swap(char *a, char *b, size_t each) {
    for (char *end = a + each; a < end; a++, b++) {
        char byte = *a;
        *a = *b;
        *b = byte;
    }
}

void sort(void *base, size_t count, size_t each, int (*compare)(const void *, const void *)) {
    char *items = base;
    size_t root = count / 2; /* the items from here on have no children: each is a heap */
    while (count > 1) {
        if (root)
            root--;
        else
            swap(items, items + --count * each, each); /* the largest goes to the end */
        for (size_t parent = root, child; (child = 2 * parent + 1) < count; parent = child) {
            if (child + 1 < count && compare(items + child * each, items + (child + 1) * each) < 0)
                child++;
            if (compare(items + parent * each, items + child * each) >= 0) break;
            swap(items + parent * each, items + child * each, each);
        }
    }
}
