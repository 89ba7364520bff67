#!/bin/bash
# SPDX-License-Identifier: ISC
# How promises end where that is not plain to see: in a trace that does not say when the recording ended, before the
# recording began, twice, or in the wrong one of two runs.
. "$(dirname "$0")/lib.sh"
: "${ENDS:?the program that ends promises in odd ways}"
need_mktrace
unset WEFT_TRACE COLUMNS
cd "$tmp"

# found TRACE KIND PROMISE: all that look for faults find it
found() {
    run 3 "$WEFT" explain --check "$1"
    says out "^1\. $2 \(likely\)"
    run 3 "$WEFT" explain --check --json "$1"
    equal "$1: what and where" "$2 likely $3" "$(json out \
        '" ".join(str(d["findings"][0][k]) for k in ("name", "confidence", "promise"))')"
    run 0 "$WEFT" render --finding 1 -o finding.svg "$1"
}

quiet() {
    run 0 "$WEFT" explain --check "$1"
    says out ': nothing (found in|certain or likely)'
}

differs() {
    run 3 "$WEFT" diff --check "$1" "$2"
    says out "is pending when the trace ends; in the good run it"
    run 3 "$WEFT" diff --check --json "$1" "$2"
    equal "$1 and $2" True "$(json out 'd["different"]')"
}

# The loop waits; the reply comes only in the good run. The bad one ends with an event that ends the run of who waits.
cat >common <<'END'
0 0 switch p=0
10 0 creates parent=0 child=1 type=task
20 0 label p=1 text="query"
30 0 creates parent=0 child=2 type=bind
40 0 try_read reader=2 source=1
50 0 creates parent=0 child=3 type=join
60 0 label p=3 text="main"
70 0 try_read reader=3 source=2
80 0 label p=3 text="__should_resolve"
90 0 switch p=-1
1000090 0 switch p=0
1000100 0 fulfills resolver=0 p=1
1000110 0 read reader=2 source=1
1000120 0 creates parent=2 child=4 type=task
1000130 0 label p=4 text="reply"
1000140 0 creates parent=2 child=5 type=try
1000150 0 try_read reader=5 source=4
1000160 0 becomes p=2 q=5
END
{
    cat common
    printf '%s\n' '1000170 0 switch p=0' '1000180 0 switch p=-1' '3000000 0 switch p=0' \
        '3000010 0 fulfills resolver=0 p=4' '3000020 0 read reader=5 source=4' \
        '3000030 0 fulfills resolver=5 p=2' '3000040 0 read reader=3 source=2' \
        '3000050 0 fulfills resolver=3 p=3' '3000060 0 switch p=0'
} | "$MKTRACE" good.ctf
{ cat common; echo '1000170 0 switch p=0'; } | "$MKTRACE" bad.ctf
"$MKTRACE" handed_over.ctf <common
{ cat common; printf '%s\n' '1000170 0 switch p=0' '1000180 0 switch p=-1'; } | "$MKTRACE" asleep.ctf
quiet good.ctf
for trace in bad handed_over asleep; do
    found $trace.ctf hang-root 4
    differs good.ctf $trace.ctf
done

# Nobody waits for it
printf '%s\n' '0 0 creates parent=-1 child=1 type=task' '10 0 label p=1 text="__should_resolve"' \
    '20 0 switch p=-1' '5000000 0 switch p=-1' | "$MKTRACE" lonely.ctf
found lonely.ctf never-resolved 1
# … but not what runs
printf '%s\n' '0 0 creates parent=-1 child=1 type=task' '10 0 label p=1 text="__should_resolve"' \
    '20 0 switch p=1' '5000000 0 label p=1 text="still at it"' | "$MKTRACE" runs.ctf
quiet runs.ctf

# Killed in its sleep, and nobody noticed when
run 137 "$ENDS" killed killed.weft
found killed.weft hang-root 2

# Older than the recording: that it has ended is not concluded, and nothing follows from it
for what in older lapped again own; do
    run 0 "$ENDS" $what $what.weft
    run 0 "$WEFT" explain --all $what.weft
    checks=$((checks + 1))
    ! grep -q 'lost-wakeup\|was resolved' out || fail "$what: something is said to have been resolved"
    says out '^1\. hang-root'
    run 0 "$WEFT" promises $what.weft
    equal "$what: the older one" pending "$(awk -F '\t' '$2 == "preexisting" { print $6 }' out)"
done

# Ended twice: the first end counts, and the second one is named
run 0 "$ENDS" twice twice.weft
run 0 "$WEFT" promises twice.weft
equal 'how they ended' 'fulfilled fulfilled fulfilled fulfilled cancelled' \
    "$(awk -F '\t' '$2 == "reply" { print $6 }' out | paste -s -d ' ')"
run 3 "$WEFT" explain --check twice.weft
run 0 "$WEFT" explain --all twice.weft
tr -s '\n ' '  ' <out >line
says line "'value' \(reply [0-9]+\) was fulfilled by 'main' \(task 1\) at [^;]*; 'late' \(task [0-9]+\) ended it again"
says line "'itself' \(reply [0-9]+\) was fulfilled by 'main' \(task 1\) at [^;]*; it ended it again at "
says line 'double-resolve .possible. .* the trace does not say who ended it'
equal 'findings' 4 "$(grep -c '^[0-9]\. double-resolve ' out)"
run 0 "$WEFT" explain --promise error twice.weft
tr -s '\n ' '  ' <out >line
says line "It was ended again by 'late' \(task [0-9]+\) at .*: the first end counts\."
run 0 "$WEFT" explain --promise error --json twice.weft
equal 'the story for programs' 1 "$(json out 'd["ended_again"]["count"]')"
run 0 "$WEFT" info --promises twice.weft
says out '5 ends of promises that had ended before \(the first one counts\)'
run 0 "$WEFT" dump twice.weft
equal 'they are events' 2 "$(grep -c " fulfills .* p=$(sed -n 's/.* child=\([0-9]*\) .*label="value".*/\1/p' out)\$" out)"

# Nothing was recorded: that says nothing
run 0 "$ENDS" nothing nothing.weft
for check in --check --check=certain '--check --json'; do
    # shellcheck disable=SC2086 # words
    run 1 "$WEFT" explain $check nothing.weft
    says err 'nothing\.weft: nothing was recorded, so there is nothing to check'
    says out '(nothing was recorded of promises|"nothing_recorded": true)'
done
run 0 "$WEFT" explain nothing.weft
says out 'nothing was recorded of promises'
run 1 "$WEFT" explain --check twice.weft nothing.weft
for pair in 'nothing nothing' 'twice nothing' 'nothing twice'; do
    # shellcheck disable=SC2086
    run 3 "$WEFT" diff --check ${pair/ /.weft }.weft
    says out 'Nothing was recorded in one of the runs'
done

# Swapped by mistake
for trace in bad handed_over asleep lonely; do
    run 3 "$WEFT" diff --check $trace.ctf good.ctf
    [ $trace = lonely ] || says out '^These look swapped: '
    run 0 "$WEFT" diff --json $trace.ctf good.ctf
    equal "$trace: different" True "$(json out 'd["different"]')"
    run 0 "$WEFT" diff good.ctf $trace.ctf
    equal "$trace: the right order" 0 "$(grep -c 'swapped' out)"
done
run 0 "$WEFT" diff --check bad.ctf bad.ctf

# What others recorded
if [ -d "$DATA" ]; then
    cp "$DATA"/{guide-good,guide-bad,net,ring-wrapped}.ctf .
    found guide-bad.ctf lost-wakeup 27
    differs guide-good.ctf guide-bad.ctf
    run 0 "$WEFT" diff guide-good.ctf guide-bad.ctf
    tr -s '\n ' '  ' <out >line
    says line "^Where they part In the good run 'ARP response' was fulfilled .* Orders that are swapped in the bad run 'ring.write' was fulfilled before 'netif.recv' in the good run"
    run 3 "$WEFT" diff --check guide-bad.ctf guide-good.ctf
    says out '^These look swapped: '
    quiet guide-good.ctf
    quiet net.ctf
    quiet ring-wrapped.ctf
    ! "$WEFT" help html >/dev/null 2>&1 || run 0 "$WEFT" html -o page.html guide-bad.ctf
else
    echo "not tried: the genuine traces, as $DATA is not there"
fi
finish
