/* SPDX-License-Identifier: ISC */
/* The lines of /proc/PID/net/tcp and the tables like it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { NOW_TCP_ADDRESS = 36, NOW_TCP_CONNECTED = 1, NOW_TCP_LISTENS = 10 };

struct now_tcp {
    char local[NOW_TCP_ADDRESS], remote[NOW_TCP_ADDRESS]; /* hex, as words in this machine's order;
                                                             IPv4 also if the table is that of IPv6 */
    uint32_t local_port, remote_port;
    unsigned state;
    uint64_t inode; /* 0: no process has it open, as a connection that nobody has accepted yet */
};

/* Returns false if the line is none of a socket. */
bool now_tcp_line(const char *line, struct now_tcp *to);
