/* SPDX-License-Identifier: ISC */
/* What a worker may do: compute, and talk to whoever started it. */
#ifndef WEFT_SYMBOLS_CONFINE_H
#define WEFT_SYMBOLS_CONFINE_H

#include <stdbool.h>
#include <stdint.h>

/* Defined where a sanitizer reserves more memory than any limit. */
#if defined(__SANITIZE_ADDRESS__)
#define SYMBOLS_SHADOWED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SYMBOLS_SHADOWED 1
#endif
#endif

/* Limits this process for good: memory, CPU time, no file written; and where it has rights that others have not, they
 * are gone. No limit is raised that it has already. cpu_seconds: 0: none. */
void symbols_confine_limits(unsigned cpu_seconds);

/* From now on there are no system calls but those that compute, and that read and write what is open. What opens a file
 * asks at the other end of files for it, or fails if that is -1. Where the kernel has no seccomp this does nothing. */
void symbols_confine_calls(int files);

/* CPU time until this process is killed, counted from now; 0: that is over. */
void symbols_confine_time(unsigned ms);

/* ---- Files, from the other side ---- */

enum { SYMBOLS_PATH_BYTES = 4096 };
#define SYMBOLS_ASKED_PATH UINT32_MAX

struct symbols_asked {
    uint32_t number;               /* of what both know, or SYMBOLS_ASKED_PATH: */
    char path[SYMBOLS_PATH_BYTES]; /* what an open was called with */
};

/* A file and a number, over a socket; fd: or -1; it stays the caller's. */
bool symbols_file_send(int to, int fd, int number);
int symbols_file_receive(int from, int *number);

/* Over a pair of SOCK_SEQPACKET. Returns a descriptor; or -1 and in *error what was answered. */
int symbols_file_ask(int files, const struct symbols_asked *asked, int *error);

/* false: there is no question. It is answered by symbols_file_send. */
bool symbols_file_asked(int files, struct symbols_asked *asked);

#endif
