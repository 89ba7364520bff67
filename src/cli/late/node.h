/* SPDX-License-Identifier: ISC */
/* Switching on late: a process of another runtime that was started without weft is made to load its adapter, and to
 * record what is pending already. One thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/target.h"

struct cli_late_node {
    const char *path; /* of the trace, as the process sees it */
    uint64_t bytes;   /* of the trace; 0: the default */
    int64_t wait_ns;  /* how long it may take to answer */
    uint32_t pending; /* result: promises that were there before */
};

/* ---- node.c ---- */

/* Returns true if it is a Node.js process. */
bool cli_late_is_node(const struct cli_target *t);

/* Returns 0, the errno with which the recording could not begin, or -1: the reason was printed. The process has then
 * no open inspector that it did not have before, or it was printed that it may open it later. */
int cli_late_node(const struct cli_target *t, struct cli_late_node *l);

/* ---- loop.c: the main event loop of a Node.js process, from its memory ---- */

struct cli_loop {
    int epoll;            /* the descriptor that the loop sleeps in */
    bool handles_sigusr1; /* by a function of its own */
};

/* Returns false if it cannot be found. */
bool cli_loop_read(pid_t pid, struct cli_loop *l);

/* ---- ports.c: the ports on which processes listen ---- */

struct cli_port {
    uint16_t number;
    uint64_t inode;
    const char *
        host; /* where to connect to: "127.0.0.1" or "[::1]"; NULL: it does not listen on the loopback */
    bool own;    /* the process has it open */
    bool served; /* … and its main loop waits for connections to it: it is the program's own */
};

struct cli_ports {
    struct cli_port *port;
    uint32_t count, room;
};

/* Reads what is listened on in the process's network. epoll: of its main loop. The caller frees p->port. False: no
 * memory, or the tables cannot be read. */
bool cli_ports_read(struct cli_ports *p, pid_t pid, int epoll);

/* Returns true if the other end of a connection to that port of the loopback, made from port `from`, belongs to the
 * process. */
bool cli_ports_is_peer(pid_t pid, uint16_t port, uint16_t from);
