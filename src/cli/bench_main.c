/* vit bench alone, for wasm: its kernels are measured under Node. */
#include "cli.h"

int main(int argc, char **argv) {
    return command_bench(argc - 1, argv + 1);
}
