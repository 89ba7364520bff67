#!/bin/bash
# SPDX-License-Identifier: ISC
# weft render with what weft explain and weft diff say: --finding, --path, --diff.
. "$(dirname "$0")/lib.sh"
: "${EXAMPLES:?the folder of the built examples}"
unset WEFT_TRACE
cd "$tmp"
for which in good bad; do
    run "$([ $which = good ]; echo $?)" simulated $which.weft 4194304 "$EXAMPLES/arp_race" $which
done
run 0 "$WEFT" promises good.weft
connect=$(awk -F '\t' '$8 == "TCP connect" { print $1 }' out)
run 0 "$WEFT" promises bad.weft
response=$(awk -F '\t' '$8 == "ARP response" { print $1 }' out)

# texts FILE: of a picture, a line each
texts() {
    sed -n 's/.*<text[^>]*>\([^<]*\)<.*/\1/p' "$1"
}

# A finding, in words and with a flag for each moment that is in sight
run 0 "$WEFT" render --finding 1 -o finding.svg bad.weft
silent err
texts finding.svg >texts
says texts '^lost-wakeup \(certain\): The signal of'
says texts "^[0-9]  at [0-9.]* ms: 'network driver' signals 'ARP response': nobody waits for it$"
says texts '^what shows it [0-9]+$'
# Of seven moments the first are so close together that some have one flag: how many, depends on the machine.
grep -x '[0-9]' texts | sort | tr -d '\n' >flags
says flags '^12345(6|67)?$'
says finding.svg '^\.evidence{'
# The same by its place, which a viewer copies
run 0 "$WEFT" render --at "finding=1" --size 1600x500 -o place.svg bad.weft
run 0 "$WEFT" render --finding 1 --size 1600x500 -o again.svg bad.weft
same 'a finding by its place' place.svg again.svg
run 0 "$WEFT" render --select "$response" -o plain.svg bad.weft
equal 'colours of marks in a picture without' 0 "$(grep -c '^\.\(evidence\|affected\|prun\){' plain.svg || :)"

# The path of a promise
run 0 "$WEFT" render --path "$connect" -o path.svg good.weft
texts path.svg >texts
says texts "^Critical path of 'TCP connect' \\(task $connect\\): [0-9.]* ms: "
says texts '^path: outside the program [0-9]+$'
says path.svg 'class="f pout"'

# Two runs
run 0 "$WEFT" render --diff -o diff.svg good.weft bad.weft
texts diff.svg >texts
equal 'where they diverge' 2 "$(grep -c '^alike until here$' texts)"
says texts "^In the good run 'ring.write' was fulfilled"
equal 'flags' '1 1 2 2' "$(grep -x '[0-9]' texts | sort | tr '\n' ' ' | sed 's/ $//')"
run 0 "$WEFT" render --finding 1 -o both.svg good.weft bad.weft # the second one has it
# … at another time than its evidence, of one trace or of two
run 0 "$WEFT" render --finding 1 --from 30ms --to 60ms -o part.svg bad.weft
says part.svg 'from 30 ms, 30 ms long'
texts part.svg >texts
says texts '^lost-wakeup \(certain\): The signal of'
run 0 "$WEFT" render --finding 1 --from 30ms --to 60ms -o part.svg good.weft bad.weft
equal 'traces at that time' 2 "$(grep -c 'from 30 ms, 30 ms long' part.svg)"
texts part.svg >texts
says texts '^lost-wakeup \(certain\): The signal of'

# What cannot be
run 1 "$WEFT" render --finding 1 -o x.svg good.weft
says err 'good.weft: has no findings'
run 1 "$WEFT" render --finding 9 -o x.svg bad.weft
says err 'has 1 finding; weft explain --all lists them'
run 1 "$WEFT" render --finding 9 -o x.svg good.weft bad.weft
says err 'the traces have 1 finding; weft explain --all lists them'
run 1 "$WEFT" render --path 999999 -o x.svg bad.weft
says err 'has no promise 999999'
run 2 "$WEFT" render --finding none -o x.svg bad.weft
run 2 "$WEFT" render --path none -o x.svg bad.weft
run 2 "$WEFT" render --diff -o x.svg bad.weft
equal 'pictures of what cannot be' '' "$(ls x.svg 2>/dev/null)"
finish
