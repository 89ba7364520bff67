#!/bin/bash
# SPDX-License-Identifier: ISC
# Traces in Fuchsia's format of any program: durations run, asynchronous ones are promises, flows are signals.
. "$(dirname "$0")/lib.sh"
cd "$tmp"
python3 "$SOURCE_ROOT/tests/e2e/fxt.py" any.fxt
run 0 "$WEFT" dump any.fxt
silent "$tmp/err"
cat >wanted <<'END'
0 0 creates parent=-1 child=1 type=span label="request"
0 0 label p=1 text="app"
0 0 label p=1 text="path=/users"
0 0 label p=1 text="n=-7"
0 0 background p=1
0 0 switch p=1
1000 0 creates parent=1 child=2 type=async label="fetch"
1000 0 label p=2 text="net"
1000 0 label p=2 text="url=http://x"
1000 0 label p=2 text="ratio=0.5"
1000 0 label p=2 text="size=3"
3000 0 label p=2 text="connected"
4000 0 creates parent=2 child=3 type=async label="resolve"
4000 0 label p=3 text="net"
5000 0 fulfills resolver=1 p=3
6000 0 label p=1 text="half done"
7000 0 counter p=1 counter="queue.length" value=12
10000 0 fulfills resolver=1 p=1
10000 0 switch p=-1
20000 1 creates parent=-1 child=4 type=span label="outer"
20000 1 label p=4 text="app"
20000 1 background p=4
20000 1 switch p=4
20000 1 creates parent=4 child=5 type=span label="inner"
20000 1 label p=5 text="app"
20000 1 background p=5
20000 1 switch p=5
22000 1 signal_only receiver=5 source=1
25000 1 fulfills resolver=5 p=5
25000 1 switch p=4
30000 1 fulfills resolver=4 p=4
30000 1 switch p=-1
31000 1 creates parent=-1 child=6 type=span label="empty"
31000 1 label p=6 text="app"
31000 1 background p=6
31000 1 switch p=6
31000 1 fulfills resolver=6 p=6
31000 1 switch p=-1
32000 1 creates parent=-1 child=7 type=span label="first"
32000 1 label p=7 text="app"
32000 1 background p=7
32000 1 switch p=7
34000 1 fulfills resolver=7 p=7
34000 1 switch p=-1
34000 1 creates parent=-1 child=8 type=span label="second"
34000 1 label p=8 text="app"
34000 1 background p=8
34000 1 switch p=8
34000 1 label p=8 text="between"
36000 1 fulfills resolver=8 p=8
36000 1 switch p=-1
40000 1 label p=2 text="status=ok"
40000 1 fulfills resolver=-1 p=2
50000 1 creates parent=-1 child=9 type=async label="never ends"
50000 1 label p=9 text="net"
END
same 'what it says' wanted "$tmp/out"
run 0 "$WEFT" info any.fxt
says "$tmp/out" ' 101  main '
says "$tmp/out" ' 102  worker '
# Two providers, whose numbers mean different things, in turn; a thread and a string that stand in their record
python3 "$SOURCE_ROOT/tests/e2e/fxt.py" two.fxt providers
run 0 "$WEFT" dump two.fxt
silent "$tmp/err"
cat >wanted <<'END'
0 0 creates parent=-1 child=1 type=span label="a"
0 0 label p=1 text="a"
0 0 background p=1
0 0 switch p=1
6 1 creates parent=-1 child=2 type=span label="bc"
6 1 label p=2 text="bc"
6 1 background p=2
6 1 switch p=2
10 0 fulfills resolver=1 p=1
10 0 switch p=-1
16 1 fulfills resolver=2 p=2
16 1 switch p=-1
29 2 creates parent=-1 child=3 type=span label="inline"
29 2 label p=3 text="bc"
29 2 label p=3 text="bc=18446744073709551615"
29 2 background p=3
29 2 switch p=3
END
same 'two providers' wanted "$tmp/out"
for command in stats promises explain 'render -o picture.svg' 'export --to ctf -o ctf'; do
    # shellcheck disable=SC2086
    run 0 "$WEFT" $command any.fxt
done
size=$(stat -c %s any.fxt)
for cut in 9 16 24 100 $((size / 2)) $((size - 8)) $((size - 1)); do
    head -c "$cut" any.fxt >cut.fxt
    checks=$((checks + 1))
    status=0
    timeout 300 "$WEFT" dump cut.fxt >"$tmp/out" 2>"$tmp/err" || status=$?
    [ "$status" -le 3 ] || fail "cut after $cut: $status"
done
finish
