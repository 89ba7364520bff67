#!/bin/bash
# SPDX-License-Identifier: ISC
# Functions that a program knows only by address: weft record and weft save find their names, with debug information, with symbols
# alone, and without both.
. "$(dirname "$0")/lib.sh"
[ -x "${PLACES:-}" ] || skip 'PLACES is not set'
command -v strip >/dev/null || missing 'there is no strip'
cd "$tmp"
unset WEFT_TRACE WEFT_TRACE_SIZE WEFT_TRACE_FOR WEFT_TRACE_FORK
export ASAN_OPTIONS=detect_leaks=0
source=tests/tools/places.c
on_read=$(grep -n 'static int on_read' "$SOURCE_ROOT/$source" | cut -d: -f1)
on_timer=$(grep -n 'static int on_timer' "$SOURCE_ROOT/$source" | cut -d: -f1)

labels() { # FILE: type, label and place of each promise
    "$WEFT" dump "$1" | sed -n 's/.* creates .* type=\([^ ]*\)/\1/p'
}

counts() { # FILE: places with a name, without one
    "$WEFT" info --json "$1" >"$tmp/json"
    json "$tmp/json" '"{names} {nameless}".format(**d)'
}

# promise N FILE: the N-th promise's type, label, and place without its folder
promise() {
    labels "$2" | sed -n "$1p" | sed 's|at="[^"]*/|at="|'
}

no_folders() { # FILE: of no ELF file
    checks=$((checks + 1))
    if "$WEFT" dump "$1" | grep -aF '+0x' | grep -v '/etc/hosts' | grep -q /; then
        fail "$1 shows folders"
        "$WEFT" dump "$1" | grep -aF '+0x' | head -n 5
    fi
}

# with_all FILE: what is known with debug information
with_all() {
    equal "$1: a callback" "handle label=\"on_read tcp 10.0.0.1:443\" at=\"places.c:$on_read\"" "$(promise 1 "$1")"
    equal "$1: one with something inlined" "handle label=\"on_timer\" at=\"places.c:$on_timer\"" "$(promise 2 "$1")"
    checks=$((checks + 1))
    promise 3 "$1" | grep -Eq '^handle label="_*lfind search" at="' || fail "$1: a library's function: $(promise 3 "$1")"
    equal "$1: no function" 'handle label="places+0x10 nowhere" at="places+0x10"' "$(promise 4 "$1")"
    equal "$1: no file" 'handle label="library.so.1+0x1f0 gone"' "$(promise 5 "$1")"
    equal "$1: a type" 'on_read label="of a type"' "$(promise 6 "$1")"
    equal "$1: another text" 'handle label="/etc/hosts+0xyz is a text like others"' "$(labels "$1" | sed -n 7p)"
    equal "$1: places" '3 2' "$(counts "$1")"
    no_folders "$1"
}

# ---- With debug information ----
cp "$PLACES" places
run 0 "$WEFT" record --size 1M -o p.weft ./places
equal 'messages' 1 "$(wc -l <"$tmp/err")"
with_all p.weft
run 0 "$WEFT" info p.weft
says "$tmp/out" '^  names         3 of 5 places in code that texts mention by address$'
says "$tmp/out" '^  damage        none$'
run 0 "$WEFT" explain p.weft
says "$tmp/out" "'on_read tcp 10.0.0.1:443' \(handle 1\) was never resolved"
run 0 "$WEFT" explain --promise 2 p.weft
says "$tmp/out" "/places.c:$on_timer"

# Memory instead of a file
run 0 "$WEFT" record --memory --size 1M -o m.weft ./places
with_all m.weft

# A child has a trace of its own
run 0 "$WEFT" record --size 1M -o f.weft ./places fork
with_all f.weft
checks=$((checks + 1))
[ "$(find . -name 'f-*.weft' | wc -l)" -eq 1 ] || fail "traces of the child: $(ls f*)"
with_all f-*.weft

# A shell that is not recorded starts it
run 0 "$WEFT" record --size 1M -o 'x.%p.weft' ./places fork
for trace in x.*.weft; do
    with_all "$trace"
done

# With samples in the same file, if there can be any
run 0 "$WEFT" record --sample --size 1M -o s.weft ./places
with_all s.weft

# ---- Texts that stand before their events, because the table is full ----
run 0 "$WEFT" record --size 1M -o t.weft ./places 20000
labels t.weft >labels
equal 'the last of many labels' 'handle label="on_read number 19999"' "$(tail -n 2 labels | head -n 1)"
equal 'a label that is only there' 'handle label="on_close at the end"' "$(tail -n 1 labels)"
equal 'places' '4 2' "$(counts t.weft)"
no_folders t.weft

# ---- Without debug information ----
strip places
run 0 "$WEFT" record --size 1M -o u.weft ./places
checks=$((checks + 1))
promise 1 u.weft | grep -Eq '^handle label="places\+0x[0-9a-f]+ tcp 10.0.0.1:443" at="places\+0x[0-9a-f]+"$' ||
    fail "stripped: $(promise 1 u.weft)"
checks=$((checks + 1))
promise 3 u.weft | grep -Eq '^handle label="_*lfind search" at="' || fail "stripped, a library's function: $(promise 3 u.weft)"
equal 'places without names' '1 4' "$(counts u.weft)"
no_folders u.weft

# … but in a file of its own, which is found by its name
if command -v objcopy >/dev/null; then
    objcopy --only-keep-debug "$PLACES" places.debug
    objcopy --add-gnu-debuglink=places.debug places
    run 0 "$WEFT" record --size 1M -o g.weft ./places
    with_all g.weft
fi

# ---- A program that is replaced while it runs ----
cp "$PLACES" places
mkfifo fifo
"$WEFT" record --size 1M -o r.weft ./places hang "$tmp/fifo" 2>err &
recording=$!
read -r said <fifo
equal 'the program says' ready "$said"
pid=$(pgrep -P "$recording")

# A copy of a trace that is being recorded has names; the trace itself has none yet
run 0 "$WEFT" save -o c.weft "$pid"
with_all c.weft
run 0 "$WEFT" dump r.weft
says "$tmp/out" 'label="places\+0x[0-9a-f]+ tcp 10.0.0.1:443"'
run 0 "$WEFT" save -o d.weft c.weft
with_all d.weft
equal 'bytes of a copy of the copy' "$(wc -c <c.weft)" "$(wc -c <d.weft)"
cp "$PLACES" replaced
mv replaced places
kill "$pid"
wait "$recording" || :
says err 'functions of /.*/places stay without names: it was changed after the program had begun'
equal 'places without names' '1 4' "$(counts r.weft)"
no_folders r.weft

# Root does not look at files for others
if [ "$(id -u)" -eq 0 ]; then
    cp "$PLACES" places
    run 0 env WEFT_TRACE="$tmp/o.weft" WEFT_TRACE_SIZE=1M ./places
    chown 65534 o.weft
    run 0 "$WEFT" save -o n.weft o.weft
    says "$tmp/err" '^weft: n.weft: functions stay without names: the trace belongs to another user$'
    equal 'places' '0 0' "$(counts n.weft)"
fi

# ---- A trace that weft record has not seen ----
cp "$PLACES" places
run 0 env WEFT_TRACE="$tmp/w.weft" WEFT_TRACE_SIZE=1M ./places
equal 'places without names' '0 0' "$(counts w.weft)"
no_folders w.weft
run 0 "$WEFT" save -o v.weft w.weft
with_all v.weft
finish
