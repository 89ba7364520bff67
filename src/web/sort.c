/* SPDX-License-Identifier: ISC */
#include "web/sort.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { RUN = 8 }; /* items that are sorted by insertion */

/* Word by word: a call of memcpy, or a loop that is vectorized, would cost more than most items are long. */
static void copy(char *to, const char *from, size_t bytes)
{
    uint32_t word;
    size_t at = 0;
#ifdef __clang__
#pragma clang loop vectorize(disable)
#endif
    for (; at + sizeof word <= bytes; at += sizeof word) {
        memcpy(&word, from + at, sizeof word);
        memcpy(to + at, &word, sizeof word);
    }
    for (; at < bytes; at++)
        to[at] = from[at];
}

/* Sorts the runs; held has room for an item. */
static void sort_runs(char *items, size_t count, size_t bytes, web_order_fn *order, char *held)
{
    for (size_t i = 1; i < count; i++) {
        size_t at = i;
        if (i % RUN == 0 || order(items + (i - 1) * bytes, items + i * bytes) <= 0)
            continue;
        copy(held, items + i * bytes, bytes);
        for (; at % RUN && order(items + (at - 1) * bytes, held) > 0; at--)
            copy(items + at * bytes, items + (at - 1) * bytes, bytes);
        copy(items + at * bytes, held, bytes);
    }
}

/* Merges [a, b) and [b, end) into out; equal items come from the first. */
static void merge(char *out, const char *a, const char *b, const char *end, size_t bytes,
                  web_order_fn *order)
{
    const char *middle = b;
    if (b < end && order(b - bytes, b) <= 0) { /* as they are */
        memcpy(out, a, (size_t)(end - a));
        return;
    }
    for (; a < middle && b < end; out += bytes) {
        const char **from = order(a, b) <= 0 ? &a : &b;
        copy(out, *from, bytes);
        *from += bytes;
    }
    memcpy(out, a, (size_t)(middle - a));
    memcpy(out + (middle - a), b, (size_t)(end - b));
}

void web_sort(void *items, size_t count, size_t bytes, web_order_fn *order)
{
    if (count < 2 || bytes == 0)
        return;
    char *room = count < SIZE_MAX / bytes ? malloc((count + 1) * bytes) : NULL;
    if (!room) {
        web_sort_in_place(items, count, bytes, order);
        return;
    }
    char *from = items, *to = room;
    sort_runs(from, count, bytes, order, room);
    for (size_t run = RUN; run < count; run *= 2) {
        for (size_t i = 0; i < count; i += 2 * run) {
            const size_t middle = count - i < run ? count : i + run;
            const size_t end = count - middle < run ? count : middle + run;
            merge(to + i * bytes, from + i * bytes, from + middle * bytes, from + end * bytes,
                  bytes, order);
        }
        char *other = from;
        from = to;
        to = other;
    }
    if (from != items)
        memcpy(items, from, count * bytes);
    free(room);
}

/* ---- Without memory: a heap ---- */

static void swap(char *a, char *b, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        const char byte = a[i];
        a[i] = b[i];
        b[i] = byte;
    }
}

static void sink(char *heap, size_t at, size_t count, size_t bytes, web_order_fn *order)
{
    for (size_t child; at < count / 2; at = child) {
        child = 2 * at + 1;
        if (child + 1 < count && order(heap + child * bytes, heap + (child + 1) * bytes) < 0)
            child++;
        if (order(heap + at * bytes, heap + child * bytes) >= 0)
            return;
        swap(heap + at * bytes, heap + child * bytes, bytes);
    }
}

void web_sort_in_place(void *items, size_t count, size_t bytes, web_order_fn *order)
{
    char *heap = items;
    for (size_t i = count / 2; i > 0; i--)
        sink(heap, i - 1, count, bytes, order);
    for (size_t left = count; left > 1; left--) {
        swap(heap, heap + (left - 1) * bytes, bytes);
        sink(heap, 0, left - 1, bytes, order);
    }
}
