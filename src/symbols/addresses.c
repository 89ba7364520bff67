/* SPDX-License-Identifier: ISC */
/* Names for places that a recorder has written as a file and an address. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/names.h"
#include "symbols/names.h"
#include "symbols/symbols.h"

struct found { /* a function that the worker has sent */
    char *name, *file;
};

struct finder {
    struct weft_symbol *symbol;
    uint32_t *first; /* of each question: its first symbol */
    struct found *found;
    uint32_t founds, room;
};

static void forget(struct finder *f, uint32_t from)
{
    while (f->founds > from) {
        f->founds--;
        weft_free_all(f->found[f->founds].name, f->found[f->founds].file);
    }
}

static char *copy(const char *text)
{
    char *to = malloc(strlen(text) + 1);
    return to ? strcpy(to, text) : NULL;
}

static int hear_function(void *data, uint32_t number, const struct symbols_named *named)
{
    struct finder *f = data;
    struct found found = {copy(named->name), named->file ? copy(named->file) : NULL};
    forget(f, number); /* a new worker numbers from 0 again */
    if (found.name && (!named->file || found.file) &&
        weft_reserve(&f->found, f->founds, &f->room, sizeof *f->found)) {
        symbols_shorten(found.name, WEFT_NAME_LONGEST);
        f->found[f->founds++] = found;
        return 0;
    }
    weft_free_all(found.name, found.file);
    return WEFT_E_NOMEM;
}

static int hear_answer(void *data, uint32_t question, uint32_t offset,
                       const struct symbols_answer *answer, uint32_t frames)
{
    struct finder *f = data;
    struct weft_symbol *s = &f->symbol[f->first[question] + offset];
    if (frames == 0 || s->function)
        return 0;
    const struct found *found = &f->found[answer->function];
    s->function = copy(found->name);
    s->file = found->file && answer->line ? copy(found->file) : NULL;
    s->line = s->file ? answer->line : 0;
    return s->function && (s->file || !found->file || !answer->line) ? 0 : WEFT_E_NOMEM;
}

int weft_symbols_find(struct weft_symbol *s, uint32_t count, weft_progress_fn *progress, void *data)
{
    struct symbols_question *question = weft_resize(NULL, count, sizeof *question);
    struct finder f = {.symbol = s, .first = weft_resize(NULL, count, sizeof *f.first)};
    uint64_t *address = weft_resize(NULL, count, sizeof *address);
    uint32_t questions = 0;
    int rc = question && f.first && address ? 0 : WEFT_E_NOMEM;
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        if (i == 0 || strcmp(s[i].path, s[i - 1].path) != 0) {
            f.first[questions] = i;
            question[questions++] = (struct symbols_question){
                .place = {.path = s[i].path}, .offset = &address[i], .linked = true};
        }
        address[i] = s[i].address;
        question[questions - 1].count++;
    }
    const struct symbols_names_options o = {
        .debug_path = "+:.debug:/usr/lib/debug", .progress = progress, .progress_data = data};
    const struct symbols_listener l = {&f, NULL, hear_function, hear_answer};
    if (rc == 0)
        rc = symbols_names_find(question, questions, &o, &l);
    forget(&f, 0);
    weft_free_all(question, f.first, address, f.found);
    return rc;
}
