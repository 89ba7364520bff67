/* SPDX-License-Identifier: ISC */
/* What a page does not have: processes, files that grow, a source of random numbers, an error output. */
#include "web/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "read/alive.h"
#include "read/input.h"
#include "read/snapshot.h"
#include "web/sort.h"

static uint64_t state;

void web_seed(uint64_t bits)
{
    state = bits;
}

/* SplitMix64: the numbers only have to be unknown to the author of a trace. */
static uint64_t next(void)
{
    uint64_t x = state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

ssize_t getrandom(void *buffer, size_t size, unsigned flags)
{
    (void)flags;
    for (size_t done = 0; done < size;) {
        uint64_t x = next();
        size_t n = size - done < sizeof x ? size - done : sizeof x;
        memcpy((char *)buffer + done, &x, n);
        done += n;
    }
    return (ssize_t)size;
}

uint64_t weft_process_start(uint32_t pid)
{
    return pid; /* it may be alive on some other machine */
}

bool weft_facts_alive(const struct weft_facts_header *facts)
{
    (void)facts;
    return false;
}

bool weft_facts_sampling(const struct weft_facts_header *facts, int fd)
{
    (void)facts, (void)fd;
    return false;
}

/* A file that a page reads does not change under it. */
int weft_snapshot_of_live(struct weft_input *out, const struct weft_input *in,
                          struct weft_error *err)
{
    (void)in;
    (void)err;
    *out = (struct weft_input){.fd = -1};
    return 0;
}

void qsort(void *items, size_t count, size_t bytes, int (*order)(const void *, const void *))
{
    web_sort(items, count, bytes, order);
}

/* The libc's own version would write to standard error, and so need streams. */
_Noreturn void __assert_fail(const char *expression, const char *file, int line,
                             const char *function)
{
    (void)expression;
    (void)file;
    (void)line;
    (void)function;
    __builtin_trap();
}

/* The functions that the libc's file streams call: printf refers to standard error. */

int __stdio_close(FILE *file);
size_t __stdio_write(FILE *file, const unsigned char *bytes, size_t size);
off_t __stdio_seek(FILE *file, off_t offset, int whence);

int __stdio_close(FILE *file)
{
    (void)file;
    return 0;
}

size_t __stdio_write(FILE *file, const unsigned char *bytes, size_t size)
{
    (void)file;
    (void)bytes;
    return size;
}

off_t __stdio_seek(FILE *file, off_t offset, int whence)
{
    (void)file;
    (void)offset;
    (void)whence;
    return -1;
}

/* ---- read/input.h over the bytes of one file in memory ---- */

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
