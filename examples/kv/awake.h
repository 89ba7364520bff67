/* SPDX-License-Identifier: ISC */
/* Tells weft when the event loop sleeps in poll and when it has woken up.
 *
 * libuv calls prepare handles just before it polls, and check handles after it. But what poll has
 * found ready (sockets, finished work) is called back within the poll, before the check. So each of
 * those callbacks begins with kv_awake(): the first one after a sleep ends it. */
#ifndef KV_AWAKE_H
#define KV_AWAKE_H

#include <uv.h>

void kv_awake_start(uv_loop_t *loop); /* keeps no loop alive */
void kv_awake_stop(void);
void kv_awake(void);

#endif
