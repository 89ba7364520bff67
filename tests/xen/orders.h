/* SPDX-License-Identifier: ISC */
/* What the control domain tells a program in a guest to do: a key below the guest's own path in XenStore, whose value
 * is a number, which rises, and words. The answer stands in the key with "-answer" behind its name, with the same
 * number. */
#pragma once

#include <stddef.h>
#include <xenstore.h>

struct orders {
    struct xs_handle *xs;
    char key[64];
    unsigned number; /* of the one that was handed out last */
    char words[1024];
};

/* Ends the program if there is no XenStore. Orders that were there before are not handed out again. */
void orders_open(struct orders *o, const char *key);

/* Waits for the next one; its words are valid until the next call. */
const char *orders_next(struct orders *o);

void orders_answer(struct orders *o, const char *text);

/* The path of a key of the domain itself. A watch needs it whole. */
void orders_path(struct xs_handle *xs, const char *key, char *path, size_t size);

/* Writes a key, or ends the program. */
void orders_write(struct xs_handle *xs, const char *key, const char *value);
