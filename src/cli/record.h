/* SPDX-License-Identifier: ISC */
/* weft record: what its files share. */
#pragma once

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/watcher/watcher.h"

/* Sets a variable of the environment to both texts with the separator between them; a text may be "" or NULL. */
void cli_env_join(const char *variable, const char *first, char separator, const char *second);

/* Sets a variable of the environment to a number. */
void cli_env_number(const char *variable, uint64_t number);

/* ---- record_keep.c: keeps what was recorded last when conditions hold, while the program runs ---- */

struct cli_record_keep {
    struct cli_watcher *w; /* NULL: nothing is kept */
    pid_t pid;             /* of the process that does it */
    int line;              /* to it; -1: there is none */
};

struct cli_record_kept {
    const char *path;     /* of the program's trace */
    const char *children; /* pattern of its children's, or "" */
    int memory;           /* the trace itself, or -1 */
    const char *samples;  /* path of the file into which the program is sampled, or NULL */
    uint64_t begun_ns;    /* CLOCK_MONOTONIC: when that began */
    pid_t pid;            /* the program */
    const int *signal;    /* those that conditions wait for */
    unsigned signals;
};

/* The program was forked. k->w is set; of is borrowed until the end. */
void cli_record_keep_start(struct cli_record_keep *k, const struct cli_record_kept *of);

/* The program has ended: waits until everything is kept. */
void cli_record_keep_end(struct cli_record_keep *k, int status);

/* ---- record_xen.c: the trace is not in a file but in pages of this Xen guest that the control domain may read ---- */

/* The range of bytes. */
#define CLI_XEN_MIN_BYTES (UINT64_C(72) << 10)
#define CLI_XEN_MAX_BYTES (UINT64_C(3900) << 20)

/* Runs the program with libweft-xen loaded into it. Returns weft's exit status if it cannot be executed; otherwise does
 * not return: weft ends the way the program did. */
int cli_record_xen(uint64_t bytes, char **argv);

/* ---- program.c: examines a program's file: why it may have recorded nothing ---- */

struct cli_why {
    char text[512];
    bool unlinked;  /* it is a program without weft linked into it */
    bool is_script; /* for a program that is none of weft's runtimes */
    bool of_ocaml;
};

/* Why the program, named like this on a command line, did not even begin to record, as far as its file shows: a part of
 * a sentence. */
struct cli_why cli_program_why(const char *name);

/* What decides whether libraries are loaded into a program by LD_PRELOAD. */
struct cli_program {
    const char *refuses; /* why nothing can be loaded into it: a part of a sentence; or NULL */
    bool
        harmless; /* it does not notice if the variable is set, so that what it starts can be recorded */
    bool has_weft; /* weft is linked into it */
};
struct cli_program cli_program_look(const char *name);

/* For a script, the text after "#!" in its first line. False: it is not a script. */
bool cli_program_script(const char *name, char *line, size_t size);

/* ---- runtimes.c: what is injected into programs of other runtimes (adapters/), through their environment ---- */

/* Parses "python,node,ocaml" or "none" into bits. False: unknown name. */
bool cli_runtimes_parse(const char *list, unsigned *chosen);

#define CLI_RUNTIMES_ALL (~0u)
enum { CLI_PYTHON, CLI_NODE, CLI_OCAML }; /* their bits */

/* Sets the environment that the chosen runtimes need; existing values are kept. sampled: they also have to provide the
 * names of their functions. memory: as in weft record --memory. Call it in the child, before it becomes the program
 * (argv). */
void cli_runtimes_set(unsigned chosen, bool sampled, bool memory, char **argv);

/* The folder of the adapter for Python (CLI_PYTHON) or Node.js. False: it is not installed. */
bool cli_runtimes_folder(unsigned runtime, char *folder, size_t size);

/* Returns true if only cli_runtimes_set, and not also the user, made them provide these names; then
 * cli_runtimes_drop_names removes the files of names that a process has written, once they have been read. */
bool cli_runtimes_names(unsigned chosen);
void cli_runtimes_drop_names(pid_t pid);

/* Prints what is installed, and what each can see. */
void cli_runtimes_list(void);

/* Why a program of a runtime has recorded nothing. Leaves *why unchanged if it is not such a program. */
void cli_runtimes_why(char **argv, unsigned chosen, struct cli_why *why);

/* ---- children.c: the traces of processes that a recorded program has forked; record/follow.c writes them ---- */

/* The pattern of their names, with %p for the process id, for a program that records into path: either the given name
 * contains %p, or "-%p" is inserted before its ending. False: it is too long. */
bool cli_children_pattern(char *pattern, size_t size, const char *path, const char *given);

/* Returns true if the program of this trace forked while it was recorded. */
bool cli_children_there(const char *path);

/* Lists on standard error the traces that were begun since then (CLOCK_MONOTONIC), except that of the program itself.
 * Returns how many. */
unsigned cli_children_tell(const char *pattern, pid_t program, uint64_t since_ns);

/* Adds names to those that are not being recorded any more (names.h). */
void cli_children_name(const char *pattern, pid_t program, uint64_t since_ns);

/* Calls the function for each of their processes. */
void cli_children_each(const char *pattern, pid_t program, uint64_t since_ns, void (*call)(pid_t));

/* Renames the trace of the first child that began since then to path. Returns its process; 0: there is none, or it
 * cannot be renamed. */
pid_t cli_children_adopt(const char *pattern, uint64_t since_ns, const char *path);

/* A name as it is shown: without the folder, if that is the current directory. */
const char *cli_children_shown(const char *path);

/* ---- rings.c: unmodified OCaml 5 programs ----
 *
 * Their runtime is made to write its events into ring files, in a folder of weft's own, which are read while the program
 * runs. A thread does that, so that nothing else waits for it.
 *
 *     cli_rings_init(&r);                 before the program is started
 *     cli_rings_set(&r);                  in the child, which becomes the program
 *     cli_rings_start(&r, …);             when the process id is known
 *     cli_rings_stop(&r);                 when it has ended, or could not be started */

#define CLI_RINGS_MAX 64 /* processes at the same time; others wait until one has ended */

struct sample_drain;

struct cli_rings_program {
    const char *path; /* of its trace */
    const char *
        children; /* pattern of other processes' traces, from cli_children_pattern; "": they are not recorded */
    char *const *argv;
    uint64_t bytes;    /* of each trace */
    uint64_t begun_ns; /* CLOCK_MONOTONIC: when that began */
    pid_t pid;
};

struct cli_rings {
    char folder[PATH_MAX]; /* "": nothing is recorded */
    bool own;              /* the folder is ours */
    bool preserve;         /* files stay there */
    unsigned log2_words;   /* size of a ring; 0: the user's setting */
    struct cli_rings_program program;
    struct sample_drain *drain[CLI_RINGS_MAX];
    unsigned drains;
    pid_t *done; /* whose files stay, and have been read */
    uint32_t dones, done_room;
    unsigned silent;       /* traces of other processes with nothing but collections */
    int folder_watch, end; /* inotify; an eventfd */
    pthread_t thread;
    bool runs;
    int error;
};

/* Finds a place for ring files. If there is none, OCaml is not recorded. */
void cli_rings_init(struct cli_rings *r);

/* Sets the environment. */
void cli_rings_set(const struct cli_rings *r);

void cli_rings_start(struct cli_rings *r, const struct cli_rings_program *p);

/* Call it when the program has ended: reads the rest and removes what is no longer needed. Prints what is wrong. */
void cli_rings_stop(struct cli_rings *r);

/* ---- drain.c: copies a ring file of OCaml's runtime (format/ocaml.h) into a trace while the process that writes it
 * runs. What cannot be read or written is lost and counted; nothing waits for it. One thread at a time. ---- */

/* p: borrowed. events: the ring file of that process; path: of its trace. A trace that is there and was begun after p is
 * the process's own. NULL: no memory. */
struct sample_drain *cli_drain_new(const struct cli_rings_program *p, pid_t pid, const char *events,
                                   const char *path);

/* Reads everything that is there. Returns how full the fullest ring was, in thousandths; 1000: it overflowed. */
unsigned cli_drain_round(struct sample_drain *d);

/* Returns true if the process has ended. */
bool cli_drain_ended(const struct sample_drain *d);

struct cli_drained {
    pid_t pid;
    bool says; /* the program itself has recorded something: its trace is worth keeping */
    int error; /* 0, or the errno with which the trace could not be written */
};
const struct cli_drained *cli_drained(const struct sample_drain *d);

/* Records the state of the process in the trace, and frees d. keep: false removes the trace. */
void cli_drain_close(struct sample_drain *d, bool keep);
