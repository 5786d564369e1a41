/* A generated model, or any bytes, opened at once. A file that opens must run. Nothing costs more
 * memory than the file justifies. */
#include "harness.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct tape tape = {bytes, bytes + size};
    uint8_t choice = tape_byte(&tape);
    const struct vit_kernels *k = kernels_pick(choice >> 1);
    if (choice & 1) { /* raw bytes: two lengths, a config and a map of these, the file */
        size_t json = tape_byte(&tape) * 8u, map = tape_byte(&tape) * 8u;
        size_t left = (size_t)(tape.end - tape.at);
        if (json > left) json = left;
        if (map > left - json) map = left - json;
        const char *text = (const char *)tape.at;
        struct source raw = {tape.at + json + map,     left - json - map,
                             json ? text : NULL,       json,
                             map ? text + json : NULL, map};
        open_and_run(&raw, k);
        return 0;
    }
    struct specimen *specimen = specimen_new(&tape, true);
    struct source source = specimen_source(specimen);
    open_and_run(&source, k);
    specimen_free(specimen);
    return 0;
}
