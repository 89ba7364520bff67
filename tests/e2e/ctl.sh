#!/bin/bash
# SPDX-License-Identifier: ISC
# weft ctl: programs are switched on, off and on again from outside, whatever way they are linked and whatever
# they are in the middle of; and who may not do it is told so.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/controlled.sh"
[ -x "${CONTROLLED:-}" ] || skip 'CONTROLLED is not set'
cd "$tmp"
unset WEFT_TRACE WEFT_TRACE_SIZE WEFT_TRACE_FOR WEFT_TRACE_FD
export ASAN_OPTIONS=detect_leaks=0

ctl() { # STATUS ARGUMENTS...: of weft ctl, with the process first and a trace of 1 MiB
    local wanted=$1
    shift
    run "$wanted" "$WEFT" ctl -w 0 "$pid" "$@"
}

on() { ctl 0 on -s 1M "$@"; }

state() { # EXPECTED
    ctl 0 status
    equal state "$1" "$(sed -n 's/^  state    //p' "$tmp/out")"
}

# ---- On, off, on, stop; in programs of all kinds ----
# all_of_it PROGRAM
all_of_it() {
    begin "$1"
    state 'not recording'
    tell rounds 3
    on -o "a.weft"
    says "$tmp/out" "^process $pid: will begin to record with its next call"
    state 'not recording; asked to change with its next call'
    equal 'no trace before that' '' "$(ls a.weft 2>/dev/null)"
    tell rounds 4
    state recording
    says "$tmp/out" "^process $pid: .*, user "
    says "$tmp/out" "^  into     $tmp/a.weft\$"
    says "$tmp/out" '^  events   8 kept, 0 overwritten, 0 discarded$'
    says "$tmp/out" '^  since    20.*, for '
    ctl 1 on -o b.weft
    says "$tmp/err" 'has a recording open'
    ctl 0 on
    says "$tmp/out" "records already, into $tmp/a.weft"
    run 0 "$WEFT" ctl -w 0 a.weft off # by the trace's name
    tell rounds 5
    state paused
    ctl 0 off
    says "$tmp/out" 'is paused already'
    equal 'events while paused' 8 "$(events a.weft)"
    ctl 0 on
    says "$tmp/out" 'will go on to record'
    tell rounds 6
    state recording
    equal 'events after that' 20 "$(events a.weft)"
    ctl 0 stop
    tell rounds 7
    state 'not recording'
    equal events 20 "$(events a.weft)"
    equal 'how it ended' stopped "$(json json 'd["ended"]')"
    equal 'whose it is' 600 "$(stat -c %a a.weft)"
    ctl 0 stop
    says "$tmp/out" 'does not record'
    ctl 1 on -o a.weft
    says "$tmp/err" 'a.weft: is there already'
    # Names of its own, none twice
    for i in 1 2; do
        on
        tell rounds "$i"
        ctl 0 stop
        tell rounds 1
    done
    equal 'events of both' '2 4' "$(events "weft-$pid.trace") $(events "weft-$pid.2.trace")"
    run 1 "$WEFT" ctl a.weft on
    says "$tmp/err" 'a.weft: is finished'
    end
    rm -f ./*.weft ./*.trace
}
programs=("$CONTROLLED" "$CONTROLLED_STATIC" "$CONTROLLED_COPY")
for program in "${programs[@]}"; do
    all_of_it "$program"
    [ -z "${FEW:-}" ] || [ "$program" = "$CONTROLLED" ] || continue
    if strip -o stripped "$program" 2>/dev/null; then
        all_of_it ./stripped
    fi
done
if nm -D "$CONTROLLED_COPY" 2>/dev/null | grep -q ' B weft_impl_state'; then
    checks=$((checks + 1))
else
    echo 'the program without -fPIE has no copy of weft_impl_state here'
fi
if ! grep -q -e __asan_init -e __tsan_init -e __ubsan "$CONTROLLED_STATIC" &&
    cc -static -s -O2 -I "$SOURCE_ROOT/include" -pthread -o alone "$SOURCE_ROOT/tests/tools/controlled.c" \
        "$BUILD_ROOT/src/libweft.a" 2>/dev/null; then
    all_of_it ./alone
    # A library whose notes are not at its start, as they are with musl.
    cc -shared -o libweft.so.1 -Wl,-soname,libweft.so.1,--build-id=none,-z,nodelete \
        "-Wl,--version-script=$SOURCE_ROOT/src/record/weft.map" \
        -Wl,--whole-archive "$BUILD_ROOT/src/libweft.a" -Wl,--no-whole-archive -pthread
    cc -O2 -I "$SOURCE_ROOT/include" -pthread -o noteless "$SOURCE_ROOT/tests/tools/controlled.c" ./libweft.so.1 \
        "-Wl,-rpath,$PWD"
    all_of_it ./noteless
else
    echo 'not tried with a program without any shared library'
fi
silent said

# ---- What it is in the middle of ----
# after LINE EVENTS: switched on, it does that, which makes so many events
after() {
    begin "$CONTROLLED"
    on -o a.weft
    tell "$1"
    state recording
    equal "events after $1" "$2" "$(events a.weft)"
    end
    rm a.weft
}
after handler 2
# A sanitizer's frames are larger than such a stack.
grep -q -e __asan_init -e __tsan_init -e __ubsan "$CONTROLLED_STATIC" || after small 2
after cancel 2
silent said

# A child does not do what its parent was asked, nor is it recorded
for kind in fork _fork; do
    begin "$CONTROLLED"
    on -o a.weft
    equal "a child by $kind" '' "$(tell $kind)"
    state 'not recording; asked to change with its next call'
    tell rounds 1
    state recording
    equal "a child by $kind, of one that records" '' "$(tell $kind)"
    state recording
    tell rounds 1
    equal "events of the parent alone" 4 "$(events a.weft)"
    ctl 0 stop
    tell rounds 1
    equal "events at the end" 4 "$(events a.weft)"
    end
    rm a.weft
done

# exec: the new program has not been asked, and can be
begin "$CONTROLLED"
on -o a.weft
tell exec
state 'not recording'
on -o a.weft
tell rounds 1
equal 'events after exec' 2 "$(events a.weft)"
tell exec
state 'not recording'
run 1 "$WEFT" ctl a.weft stop
says "$tmp/err" 'a.weft: is not recorded into any more'
end
rm a.weft

# Any call counts, also one about a promise that is older than the recording
begin "$CONTROLLED"
calls=$(tell zero 0 | sed 's/of //')
equal 'there are some' yes "$([ "$calls" -gt 20 ] && echo yes)"
for ((call = 1; call <= calls; call++)); do
    on -o "$call.weft" -s 64K
    send zero "$call"
    equal "call $call" "of $calls" "$(answer)"
    state recording
    ctl 0 stop
    send zero "$call"
    equal "call $call again" "of $calls" "$(answer)"
    state 'not recording'
done
end
rm -f ./*.weft

# The program's own calls and the others' agree
begin "$CONTROLLED"
tell standby
on -o a.weft
tell pause
tell rounds 1
state recording
tell pause
state paused
ctl 0 on
tell unpause
tell rounds 1
state recording
ctl 0 off
tell unpause # it is the last to speak, but off is done with the next call
tell rounds 1
state paused
tell unpause
tell rounds 1
equal events 6 "$(events a.weft)"
tell stop
state 'not recording'
on -o b.weft
equal 'weft_start is first' '' "$(tell start c.weft)"
tell rounds 1
state recording
says "$tmp/out" '^  into     .*c.weft$'
equal 'the other trace' '' "$(ls b.weft 2>/dev/null)"
end
rm -f ./*.weft

# What ends while it is off is pending in the trace: that is no hang.
explained() { # STATUS FINDING...: of weft explain --check, and what it finds at all, also if it has only just begun
    run "$1" "$WEFT" explain --check --all --hang 1us --json a.weft
    equal 'what it finds' "$2" "$(json "$tmp/out" '" ".join(f["name"] + " " + f["confidence"] for f in d["findings"])')"
}

paused() { # EXPECTED: whether weft info says that it was off, and is on again
    run 0 "$WEFT" info --json a.weft
    equal 'off, on again' "$1" "$(json "$tmp/out" '[d["provenance"][k] is not None for k in ("paused_real_ns", "resumed_real_ns")]')"
}

begin "$CONTROLLED"
on -o a.weft
tell hang
paused '[False, False]'
explained 3 'hang-root likely'
ctl 0 off
tell reply
paused '[True, False]'
run 0 "$WEFT" info a.weft
says "$tmp/out" '^  paused        20.* UTC$'
says "$tmp/out" '^  resumed       not any more$'
explained 0 'hang-root possible'
says "$tmp/out" 'the recording was off for a time'
run 0 "$WEFT" save -o b.weft a.weft
ctl 0 on
tell rounds 1
paused '[True, True]'
run 0 "$WEFT" info a.weft
says "$tmp/out" '^  resumed       20.* UTC$'
explained 0 'hang-root possible'
run 0 "$WEFT" explain a.weft
says "$tmp/out" '^The recording was off, the last time from '
ctl 0 stop
tell rounds 1
explained 0 'hang-root possible'
mv b.weft a.weft # a copy that was made while it was off
paused '[True, False]'
explained 0 'hang-root possible'
end
rm -f ./*.weft

# … unless it is waited for since then, or begins then; and the same by the program itself.
for kind in ctl own; do
    begin "$CONTROLLED"
    on -o a.weft
    tell hang
    if [ "$kind" = ctl ]; then
        ctl 0 off
        tell rounds 1
        ctl 0 on
    else
        tell pause
        tell unpause
    fi
    tell again
    paused '[True, True]'
    explained 3 'hang-root likely'
    tell reply
    tell pause
    tell pause
    tell hang
    kill -9 "$pid"
    wait "$pid" || :
    exec {to}>&- {from}<&-
    paused '[True, False]'
    explained 0 'lost-wakeup possible' # the first one was told of nothing, and may have gone on
    rm -f ./*.weft
done

# At work: the time from the command to the first event
begin "$CONTROLLED"
tell churn 4
run 0 "$WEFT" ctl -s 8M -o a.weft "$pid" on
says "$tmp/out" "^process $pid: records into $tmp/a.weft, [0-9.]+ .?s after the command \([0-9.]+ .?s until (its next call|it was interrupted), [0-9.]+ .?s to begin\)(\. It was stopped for .*)?\$"
cat "$tmp/out"
for _ in 1 2 3 4 5 6 7 8 9 10; do
    run 0 "$WEFT" ctl "$pid" off
    says "$tmp/out" 'is paused'
    run 0 "$WEFT" ctl "$pid" on
    says "$tmp/out" 'records into'
done
run 0 "$WEFT" info a.weft
for i in 1 2 3 4 5 6 7 8 9 10; do
    run 0 "$WEFT" ctl "$pid" stop
    says "$tmp/out" 'has ended the recording'
    run 0 "$WEFT" ctl -s 64K -o "r$i.weft" "$pid" on
done
# Many at once: each does something whole, one after the other
asking=()
for i in 1 2 3 4 5 6 7 8; do
    for what in on off status; do
        "$WEFT" ctl "$pid" "$what" >>many 2>&1 &
        asking+=($!)
    done
done
for asker in "${asking[@]}"; do wait "$asker" || :; done
equal 'who failed' '' "$(grep ^weft many)"
run 0 "$WEFT" ctl "$pid" stop
# … and the process is killed meanwhile
asking=()
for i in 1 2 3 4; do
    "$WEFT" ctl -s 64K -o "k$i.weft" "$pid" on >>killed 2>&1 &
    asking+=($!)
done
kill -9 "$pid"
# One by one: bash's wait -f of several can run for ever where one was killed.
for asker in "${asking[@]}"; do wait "$asker" || :; done
exec {to}>&- {from}<&-
equal 'what weft says then' '' "$(grep -v -e 'has ended meanwhile' -e 'has just ended' -e 'there is none' -e 'records' killed)"
rm -f ./*.weft

# ---- Several copies of the library in one process: each records for itself, or they are one ----
begin "$PLUGGED" "$PLUGIN_ONE" "$PLUGIN_TWO"
ctl 0
equal 'copies' 2 "$(grep -c '^  state    not recording$' "$tmp/out")"
on -o a.weft
tell 5
ctl 0
equal 'copies that record' 2 "$(grep -c '^  state    recording$' "$tmp/out")"
equal 'events of each' '10 20' "$( (events a.weft && events a.weft.2) | sort -n | tr '\n' ' ' | sed 's/ $//')"
ctl 0 stop
tell 1
ctl 0
equal 'copies that have ended' 2 "$(grep -c '^  state    not recording$' "$tmp/out")"
send x
end
rm -f ./a.weft*
: >said
begin env WEFT_TRACE=a.weft WEFT_TRACE_SIZE=1000000 "$PLUGGED" "$PLUGIN_ONE" "$PLUGIN_TWO"
tell 5
equal 'events of the first' 10 "$(events a.weft)"
says said '^weft: a.weft: is being written by another copy of libweft in this process'
send x
end
rm -f ./a.weft*
: >said
# (An allocator may have made one or two meanwhile.)
left=$(WEFT_TRACE=a.weft WEFT_TRACE_SIZE=1000000 "$PLUGGED" --again "$PLUGIN_ONE")
equal 'mappings left by a plug-in that was loaded 20 times' none "$([ "$left" -lt 5 ] && echo none || echo "$left")"
rm -f ./a.weft*
cp "$BUILD_ROOT/src/libweft.so.1" other.so 2>/dev/null || cp "$BUILD_ROOT"/src/libweft.so.1.* other.so
begin env WEFT_TRACE=a.weft LD_PRELOAD="$tmp/other.so" "$CONTROLLED"
tell rounds 5
ctl 0
equal 'recorders, under two names' 1 "$(grep -c '^  state    recording$' "$tmp/out")"
equal 'events of both as one' 10 "$(events a.weft)"
end
silent said
rm -f ./a.weft*

# ---- What cannot be ----
ctl 1 on
says "$tmp/err" "^weft: process $pid: there is none"
if [ "$(cat /proc/2/comm 2>/dev/null)" = kthreadd ]; then
    run 1 "$WEFT" ctl 2 on
    says "$tmp/err" '^weft: process 2: (has no memory: it is a thread of the kernel|belongs to another user)'
fi
run 1 "$WEFT" ctl nowhere on
says "$tmp/err" '^weft: nowhere: No such file'
echo no >text
run 1 "$WEFT" ctl text on
says "$tmp/err" '^weft: text: is no trace'
pid=$$
ctl 1 on
says "$tmp/err" "is not linked with weft .*; weft explain [0-9]+ says what it waits for now"
for words in '' '1 2 3' "$$ maybe" "$$ off -o x" "$$ on -s 1" "$$ on -o" "$$ on -w x"; do
    # shellcheck disable=SC2086
    run 2 "$WEFT" ctl $words
    says "$tmp/err" '^weft ctl: .*; see weft ctl --help$'
done
begin "$CONTROLLED"
on -o nowhere/a.weft
tell rounds 1
state 'not recording'
run 0 "$WEFT" ctl -w 0 -s 1M -o nowhere/a.weft "$pid" on
tell rounds 1
tell churn 1
run 1 "$WEFT" ctl -o nowhere/a.weft "$pid" on
says "$tmp/err" 'nowhere/a.weft: cannot be created by it: there is no such folder'
run 1 "$WEFT" ctl -o big.weft -s 1T "$pid" on
says "$tmp/err" 'big.weft: needs more room than the disk has'
end
equal 'traces' '' "$(ls ./*.weft 2>/dev/null)"

# Another user
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    chmod 755 "$tmp"
    cp "$WEFT" weft
    cp "$CONTROLLED_STATIC" controlled_static
    mkdir -m 777 open
    nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
    begin "$CONTROLLED"
    run 1 nobody ./weft ctl "$pid" on
    says "$tmp/err" 'belongs to another user \(0\); only that one and root can switch it'
    run 1 nobody ./weft ctl "$pid" status
    says "$tmp/err" 'belongs to another user'
    tell rounds 1
    state 'not recording'
    end
    begin setpriv --reuid 65534 --regid 65534 --clear-groups ./controlled_static
    run 0 nobody ./weft ctl -w 0 -s 1M -o open/a.weft "$pid" on
    tell rounds 1
    run 0 nobody ./weft ctl "$pid"
    says "$tmp/out" '^  state    recording$'
    says "$tmp/out" '^  events   2 kept'
    run 0 nobody ./weft ctl -w 0 "$pid" stop
    tell rounds 1
    mkdir -m 755 closed
    tell churn 1
    run 1 "$WEFT" ctl -s 1M -o closed/a.weft "$pid" on # root asks, the user creates
    says "$tmp/err" 'closed/a.weft: may not be created by it; with -o give a place where its user may write'
    run 0 "$WEFT" ctl -s 1M -o open/b.weft "$pid" on
    equal 'whose the trace is' 65534 "$(stat -c %u open/b.weft)"
    # It hides: its trace can be seen, but not switched
    tell hide
    run 1 nobody ./weft ctl "$pid" off
    says "$tmp/err" 'has hidden itself'
    end
    rm -rf open
    chmod 700 "$tmp"
else
    echo 'not tried as another user: only root can be one'
fi

# Another mount namespace, another pid namespace
if unshare -mp --fork --kill-child --mount-proc true 2>/dev/null; then
    mkdir inner
    # shellcheck disable=SC2016 # the inner shell's
    begin unshare -mp --fork --kill-child --mount-proc bash -c 'mount -t tmpfs none "$0/inner" && exec "$1"' "$tmp" "$CONTROLLED"
    outer=$pid
    pid=$(pgrep -P "$outer")
    on -o inner/a.weft
    says "$tmp/err" "sees other folders than we do; what it calls $tmp/inner/a.weft is /proc/$pid/root$tmp/inner/a.weft here"
    tell rounds 2
    state recording
    says "$tmp/out" '^  events   4 kept'
    equal 'the trace, here' '' "$(ls inner)"
    equal 'the trace, there' 4 "$(events "/proc/$pid/root$tmp/inner/a.weft")"
    ctl 0 stop
    tell rounds 1
    pid=$outer
    end
else
    echo 'not tried with namespaces: no right to make them'
fi
finish
