/* SPDX-License-Identifier: ISC */
/* The options of a command, said once: a table makes the parsing, --help, the completion in shells, and the synopsis and
 * list of options in the manual.
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
 * In the name of a value, capitals stand for something and all else is meant literally: "NUMBER|LABEL", "creators|waits".
 * Each command has --help beside these. */
#ifndef WEFT_CLI_OPTIONS_H
#define WEFT_CLI_OPTIONS_H

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
    const char *shown;             /* the default, as text; NULL: nothing is said of it */
    bool *given;                   /* becomes true; may be NULL */
    const char *alone;             /* it may stand without a value, and then means this one */
    bool required;                 /* it may not be left out */
    uint64_t least, most;          /* of a number, a size or a time; most = 0: no limit */
    const char *const *words;      /* which there are; ends with NULL */
    const char *(*word)(unsigned); /* … instead: NULL behind the last one */
    bool list;                     /* several words, separated by commas: bits are set */
    unsigned first;                /* the value of the first word */
    const char *completes;         /* see cli_command; NULL: nothing */
    void (*call)(const struct cli_command *c, const struct cli_option *o, const char *value);
};

/* What further arguments set: .letter = 'o', .shown = "64M" … */
#define CLI_END                                                                                    \
    {                                                                                              \
        .kind = CLI_IS_END                                                                         \
    }
#define CLI_OPTION(kind_, name_, to_, help_, ...)                                                  \
    {                                                                                              \
        .kind = kind_, .name = name_, .to = &(to_), .bytes = sizeof(to_), .help = help_,           \
        __VA_ARGS__                                                                                \
    }
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
/* call_ looks at the value; NULL if value_ is NULL. */
#define CLI_CALL(name_, call_, value_, help_, ...)                                                 \
    {                                                                                              \
        .kind = CLI_IS_CALL, .name = name_, .call = call_, .value = value_, .help = help_,         \
        __VA_ARGS__                                                                                \
    }
/* One that cannot be used here; why_ says so. It is not listed. value_: the name of its value, or NULL. */
#define CLI_REFUSED(name_, value_, why_)                                                           \
    {                                                                                              \
        .kind = CLI_IS_REFUSED, .name = name_, .value = value_, .help = why_                       \
    }
/* No option: a line above those that follow. */
#define CLI_HEADING(text_)                                                                         \
    {                                                                                              \
        .kind = CLI_IS_HEADING, .help = text_                                                      \
    }

/* What completes a value or an operand: */
#define CLI_FILES "*"                          /* any file; "svg|png": those with such endings */
#define CLI_FOLDERS "/"                        /* folders */
#define CLI_TRACES "ctf|weft|trace|events|fxt" /* traces, and Xen domains that offer one */
#define CLI_PROFILES "samples|weft|trace|data" /* the same of profiles */
#define CLI_PROCESSES "@processes"
#define CLI_USERS "@users"

struct cli_command {
    const char *name;
    const char *summary; /* one line */
    /* How it is called, without "weft NAME": a line for each way. "@" stands for all options. */
    const char *usage;
    /* What it does: paragraphs for --help. A line that begins with spaces is one of a list. */
    const char *about;
    const struct cli_option *options;
    /* Another table, which is taken if wanted says so, and the text above it in --help. */
    const struct cli_option *others;
    bool (*wanted)(int argc, char **argv);
    const char *others_about;
    const char *more;     /* paragraphs behind the options, or NULL */
    const char *examples; /* one on each line */
    const char
        *missing; /* what is wrong if there are fewer operands than least; NULL: no FILE is given */
    int least, most;       /* operands; most = 0: no limit */
    const char *completes; /* operands: one of the above */
    const char *const
        *words;   /* … or one of these, from the second one on; NULL, or ends with NULL */
    bool program; /* the first operand is a program, and all behind it is the program's */
    bool paged;   /* what it prints goes through a pager, on a terminal */
    bool raw;     /* what it writes to standard output may be a file */
    int (*run)(int operands, char **operand); /* returns the exit status */
    struct cli_state {
        void *at;
        size_t bytes;
    } state,
        others_state; /* what the options and run set; tests that run it again put it back first */
};

#define CLI_STATE(request_)                                                                        \
    {                                                                                              \
        .at = &(request_), .bytes = sizeof(request_)                                               \
    }

/* Sets what the command line says, or says what is wrong and exits; --help prints and exits. argv[0] is the command's
 * name. Returns the operands, of which there are *operands. */
char **cli_parse(const struct cli_command *c, int argc, char **argv, int *operands);

/* The words of an option, then NULL. */
const char *cli_word(const struct cli_option *o, unsigned i);

/* Prints the text of --help. */
void cli_help(const struct cli_command *c);

/* Prints what the manual page has of the options, in Markdown; see tools/make-manual. */
void cli_manual(const struct cli_command *c);

/* Prints what may come next, for shells (../completions). word[0] to word[words - 1]: what stands on the command line
 * behind the command's name, the last one as far as it is typed. Each answer ends with a NUL:
 *     "wWORD"               a word that may stand there
 *     "dWORD\tWHAT IT IS"   likewise
 *     "fENDINGS"            a file that ends so: "svg|png", "*", "/"
 *     "pN"                  the command line of a program, which begins N words behind the command's name
 *     "u"                   a user */
void cli_complete(const struct cli_command *c, int words, char **word);
void cli_complete_word(const char *word, const char *what);

/* How many letters must be inserted, dropped or replaced to make b of a. */
size_t cli_distance(const char *a, const char *b);

/* The name that is nearest, if it is near enough to be a typing error; else NULL. next hands out one name after the
 * other, then NULL. */
const char *cli_nearest(const char *typed, const char *(*next)(const void *data, size_t i),
                        const void *data);

#endif
