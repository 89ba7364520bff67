#!/bin/bash
# SPDX-License-Identifier: ISC
# Programs on libuv that know nothing of weft: they do the same as without it, all kinds of requests and handles are
# recorded, faults are found, and kv_server's waits are those that its author has recorded by hand.
. "$(dirname "$0")/lib.sh"
: "${EXAMPLES:?the folder of the built examples}"
[ -e "$BUILD_ROOT/adapters/preload/weft-libuv.so" ] || skip 'programs on libuv are not recorded by this build'
unset WEFT_TRACE WEFT_TRACE_SIZE WEFT_TRACE_FOR WEFT_TRACE_FORK LD_PRELOAD
cd "$tmp"

# ---- Everything that calls back, once

kinds=$BUILD_ROOT/tests/uv_kinds
mkdir plain recorded
run 5 "$kinds" plain
cp out expected
run 5 "$WEFT" record --size 4M -o kinds.weft -- "$kinds" recorded
same 'what it prints' expected out
run 0 "$WEFT" promises kinds.weft
silent err
cp out promises

# kind TYPE OUTCOME LABEL COUNT: how many promises; LABEL: the end of the label, a pattern
kind() {
    equal "$1, $2, $3" "$4" "$(awk -F '\t' -v type="$1" -v outcome="$2" -v label="$3\$" \
        'NR > 1 && $2 == type && $6 == outcome && $8 ~ label' promises | wc -l)"
}
kind timer cancelled ' 5 s' 1
kind timer fulfilled ' 1 ms' 4 # one is restarted by its own callback, three times; one is another thread's, one the last
kind timer fulfilled ' 0 ms' 1
kind idle fulfilled '' 1
kind prepare fulfilled '' 1
kind check fulfilled '' 1
kind fs fulfilled '^open .*/file' 1
kind fs fulfilled '^write .*/file' 1
kind fs fulfilled '^close .*/file' 1
kind fs fulfilled '^copyfile .*/file' 1
kind fs failed '^stat .*/none' 1
kind fs failed '[^ ]+ stat .*/none' 1
kind fs fulfilled '[^ ]+ open .*/file' 1
kind fs fulfilled ' read .*/file' 1
kind work fulfilled '' 7
kind work cancelled '' 1
kind getaddrinfo fulfilled ' 127.0.0.1' 1
kind getaddrinfo failed '^no-number' 1
kind getnameinfo fulfilled ' 127.0.0.1:9' 1
kind random fulfilled ' 16 bytes' 1
kind process failed '^sh -c exit 3' 1
kind process failed '^sh -c kill -9 ..' 1
kind process failed '^/no/such/program.*' 1
kind signal fulfilled ' SIGUSR1' 1
kind accept fulfilled ' tcp listen 127.0.0.1:[0-9]+' 1
kind connection fulfilled ' tcp 127.0.0.1:[0-9]+' 1
kind connect fulfilled ' 127.0.0.1:[0-9]+' 1
kind connect failed ' .*/no.sock' 1
kind write fulfilled '4 bytes tcp 127.0.0.1:[0-9]+' 2
kind shutdown fulfilled ' tcp 127.0.0.1:[0-9]+' 1
kind send fulfilled ' 3 bytes udp 127.0.0.1:[0-9]+' 1
kind receive fulfilled ' udp 127.0.0.1:[0-9]+' 1
kind datagram fulfilled ' 127.0.0.1:[0-9]+' 1
kind poll fulfilled ' readable pipe' 1
kind async fulfilled '' 1
equal 'promises that are pending after the end' '' "$(awk -F '\t' '$6 == "pending"' promises)"
run 0 "$WEFT" dump kinds.weft
for reason in ENOENT EAI_NONAME 'exit status 3' 'signal 9'; do
    says out " fails .*exception=\"$reason\""
done
run 0 "$WEFT" info --json kinds.weft
equal 'events lost' '0 0' "$(json out '"%d %d" % (d["overwritten"], d["discarded"])')"

# ---- Programs with a fault

# bug PROGRAM STATUS NAME TYPE LABEL CONFIDENCE: what weft explain says first of the bad one, and that the good one has nothing.
# Not what starts other programs: these sleep in real time.
bug() {
    local program=$EXAMPLES/bugs/libuv/libuv_$1
    local clock=$OWN_CLOCK
    [ "$1" != serial ] || clock=env
    run "$2" "$clock" "$program" bad
    sort out >expected
    run "$2" "$WEFT" record --force --size 4M -o bad.weft -- "$clock" "$program" bad
    equal "$1: what it prints" "$(cat expected)" "$(sort out)"
    run 0 "$WEFT" explain --all --json bad.weft
    equal "$1" "$3 $4 $6" "$(json out '"{name} {type} {confidence}".format(**d["findings"][0])')"
    json out 'd["findings"][0]["text"]' >text
    says text "$5"
    run 0 "$WEFT" record --force --size 4M -o good.weft -- "$clock" "$program" good
    run 0 "$WEFT" explain --all --json good.weft
    equal "$1 good" '' "$(python3 "$SOURCE_ROOT/tests/e2e/judge.py" nothing '*' likely <out)"
}
bug reply 1 hang-root read ' unix reply.sock.* \(read [0-9]+\), .* was never resolved' possible
bug workers 0 workers-busy work '12 of 12 began late' likely
bug blocked 0 loop-blocked timer ' 0 ms.* ran for .* without a break' certain
bug fifo 1 never-resolved fs ' open commands. .fs [0-9]+. was never resolved' certain
bug serial 0 serial-waits callback 'started 8 promises' likely

# ---- kv_server, by hand and by the adapter alone: the same waits

# serve TRACE PROGRAM OPTION...: under the same load, one request after the other
serve() {
    local trace=$1 program=$2 recorder port=
    shift 2
    rm -f kv said
    mkfifo said
    "$WEFT" record "$@" -o "$trace" -- "$EXAMPLES/$program" --flush 3600000 kv >said 2>err &
    recorder=$!
    read -r port <said || :
    run 0 "$EXAMPLES/kv_load" --port "${port##*:}" --requests 60 --connections 1 --puts 50 --keys 10
    says out '^errors +0$'
    kill -INT "$(cat /proc/$recorder/task/$recorder/children)"
    wait $recorder || fail "$program: status $?"
}

cat >waits.py <<'END'
"""How often something was waited for, and how often that ended, by what it is; with the names that the adapter has for it. By
hand, what a connection waits for last is cancelled; libuv says that it has ended."""
import collections, re, sys

named = {"receive": "read", "checksum": "work", "file read": "fs", "file write": "fs", "fsync": "fs", "response": "write"}
types, counts = {}, collections.Counter()
for line in open(sys.argv[1]):
    if new := re.search(r" creates .* child=(\d+) type=(.*?)( label=| at=|$)", line):
        types[new[1]] = new[2].strip('"')
    elif event := re.search(r" (try_read|read|cancels) .*(?:source|p)=(\d+)$", line):
        kind = types.get(event[2])
        kind = named.get(kind, kind)
        if kind in named.values():
            counts["waits for" if event[1] == "try_read" else "gets", kind] += 1
for key, count in sorted(counts.items()):
    print(*key, count)
END

if [ -x "$EXAMPLES/kv_server" ]; then
    serve hand.weft kv_server --runtimes none
    serve adapter.weft kv_server_off
    for trace in hand adapter; do
        run 0 "$WEFT" dump $trace.weft
        cp out dump
        run 0 python3 waits.py dump
        cp out $trace.waits
    done
    says hand.waits '^waits for write 60$'
    same 'what kv_server waits for' hand.waits adapter.waits
    run 0 "$WEFT" explain --json adapter.weft
    equal 'what is wrong with kv_server' '' "$(python3 "$SOURCE_ROOT/tests/e2e/judge.py" nothing '*' likely <out)"
fi
finish
