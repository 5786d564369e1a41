#include "error.h"

#include <stdarg.h>

#include "text.h"

static const char *const NAMES[VIT_STATUS_COUNT] = {
    [VIT_OK] = "ok",
    [VIT_BAD_ARGUMENT] = "bad_argument",
    [VIT_NO_MEMORY] = "no_memory",
    [VIT_BAD_FILE] = "bad_file",
    [VIT_BAD_CONFIG] = "bad_config",
    [VIT_BAD_TENSOR] = "bad_tensor",
    [VIT_BAD_IMAGE] = "bad_image",
    [VIT_BLANK_IMAGE] = "blank_image",
};

const char *vit_status_name(vit_status status) {
    return (unsigned)status < VIT_STATUS_COUNT ? NAMES[status] : "unknown";
}

static void put_shape(struct text *out, const size_t *shape, size_t rank) {
    put(out, "(", 1);
    for (size_t i = 0; i < rank; i++) {
        if (i) put(out, ",", 1);
        put_size(out, shape[i]);
    }
    put(out, ")", 1);
}

vit_status(vit_fail)(vit_error *why, vit_status status, const char *format, ...) {
    if (!why) return status;
    struct text out = {why->text, why->text + sizeof why->text - 1};
    va_list args;
    va_start(args, format);
    for (const char *p = format; *p; p++) {
        if (*p != '%') {
            put(&out, p, 1);
            continue;
        }
        const char *s;
        const size_t *shape;
        switch (*++p) {
        case 's': put_words(&out, va_arg(args, const char *)); break;
        case 't': s = va_arg(args, const char *), put(&out, s, va_arg(args, size_t)); break;
        case 'z': put_size(&out, va_arg(args, size_t)); break;
        case 'd':
            shape = va_arg(args, const size_t *), put_shape(&out, shape, va_arg(args, size_t));
            break;
        default: put(&out, p, 1);
        }
    }
    va_end(args);
    *out.at = '\0';
    return status;
}
