/* SPDX-License-Identifier: ISC */
#include <assert.h>
#include <string.h>

#include "format/bytes.h"
#include "kprof/state.h"

enum { KERNEL_TRACE = 1, USER_TRACE = 2, MAPPING = 3, PROCESS = 4 };

static uint8_t *put_u16(uint8_t *to, uint16_t v)
{
    weft_write_u16(to, v);
    return to + 2;
}

static uint8_t *put_u32(uint8_t *to, uint32_t v)
{
    weft_write_u32(to, v);
    return to + 4;
}

static uint8_t *put_u64(uint8_t *to, uint64_t v)
{
    weft_write_u64(to, v);
    return to + 8;
}

static uint8_t *put_addresses(uint8_t *to, const struct weft_kprof_sample *s)
{
    assert(s->addresses >= 1 && s->addresses <= KPROF_STREAM_FRAMES);
    for (uint32_t i = 0; i < s->addresses; i++)
        to = put_u64(to, s->address[i]);
    return to;
}

uint32_t kprof_stream_version_1(uint8_t *to, const struct weft_kprof_sample *s)
{
    uint8_t *at = put_u64(to, UINT64_C(0xEE) << 56 | UINT64_C(1) << 48 |
                                  (uint64_t)(s->core & 0xffff) << 16 | s->addresses);
    at = put_u64(at, s->time_ns);
    return (uint32_t)(put_addresses(at, s) - to);
}

/* Seven bits per byte, the least significant first. */
static uint8_t *put_varint(uint8_t *to, uint32_t v)
{
    for (; v >= 0x80; v >>= 7)
        *to++ = (uint8_t)(v | 0x80);
    *to++ = (uint8_t)v;
    return to;
}

static uint8_t *put_head(uint8_t *to, uint32_t type, size_t bytes)
{
    return put_varint(put_varint(to, type), (uint32_t)bytes);
}

uint32_t kprof_stream_sample(uint8_t *to, const struct weft_kprof_sample *s)
{
    uint8_t *at =
        put_head(to, s->kernel ? KERNEL_TRACE : USER_TRACE, 24 + 8 * (size_t)s->addresses);
    at = put_u64(at, 0); /* info: the reference does not explain it */
    at = put_u64(at, s->time_ns);
    at = put_u32(at, s->process);
    at = put_u16(at, (uint16_t)s->core);
    at = put_u16(at, (uint16_t)s->addresses);
    return (uint32_t)(put_addresses(at, s) - to);
}

static uint8_t *put_path(uint8_t *to, const char *path, size_t length)
{
    memcpy(to, path, length);
    to[length] = 0;
    return to + length + 1;
}

uint32_t kprof_stream_mapping(uint8_t *to, const struct weft_kprof_mapping *m)
{
    size_t length = strnlen(m->path, KPROF_STREAM_PATH);
    uint8_t *at = put_head(to, MAPPING, 36 + length + 1);
    at = put_u64(at, m->time_ns);
    at = put_u64(at, m->start);
    at = put_u64(at, m->size);
    at = put_u64(at, m->offset);
    at = put_u32(at, m->process);
    return (uint32_t)(put_path(at, m->path, length) - to);
}

uint32_t kprof_stream_process(uint8_t *to, uint64_t time_ns, uint32_t process, const char *path)
{
    size_t length = strnlen(path, KPROF_STREAM_PATH);
    uint8_t *at = put_head(to, PROCESS, 12 + length + 1);
    at = put_u64(at, time_ns);
    at = put_u32(at, process);
    return (uint32_t)(put_path(at, path, length) - to);
}
