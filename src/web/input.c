/* SPDX-License-Identifier: ISC */
/* read/input.h over the bytes of one file in memory. */
#include "read/input.h"

#include <string.h>

#include "web/system.h"

static const unsigned char *content;
static size_t content_size;

void web_input(const unsigned char *bytes, size_t size)
{
    content = bytes;
    content_size = size;
}

int weft_input_open(struct weft_input *in, const char *path, struct weft_error *err)
{
    (void)path;
    *in = (struct weft_input){.fd = content ? 0 : -1, .size = content_size};
    return content ? 0 : weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "is not there");
}

void weft_input_close(struct weft_input *in)
{
    in->fd = -1;
}

ptrdiff_t weft_input_read(const struct weft_input *in, void *buffer, size_t size, uint64_t offset,
                          struct weft_error *err)
{
    (void)err;
    if (offset >= in->size)
        return 0;
    size_t left = (size_t)(in->size - offset), n = size < left ? size : left;
    memcpy(buffer, content + offset, n);
    return (ptrdiff_t)n;
}

uint64_t weft_input_hole(const struct weft_input *in, uint64_t offset)
{
    (void)offset;
    return in->size;
}

uint64_t weft_input_data(const struct weft_input *in, uint64_t offset)
{
    (void)in;
    return offset;
}
