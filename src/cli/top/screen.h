/* SPDX-License-Identifier: ISC */
/* weft top on a screen: what the files that draw it, read its keys and act on them share. */
#pragma once

#include "cli/top/top.h"
#include "cli/top/page.h"

enum top_mode { TOP_LIST, TOP_DETAILS, TOP_HELP };
enum top_prompt { TOP_NO_PROMPT, TOP_SEARCH, TOP_FILTER, TOP_USER };

enum { TOP_BACK = 16 };

struct top_screen {
    struct top *t;
    struct top_serve *serve;
    int lines, columns;
    struct top_page head, body; /* body: in a list, its first line has the heads of columns */
    uint32_t heads;             /* how many lines of it are heads */
    uint32_t body_lines;        /* how many lines of the rest fit */
    uint32_t scroll, selected;  /* lines of the rest */
    uint32_t wanted;            /* how many rows are made */
    int shift;                  /* columns that are left out on the left */
    bool moved;                 /* the selection stays with what it is about, not with its place */
    struct top_key key;
    enum top_mode mode;
    struct top_key back[TOP_BACK]; /* the details that are shown, and those before */
    unsigned backs;
    enum top_prompt prompt;
    char text[64], search[64];
    char before[64]; /* the filter before the prompt */
    char message[300];
    int64_t message_until_ns; /* our clock */
    bool bad_message;
    bool frozen, quit, look_now;
};

/* Makes the lines anew, keeps the selection, and draws. */
void top_screen_draw(struct top_screen *s);

/* A message in the last line, for some seconds. */
void top_screen_tell(struct top_screen *s, bool bad, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What a key does (keys.c). */
void top_screen_key(struct top_screen *s, int key, bool special);
void top_help_put(struct top_page *page, const struct top *t);

/* Selects the next line that has the text, from the one behind the selected on, or the selected itself. */
bool top_screen_find(struct top_screen *s, bool next);

/* The process that actions are about: that of the selected line, or the only one; NULL: none. */
const struct top_process *top_screen_process(const struct top_screen *s);

/* Leaves the screen, explains the process, and comes back (actions.c). */
void top_explain(struct top_screen *s);
/* Saves its trace in the present folder, and says where. */
void top_save(struct top_screen *s);

/* The terminal (screen.c). */
void top_screen_leave(void);
void top_screen_return(void);
