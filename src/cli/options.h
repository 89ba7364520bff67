/* SPDX-License-Identifier: ISC */
/* The options of a command, in one place: from a table come the parser, --help, the shell completion, and the synopsis
 * and list of options in the manual.
 *
 *     static struct { bool json; const char *title; uint32_t top; } request = {.top = 20};
 *
 *     static const struct cli_option options[] = {
 *         CLI_TEXT("title", request.title, "TEXT", "what stands above it"),
 *         CLI_NUMBER("top", request.top, "N", "how many rows to show", .shown = "20"),
 *         CLI_FLAG("json", request.json, "print a JSON object"),
 *         CLI_END,
 *     };
 *
 * In the name of a value, words in capitals are placeholders and everything else is literal: "NUMBER|LABEL",
 * "creators|waits". Each command also has --help. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cli_kind {
    CLI_IS_END,
    CLI_IS_FLAG,
    CLI_IS_TEXT,
    CLI_IS_NUMBER,
    CLI_IS_SIZE,
    CLI_IS_TIME,
    CLI_IS_WORD,
    CLI_IS_CALL,
    CLI_IS_REFUSED,
    CLI_IS_HEADING,
};

struct cli_command;

struct cli_option {
    enum cli_kind kind;
    const char *name;
    char letter;
    void *to;
    uint8_t bytes; /* of what to points to */
    const char *value;
    const char *help;              /* ends with a colon: the words follow */
    const char *shown;             /* the default, as text; NULL: not shown */
    bool *given;                   /* becomes true; may be NULL */
    const char *alone;             /* the value is optional; this one is used if it is missing */
    bool required;                 /* the option is required */
    uint64_t least, most;          /* of a number, a size or a time; most = 0: no limit */
    const char *const *words;      /* the allowed words; ends with NULL */
    const char *(*word)(unsigned); /* … or a function that returns them, then NULL */
    bool list;                     /* several words, separated by commas, each sets a bit */
    unsigned first;                /* the value of the first word */
    const char *completes;         /* see cli_command; NULL: no completion */
    void (*call)(const struct cli_command *c, const struct cli_option *o, const char *value);
};

/* Further arguments set fields: .letter = 'o', .shown = "64M" … */
#define CLI_OF(...)                                                                                \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define CLI_END CLI_OF(.kind = CLI_IS_END)
#define CLI_OPTION(kind_, name_, to_, help_, ...)                                                  \
    CLI_OF(.kind = kind_, .name = name_, .to = &(to_), .bytes = sizeof(to_), .help = help_,        \
           __VA_ARGS__)
/* A bool becomes true. */
#define CLI_FLAG(name_, to_, help_, ...) CLI_OPTION(CLI_IS_FLAG, name_, to_, help_, __VA_ARGS__)
/* A const char * becomes the value, borrowed; with .words it must be one of them. */
#define CLI_TEXT(name_, to_, value_, help_, ...)                                                   \
    CLI_OPTION(CLI_IS_TEXT, name_, to_, help_, .value = value_, __VA_ARGS__)
/* A uint32_t or uint64_t becomes the number. */
#define CLI_NUMBER(name_, to_, value_, help_, ...)                                                 \
    CLI_OPTION(CLI_IS_NUMBER, name_, to_, help_, .value = value_, __VA_ARGS__)
/* A uint32_t or uint64_t becomes the bytes of "64M". */
#define CLI_SIZE(name_, to_, value_, help_, ...)                                                   \
    CLI_OPTION(CLI_IS_SIZE, name_, to_, help_, .value = value_, __VA_ARGS__)
/* An int64_t becomes the nanoseconds of "39.5ms". */
#define CLI_TIME(name_, to_, value_, help_, ...)                                                   \
    CLI_OPTION(CLI_IS_TIME, name_, to_, help_, .value = value_, __VA_ARGS__)
/* An enum becomes .first and the index of the word among .words, .word. */
#define CLI_WORD(name_, to_, value_, help_, ...)                                                   \
    CLI_OPTION(CLI_IS_WORD, name_, to_, help_, .value = value_, __VA_ARGS__)
/* call_ is called with the value; with NULL if value_ is NULL. */
#define CLI_CALL(name_, call_, value_, help_, ...)                                                 \
    CLI_OF(.kind = CLI_IS_CALL, .name = name_, .call = call_, .value = value_, .help = help_,      \
           __VA_ARGS__)
/* An option that cannot be used here; why_ is the reason shown. It is not listed. value_: the name of its value, or
 * NULL. */
#define CLI_REFUSED(name_, value_, why_)                                                           \
    CLI_OF(.kind = CLI_IS_REFUSED, .name = name_, .value = value_, .help = why_)
/* Not an option: a heading above those that follow. */
#define CLI_HEADING(text_) CLI_OF(.kind = CLI_IS_HEADING, .help = text_)

/* How a value or an operand is completed: */
#define CLI_FILES "*"                          /* any file; "svg|png": those with such endings */
#define CLI_FOLDERS "/"                        /* folders */
#define CLI_TRACES "ctf|weft|trace|events|fxt" /* traces, and Xen domains that offer one */
#define CLI_PROFILES "samples|weft|trace|data" /* the same for profiles */
#define CLI_PROCESSES "@processes"
#define CLI_USERS "@users"

struct cli_command {
    const char *name;
    const char *summary; /* one line */
    /* The forms of usage, without "weft NAME", one per line. "@" stands for all options. */
    const char *usage;
    /* What it does: paragraphs for --help. A line that begins with spaces is a list item. */
    const char *about;
    const struct cli_option *options;
    /* Another table, used if `wanted` says so, and the text above it in --help. */
    const struct cli_option *others;
    bool (*wanted)(int argc, char **argv);
    const char *others_about;
    const char *more;     /* paragraphs behind the options, or NULL */
    const char *examples; /* one on each line */
    const char
        *missing; /* the error if there are fewer operands than `least`; NULL: "no FILE is given" */
    int least, most;       /* operands; most = 0: no limit */
    const char *completes; /* operands: one of the above */
    const char *const
        *words;   /* … or, from the second operand on, one of these; NULL, or ends with NULL */
    bool program; /* the first operand is a program, the rest are its arguments */
    bool paged;   /* on a terminal, its output goes through a pager */
    bool raw;     /* standard output may receive a file */
    int (*run)(int operands, char **operand); /* returns the exit status */
    struct cli_state {
        void *at;
        size_t bytes;
    } state,
        others_state; /* what the options and run set; tests reset it before they run the command again */
};

#define CLI_STATE(request_) CLI_OF(.at = &(request_), .bytes = sizeof(request_))

/* Parses the command line and sets the options, or prints what is wrong and exits; --help prints and exits. argv[0] is
 * the command's name. Returns the operands; *operands is their number. */
char **cli_parse(const struct cli_command *c, int argc, char **argv, int *operands);

/* The nanoseconds of "39.5ms"; or prints what is wrong and exits. */
int64_t cli_time(const struct cli_command *c, const struct cli_option *o, const char *text);

/* That one of the option's words; or prints what is wrong and exits. */
const char *cli_allowed_word(const struct cli_command *c, const struct cli_option *o,
                             const char *text);

/* Appends to a text in an array of that size; what does not fit is left out. */
void cli_append(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The option is one that users can give, not a heading or a refusal. */
bool cli_is_listed(const struct cli_option *o);

/* The words of an option, then NULL. */
const char *cli_word(const struct cli_option *o, unsigned i);

/* Prints the text of --help. */
void cli_help(const struct cli_command *c);

/* Prints the manual page's part about the options, in Markdown; see tools/make-manual. */
void cli_manual(const struct cli_command *c);

/* Prints what may come next, for shells (../completions). word[0] to word[words - 1] are the words after the command's
 * name; the last one may be incomplete. Each answer ends with a NUL:
 *     "wWORD"               a possible word
 *     "dWORD\tWHAT IT IS"   the same, with a description
 *     "fENDINGS"            a file with such an ending: "svg|png", "*", "/"
 *     "pN"                  the command line of a program, which begins N words behind the command's name
 *     "u"                   a user */
void cli_complete(const struct cli_command *c, int words, char **word);
void cli_complete_word(const char *word, const char *what);

/* The closest name, if it is close enough for a typing error; else NULL. next returns one name after the other, then
 * NULL. */
const char *cli_nearest(const char *typed, const char *(*next)(const void *data, size_t i),
                        const void *data);
