/* Reads whole files up to a limit; writes beside and renames. */
#ifndef VIT_FILES_H
#define VIT_FILES_H

#include "vit.h"

#define SIZE_OF_PIPE SIZE_MAX

/* Opens a file or a pipe; a device may have no end, so it is refused as a directory is. *size: the
 * file's bytes, or SIZE_OF_PIPE. */
vit_status open_input(int *fd, size_t *size, const char *path, vit_error *why);
/* Reads `size` bytes, or to the end; false where it cannot be read. */
bool read_some(size_t *got, int fd, void *bytes, size_t size);
/* A whole file or pipe of at most `most` bytes. The caller frees *out. */
vit_status read_file(uint8_t **out, size_t *size, const char *path, size_t most, vit_error *why);
/* Written beside as PATH.part and renamed, so that a file is whole or absent; it keeps the mode of
 * the one that it replaces. A device or a pipe is written to directly. */
vit_status write_file(const char *path, const void *bytes, size_t size, vit_error *why);
/* The same for a model, which is opened first: what does not open is not written. */
vit_status write_model(const char *path, const uint8_t *bytes, size_t size, vit_error *why);
/* Whatever is printed there would be part of the file. */
bool leads_to_stdout(const char *path);

#endif
