/* SPDX-License-Identifier: ISC */
/* A profile from the files of a command line: weft traces with samples, Akaros's streams, perf.data, distinguished by
 * their contents. Several files add up to one profile; the events of one of them say which promise ran.
 *
 *     struct cli_profiles p;
 *     if (cli_profiles_open(&p, paths, count, &(struct cli_profiles_options){.command = "profile"}))
 *         use(p.profile, p.profile->model);
 *     cli_profiles_close(&p);
 *
 * Says what is wrong on standard error, like cli_model. One thread. */
#pragma once

#include "cli/options.h"
#include "profile/calltree.h"
#include "profile/foreign.h"
#include "profile/frames.h"
#include "symbols/symbols.h"

struct cli_profiles_options {
    const char *command;            /* in messages; NULL: "profile" */
    const struct weft_model *model; /* join this one (borrowed) instead of that of a file */
    bool no_model;                  /* do not ask which promise ran: faster */
    bool no_symbols; /* do not look up addresses, except in what the files themselves contain */
    const char *sysroot, *kallsyms; /* as in symbols/symbols.h */
    uint64_t period_ns;             /* of Akaros's streams, as in profile/foreign.h */
    enum weft_foreign from;         /* the format of the files; NONE: detect it */
    bool may_be_empty;              /* a profile without samples is not a failure */
    bool quiet;                     /* no warnings: only why it failed */
};

struct cli_profiles_file {
    const char *path;           /* borrowed */
    enum weft_foreign kind;     /* WEFT_FOREIGN_NONE: a trace */
    uint64_t samples, absences; /* samples that came from it */
    bool events;                /* it has some */
    uint8_t boot_id[16];        /* zeros: not known */
    char *program;              /* command line of what was recorded, or NULL */
    bool damaged;               /* it could only be read in part; that was printed */
    bool this_boot;    /* it is from this machine since it was booted, although it has no boot_id */
    int64_t real_ns;   /* a moment since 1970 … */
    uint64_t clock_ns; /* … and on the clock of the samples; both 0: not known */
};

struct cli_profiles {
    struct weft_profile *profile; /* finished, joined, resolved */
    struct weft_model
        *model; /* that it was joined with, if that came from a file: owned; else NULL */
    struct weft_symbols_stats symbols;
    bool this_boot; /* all of it was recorded on this machine since it was booted */
    struct cli_profiles_file *file;
    unsigned files;
};

/* Fills *p, which can also be closed after a failure. False: the reason is on standard error. Files without any samples
 * are a failure, unless may_be_empty, and the message says how to record some. Files from different boots are not
 * joined, and a message says so. */
bool cli_profiles_open(struct cli_profiles *p, const char *const *path, unsigned paths,
                       const struct cli_profiles_options *o);
void cli_profiles_close(struct cli_profiles *p);

/* For each promise of the joined model, the name it shares with those whose labels differ only in numbers: texts of p
 * ("GET /key-#"), for weft_calltree_options and weft_frames_options. The caller frees it. NULL: no memory. */
uint32_t *cli_profile_families(struct weft_profile *p);

/* Prints a note if a tree of calls had to be truncated. */
void cli_tell_cut(const struct weft_calltree *t);

/* Options that several commands have. */
extern const char *const cli_async_words[];
void cli_take_kallsyms(const struct cli_command *c, const struct cli_option *o, const char *path);
#define CLI_ASYNC_STACKS(to_)                                                                      \
    CLI_WORD("async-stacks", to_, "creators|waits",                                                \
             "below the event loop, go on with who created the promise that ran, and who created " \
             "that; or with who waited for it",                                                    \
             .words = cli_async_words, .first = WEFT_ASYNC_CREATORS, .alone = "creators")
#define CLI_SYSROOT(to_)                                                                           \
    CLI_TEXT("sysroot", to_, "DIR", "look for programs and libraries below DIR",                   \
             .completes = CLI_FOLDERS)
#define CLI_KALLSYMS(to_)                                                                          \
    CLI_CALL("kallsyms", cli_take_kallsyms, "FILE",                                                \
             "the kernel's symbols; /proc/kallsyms for what this system recorded", .to = &(to_),   \
             .completes = CLI_FILES)
#define CLI_NO_SYMBOLS(to_) CLI_FLAG("no-symbols", to_, "take only names that stand in the files")

/* "weft trace", "perf.data" … */
const char *cli_profiles_kind(enum weft_foreign kind);
