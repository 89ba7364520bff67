/* SPDX-License-Identifier: ISC */
/* Limits what a worker may do: compute, and talk to the process that started it. */
#ifndef WEFT_SYMBOLS_CONFINE_H
#define WEFT_SYMBOLS_CONFINE_H

#include <stdbool.h>
#include <stdint.h>

/* Defined if a sanitizer reserves more memory than any limit. */
#if defined(__SANITIZE_ADDRESS__)
#define SYMBOLS_SHADOWED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SYMBOLS_SHADOWED 1
#endif
#endif

/* Permanently limits this process: memory, CPU time, no files written; special privileges are
 * dropped. No existing limit is raised. cpu_seconds: 0: no limit. */
void symbols_confine_limits(unsigned cpu_seconds);

/* From now on, the only system calls allowed are those for computing, and for reading and writing
 * what is open. A call that opens a file is sent to the other end of files instead, or fails if
 * that is -1. Does nothing if the kernel has no seccomp. */
void symbols_confine_calls(int files);

/* Limits the CPU time from now on until this process is killed; 0: ends the limit. */
void symbols_confine_time(unsigned ms);

/* ---- Files, from the other side ---- */

enum { SYMBOLS_PATH_BYTES = 4096 };
#define SYMBOLS_ASKED_PATH UINT32_MAX

struct symbols_asked {
    uint32_t number;               /* of something both sides know, or SYMBOLS_ASKED_PATH: */
    char path[SYMBOLS_PATH_BYTES]; /* the path passed to open */
};

/* Sends a file and a number over a socket; fd may be -1; it still belongs to the caller. */
bool symbols_file_send(int to, int fd, int number);
int symbols_file_receive(int from, int *number);

/* Over a pair of SOCK_SEQPACKET. Returns a descriptor; or -1, with the other side's answer in
 * *error. */
int symbols_file_ask(int files, const struct symbols_asked *asked, int *error);

/* Returns false if there is no question. Answer it with symbols_file_send. */
bool symbols_file_asked(int files, struct symbols_asked *asked);

#endif
