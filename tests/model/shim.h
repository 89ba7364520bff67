/* SPDX-License-Identifier: ISC */
/* Stands before every source of the recorder that is explored: what these call outside of themselves is host.c's. */
#pragma once

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

void *model_memset(void *to, int byte, size_t bytes);
void *model_memcpy(void *to, const void *from, size_t bytes);
long model_syscall(long number, ...);
void *model_map(size_t bytes);
int model_key_create(pthread_key_t *key, void (*at_exit)(void *));
int model_pause(void);
int model_clock(struct timespec *t);

#undef memset
#undef memcpy
#define memset model_memset
#define memcpy model_memcpy
#define syscall model_syscall
#define mmap(at, bytes, ...) model_map(bytes)
#define munmap(at, bytes) ((void)(at), 0)
#define madvise(at, bytes, advice) 0
#define pthread_key_create model_key_create
#define pthread_key_delete(key) 0
#define pthread_setspecific(key, value) ((void)(value), 0)
#define pthread_atfork(...) 0
#define pthread_setcanceltype(type, before) ((void)(type), *(before) = 0)
#define pthread_setcancelstate(state, before) ((void)(state), *(before) = 0)
#define pthread_sigmask(how, set, before) ((void)(set), (void)(before))
#define prctl(...) 0
#define nanosleep(pause, rest) model_pause()
#define usleep(us) model_pause()
#define clock_gettime(clock, t) ((void)(clock), model_clock(t))

/* A thread that waits for another one's lock learns nothing new by asking again. */
#define LOCK_TRIES 3
