#!/bin/bash
# SPDX-License-Identifier: ISC
# What may be given as a trace and is more than that, or less: core files, and files of other kinds.
. "$(dirname "$0")/lib.sh"
[ -x "${RECORDED:-}" ] || skip 'RECORDED is not set'
cd "$tmp"
unset WEFT_TRACE WEFT_TRACE_SIZE WEFT_TRACE_FOR

# core OUT FILES...: a core file with pieces of memory
core() {
    local out=$1
    shift
    { printf '\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\4\0\76\0'; head -c 4076 /dev/zero; cat "$@"; } >"$out"
}

run 0 "$WEFT" record -o a.weft --size 1M "$RECORDED" rounds 250
run 0 "$WEFT" record -o b.weft --size 1M "$RECORDED" rounds 10
head -c 300 b.weft >header # as the recorder has it on its stack when it looks at an older trace
head -c 3000 /dev/urandom >noise
head -c 8192 /dev/zero >zeros
"$WEFT" dump a.weft >expected
core with header zeros a.weft noise
core twice b.weft zeros a.weft header # both ended in that process: the newest counts
core behind header noise a.weft
core cut header zeros a.weft
truncate -s 600000 cut
for file in behind with; do
    run 0 "$WEFT" dump "$file"
    same "events in core file $file" expected "$tmp/out"
    silent "$tmp/err"
done
run 0 "$WEFT" dump cut # what is missing was never used
same 'events in a core file that was cut' expected "$tmp/out"
run 0 "$WEFT" info --json with
equal 'damage of the trace in a core file' '0 1000' "$(json "$tmp/out" '"%d %d" % (d["damage"]["problems"], d["events_total"])')"
run 0 "$WEFT" info --json twice
equal 'the newest of two' 40 "$(json "$tmp/out" 'd["events_total"]')"
run 0 "$WEFT" save -o saved.weft with
run 0 "$WEFT" dump saved.weft
same 'events saved from a core file' expected "$tmp/out"
"$WEFT" dump - <with >from_pipe
same 'a core file as standard input' expected from_pipe

core nothing noise
core pieces header zeros header noise
for file in nothing pieces; do
    for command in info dump promises stats explain 'explain --check' profile 'render -o x.svg' 'save -o x.weft' 'export --to mirage -o x.ctf' \
        'diff a.weft'; do
        # shellcheck disable=SC2086
        run 1 "$WEFT" $command "$file"
        equal "lines said by $command" 1 "$(wc -l <"$tmp/err")"
        says "$tmp/err" "^weft: $file: is a core file with no trace in it"
    done
done
equal 'made of no trace' '' "$(ls x.* 2>/dev/null)"

# Facts that are not true
run 0 python3 - a.weft <<'EOF'
import struct, sys
trace = open(sys.argv[1], 'rb').read()
head = b'\x7fELF\x02\x01\x01' + bytes(9) + b'\x04\x00' + bytes(4078)
big = (1 << 64) - 1
for i, (at, value) in enumerate([(72, big), (80, big), (88, big), (72, 1 << 40), (80, 1 << 50), (88, len(trace)), (32, big), (40, big)]):
    t = bytearray(trace)
    struct.pack_into('<Q', t, at, value)
    open('false.%d' % i, 'wb').write(head + t)
t = bytearray(trace)
struct.pack_into('<I', t, 60, 0)
open('false.8', 'wb').write(head + t)
EOF
for file in false.*; do
    checks=$((checks + 1))
    timeout 300 "$WEFT" info "$file" >out 2>err || [ $? -eq 1 ] || fail "$file: status $?"
done

# ---- Other files: what they are, and what weft reads ----
# other WHAT FILE
other() {
    for command in info profile; do
        run 1 "$WEFT" $command "$2"
        says "$tmp/err" "^weft: $2: is not a trace: $1.*, at offset 0; weft reads its own traces, mirage-profile's, OCaml's rings and .fxt, weft profile also perf.data"
    done
}
printf 'TASK\tlong lines\r\nof text, \xc3\xa4\n' >text
printf 'text\0with a zero' >binary
printf '\x1f\x8b\x08' >packed
printf '\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0' >program
other 'it is text' text
other 'it begins with 74 65 78 74' binary
other 'it is compressed by gzip' packed
other 'it is a program or a library' program
printf 'PERFILE2rest' >perf
run 1 "$WEFT" info perf
says "$tmp/err" 'it is perf.data, which weft profile reads'
finish
