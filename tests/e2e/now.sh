#!/bin/bash
# SPDX-License-Identifier: ISC
# What waits for what in processes that hang and that nobody has prepared: ../now/hang.c, and what now.py knows of it.
. "$(dirname "$0")/lib.sh"
: "${NOW:?the folder of tests/now}"
[ "$(uname -m)" = x86_64 ] || skip "not tried on $(uname -m)"
[ -r /proc/self/syscall ] || skip 'this kernel does not say where threads wait'
cd "$tmp"

for program in hang hang_O0; do
    run 0 python3 "$SOURCE_ROOT/tests/e2e/now.py" "$NOW/graph" "$NOW/$program"
    cat "$tmp/out"
done
# As on most machines, where the C library has no debug information.
if unshare -m mount -t tmpfs none /usr/lib/debug 2>/dev/null; then
    # shellcheck disable=SC2016
    run 0 unshare -m sh -c 'mount -t tmpfs none /usr/lib/debug && exec "$@"' sh \
        python3 "$SOURCE_ROOT/tests/e2e/now.py" "$NOW/graph" "$NOW/hang"
    cat "$tmp/out"
fi

# musl, within the program: with and without symbols
if command -v musl-gcc >/dev/null; then
    cat >two.c <<'END'
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t one, other;
static pthread_barrier_t both;
static void *backward(void *nothing)
{
    pthread_mutex_lock(&other);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&one);
    return nothing;
}
int main(void)
{
    pthread_t thread;
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&one, &attr);
    pthread_mutex_init(&other, &attr);
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&thread, NULL, backward, NULL);
    pthread_mutex_lock(&one);
    pthread_barrier_wait(&both);
    return pthread_mutex_lock(&other);
}
END
    musl-gcc -static -O1 -g -o two two.c
    musl-gcc -static -O1 -s -o bare two.c
    for program in two bare; do
        "./$program" &
        pid=$!
        locked() { "$NOW/graph" "$pid" | grep -q '^cycles 1$'; }
        wait_for locked
        run 0 "$NOW/graph" "$pid"
        [ "$program" = bare ] || says "$tmp/out" "^link thread [0-9]+ 'two' → locks → mutex other$"
        kill -9 "$pid"
        wait "$pid" || :
    done
fi

# A lock that a thread had when its process was forked
mkfifo "$tmp/words"
exec {words}<>"$tmp/words"
"$NOW/hang" forked >&"$words" &
parent=$!
read -r _ child <&"$words"
child_waits() {
    [ "$(cut -d' ' -f1 "/proc/$child/syscall")" = "$("$NOW/hang" calls | sed -n 's/^futex //p')" ]
}
wait_for child_waits
run 0 "$NOW/graph" "$child"
says "$tmp/out" "mutex log_lock; thread [0-9]+ of process $parent held it when this process was forked from that one: nobody here can unlock it$"
kill -9 "$parent"
wait "$parent" || :

# In another namespace threads have other numbers, and so have the owners of locks.
if unshare -pf --mount-proc true 2>/dev/null; then
    mkfifo "$tmp/never" "$tmp/said"
    exec {input}<>"$tmp/never" {said}<>"$tmp/said"
    unshare -pf --mount-proc "$NOW/hang" abba <&"$input" >&"$said" 2>/dev/null &
    keeper=$!
    read -r _ <&"$said"
    pid=$(cat "/proc/$keeper/task/$keeper/children")
    pid=${pid% }
    both_wait() {
        [ "$(cat "/proc/$pid/task"/*/syscall | grep -c "^$futex ")" -eq 2 ]
    }
    futex=$("$NOW/hang" calls | sed -n 's/^futex //p')
    wait_for both_wait
    run 0 "$NOW/graph" "$pid"
    says "$tmp/out" "^link mutex log_lock → is held by → thread [0-9]+ 'hang'$"
    says "$tmp/out" '^cycles 1$'
    kill -9 "$pid"
    wait "$keeper" || :
fi
finish
