/* SPDX-License-Identifier: ISC */
#include "orders.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Copies the words of the order that stands there; returns its number, or 0. */
static unsigned read_order(struct orders *o)
{
    unsigned size, number;
    int words_at = 0;
    char *value = xs_read(o->xs, XBT_NULL, o->key, &size);
    if (!value || sscanf(value, "%u %n", &number, &words_at) != 1)
        number = 0;
    else
        snprintf(o->words, sizeof o->words, "%s", value + words_at);
    free(value);
    return number;
}

void orders_path(struct xs_handle *xs, const char *key, char *path, size_t size)
{
    unsigned length;
    char *number = xs_read(xs, XBT_NULL, "domid", &length);
    if (!number)
        err(1, "cannot read domid");
    snprintf(path, size, "/local/domain/%s/%s", number, key);
    free(number);
}

void orders_open(struct orders *o, const char *key)
{
    *o = (struct orders){.xs = xs_open(0)};
    if (!o->xs)
        err(1, "XenStore");
    orders_path(o->xs, key, o->key, sizeof o->key);
    o->number = read_order(o);
    if (!xs_watch(o->xs, o->key, "order"))
        err(1, "cannot watch %s", key);
}

const char *orders_next(struct orders *o)
{
    for (unsigned number;;) {
        if ((number = read_order(o)) > o->number) {
            o->number = number;
            return o->words;
        }
        unsigned count;
        char **event = xs_read_watch(o->xs, &count);
        if (!event)
            err(1, "waiting for %s", o->key);
        free(event);
    }
}

void orders_answer(struct orders *o, const char *text)
{
    char key[80], value[1100];
    snprintf(key, sizeof key, "%s-answer", o->key);
    snprintf(value, sizeof value, "%u %s", o->number, text);
    orders_write(o->xs, key, value);
}

void orders_write(struct xs_handle *xs, const char *key, const char *value)
{
    if (!xs_write(xs, XBT_NULL, key, value, (unsigned)strlen(value)))
        err(1, "cannot write %s", key);
}
