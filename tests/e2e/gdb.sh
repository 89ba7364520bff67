#!/bin/bash
# SPDX-License-Identifier: ISC
# The command weft of gdb (data/gdb/weft.py): of a process that it has started, of one that it attaches to, of a core, and of
# one behind gdbserver.
. "$(dirname "$0")/lib.sh"
: "${CRASHING:?}" "${RECORDED:?}"
command -v gdb >/dev/null || missing 'gdb is not installed'
[ "$(gdb -nx -batch -ex 'python print(6 * 7)' 2>/dev/null)" = 42 ] || missing 'this gdb has no Python'
case $(uname -m) in x86_64 | aarch64) ;; *) skip "not tried on $(uname -m)" ;; esac
! grep -q -e __asan_init -e __tsan_init "$CRASHING" || skip 'the core of a program with a sanitizer has terabytes of shadow'
cd "$tmp"
export DEBUGINFOD_URLS='' WEFT_TRACE_SIZE=1M WEFT
script=$SOURCE_ROOT/data/gdb/weft.py

# debug ARGUMENT...: gdb with the script. Its status is that of the last command.
debug() {
    local status=0
    checks=$((checks + 1))
    gdb -nx -q -batch -iex 'set debuginfod enabled off' -ex 'set width 1000' -ex "source $script" "$@" \
        >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
    [ "$status" -lt 2 ] || fail "status $status of gdb: $*"
}

# A process that it has started, before, while and after it records
debug -ex weft -ex 'break main' -ex 'set environment WEFT_TRACE_SIZE=1M' -ex "set environment WEFT_TRACE=$tmp/t.weft" -ex run -ex 'weft info' \
    -ex continue -ex 'weft promises' -ex 'weft explain --json' -ex 'weft --promise "select 7"' -ex kill -ex weft --args "$CRASHING" segv
grep -q -i -e 'ptrace' -e 'Operation not permitted' "$tmp/err" && skip 'gdb may not trace here'
mv "$tmp/out" said
mv "$tmp/err" complained
equal 'there is no process, at first and at last' 2 "$(grep -c 'weft: there is no process' complained)"
equal 'a command that fails ends nothing' 1 "$(grep -c 'received signal SIGSEGV' said)"
"$WEFT" promises t.weft | cut -f 1,2,8 >expected
grep -P '^([0-9]+|id)\t.*\t.*\t' said | cut -f 1,2,8 >found
same 'promises of the process' expected found
says said '"nothing_recorded": false'
says said '"ended": "still running"'
says said "^'select 7' \(query 4\)"
equal 'its trace when it had recorded nothing' 1 "$(grep -c '^  events  *0$' said)"
silent <(ls -d "${TMPDIR:-/tmp}"/weft-????????/process-* 2>/dev/null)

# One that it attaches to, and a core of it
mkfifo ready
WEFT_TRACE=$tmp/a.weft "$CRASHING" wait >ready &
read -r _ pid <ready
debug -ex 'weft dump' -ex weft -ex 'generate-core-file a.core' -ex detach -p "$pid"
grep -E '^[0-9]+ [0-9]+ [a-z_]+ [a-z]+=' "$tmp/out" >found
"$WEFT" dump a.weft >expected
same 'events of the process' expected found
says "$tmp/out" "process-$pid: nothing found in 8 events"
# What is pending, as a tree
pending() {
    tr -s ' \n' ' ' <"$tmp/out" >text
    says text " 'accept' \(listener 1\), pending for [^(]* created 'from 192\.0\.2\.7' \(connection 2\), pending for [^(]* created 'GET /users/7' \(request 3\), pending for [^(]*, runs on thread [0-9]+ "
}
pending
kill -0 "$pid" || fail 'it does not go on'
kill -KILL "$pid"
wait "$pid" 2>/dev/null || :
debug -ex 'weft dump' -ex weft -ex 'weft --now' "$CRASHING" a.core
grep -E '^[0-9]+ [0-9]+ [a-z_]+ [a-z]+=' "$tmp/out" >found
same 'events of the core' expected found
pending
says "$tmp/out" "a\.core: process $pid 'crashing': its core was made without a signal"
[ "$(uname -m)" != x86_64 ] || says "$tmp/out" 'locks mutex table_lock'

# On another machine, as far as gdb knows
if command -v gdbserver >/dev/null; then
    debug -ex "target extended-remote | gdbserver --once - $CRASHING segv" -ex continue -ex weft
    says "$tmp/err" 'weft: the process records nothing; start it with WEFT_TRACE=FILE'
    rm -f t.weft
    debug -ex "target extended-remote | env WEFT_TRACE=$tmp/t.weft gdbserver --once - $CRASHING segv" -ex continue -ex 'weft dump'
    grep -E '^[0-9]+ [0-9]+ [a-z_]+ [a-z]+=' "$tmp/out" >found
    "$WEFT" dump t.weft >expected
    same 'events of a process behind gdbserver' expected found
fi

# Not linked with weft; stripped of all symbols; a second recorder within
debug -ex starti -ex weft --args "$(command -v true)"
says "$tmp/err" 'weft: the process records nothing; it is not linked with weft'
cp "$CRASHING" bare
strip -s bare 2>/dev/null || objcopy -S bare
debug -ex "set environment WEFT_TRACE=$tmp/t.weft" -ex run -ex 'weft promises' -ex kill --args ./bare segv
says "$tmp/out" '^3	request	2	.*	GET /users/7$'

# What it helps with
debug -ex 'complete weft exp' -ex 'complete weft explain --pro' -ex 'complete weft stats --sort p5' -ex 'help weft' -ex 'weft help' -ex 'weft info --help'
says "$tmp/out" '^weft explain$'
says "$tmp/out" '^weft export$'
says "$tmp/out" '^weft explain --promise'
says "$tmp/out" '^weft stats --sort p50$'
says "$tmp/out" '^Say what the process waits for'
says "$tmp/out" '^usage: weft COMMAND'
says "$tmp/out" '^usage: weft info'
finish
