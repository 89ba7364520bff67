#!/bin/bash
# SPDX-License-Identifier: ISC
# The example arp_race: it hangs where it should, and its trace tells why.
. "$(dirname "$0")/lib.sh"
: "${EXAMPLES:?the folder of the built examples}"
unset WEFT_TRACE

# The same with and without the recorder, and compiled without it
for program in arp_race arp_race_off; do
    run 0 "$EXAMPLES/$program" good
    equal "$program good" 'sent, response: TCP connect finished' "$(cat "$tmp/out")"
    run 1 "$EXAMPLES/$program" bad
    equal "$program bad" 'response, sent: TCP connect did not finish' "$(cat "$tmp/out")"
    silent "$tmp/err"
    run 0 "$EXAMPLES/$program" fixed
    equal "$program fixed" 'sent, response: TCP connect finished
response, sent: TCP connect finished' "$(cat "$tmp/out")"
    run 0 "$EXAMPLES/$program" fixed good
    run 0 "$EXAMPLES/$program" fixed bad
    for wrong in '' worse 'good bad' 'fixed worse' 'fixed good bad'; do
        # shellcheck disable=SC2086 # words
        run 2 "$EXAMPLES/$program" $wrong
        says "$tmp/err" '^usage: '
    done
done
if command -v nm >/dev/null; then
    equal 'symbols of weft in arp_race_off' 0 "$(nm "$EXAMPLES/arp_race_off" | grep -c weft || :)"
fi

# record STATUS NAME ARGUMENT...: runs it, which leaves NAME.weft, NAME.dump and NAME.promises
record() {
    local status=$1 name=$tmp/$2
    shift 2
    run "$status" env WEFT_TRACE="$name.weft" "$EXAMPLES/arp_race" "$@"
    silent "$tmp/err"
    run 0 "$WEFT" dump "$name.weft"
    silent "$tmp/err"
    mv "$tmp/out" "$name.dump"
    run 0 "$WEFT" promises "$name.weft"
    silent "$tmp/err"
    mv "$tmp/out" "$name.promises"
}

# ids NAME LABEL: the numbers of the promises that were created with this label
ids() {
    sed -n "s/.* creates parent=[-0-9]* child=\([0-9]*\) .* label=\"$2\".*/\1/p" "$tmp/$1.dump"
}

id() { # the first of them
    ids "$@" | head -n 1
}

# first NAME PATTERN: the first line of the dump that matches, as its number; 0: none
first() {
    grep -nE -e "$2" "$tmp/$1.dump" | head -n 1 | cut -d : -f 1 | grep . || echo 0
}

# count NAME PATTERN: how many lines of the dump match
count() {
    grep -cE -e "$2" "$tmp/$1.dump" || :
}

# outcomes NAME LABEL: how they ended, one after the other
outcomes() {
    local number
    for number in $(ids "$@"); do
        awk -F '\t' -v id="$number" '$1 == id { print $6 }' "$tmp/$1.promises"
    done | paste -s -d ' '
}

# ends NAME LABEL: when the promise ends in the picture, in ns
ends() {
    awk -F '\t' -v id="$(id "$1" "$2")" '$1 == id { print $5 }' "$tmp/$1.promises"
}

record 0 good good
record 0 good2 good
record 1 bad bad
record 1 bad2 bad
record 0 fixed fixed
record 0 fixed-good fixed good
record 0 fixed-bad fixed bad

# The wait for the condition and its being notified: the order is all the difference.
for name in good bad; do
    condition=$(id $name 'ARP response')
    says "$tmp/$name.dump" " creates .*child=$condition type=condition"
    equal "$name: notified" 1 "$(count $name " notifies .*p=$condition\$")"
    equal "$name: waited for" 1 "$(count $name " try_read .*source=$condition\$")"
    notified=$(first $name " notifies .*p=$condition\$")
    waited=$(first $name " try_read .*source=$condition\$")
    equal "$name: notified before somebody waits" "$([ $name = bad ] && echo 1 || echo 0)" \
        $((notified < waited))
done
equal 'good: signals' 1 "$(count good " signal receiver=$(id good 'ARP query') ")"
equal 'bad: signals' 0 "$(count bad ' signal ')"
for name in fixed fixed-good fixed-bad; do
    equal "$name: conditions" 0 "$(count $name ' notifies | signal |type=condition')"
done
# In the bad order, the promise is fulfilled before anybody would wait for it: nobody has to.
equal 'fixed good: waits' 1 "$(count fixed-good " try_read .*source=$(id fixed-good 'ARP response')\$")"
equal 'fixed bad: waits' 0 "$(count fixed-bad " try_read .*source=$(id fixed-bad 'ARP response')\$")"
equal 'fixed bad: reads' 1 "$(count fixed-bad " read .*source=$(id fixed-bad 'ARP response')\$")"

# What should have been resolved and was not ends with the trace: when recording stopped, after the last event.
last=$(tail -n 1 "$tmp/bad.dump" | cut -d ' ' -f 1)
for label in main 'TCP connect' 'ARP query'; do
    equal "good: $label" fulfilled "$(outcomes good "$label")"
    equal "bad: $label" pending "$(outcomes bad "$label")"
    says "$tmp/bad.dump" " should_resolve p=$(id bad "$label")\$"
    equal "bad: $label ends" "$(ends bad main)" "$(ends bad "$label")"
done
equal 'fixed: main' fulfilled "$(outcomes fixed main)"
equal 'fixed: TCP connect' 'fulfilled fulfilled' "$(outcomes fixed 'TCP connect')"
equal 'fixed: ARP response' 'fulfilled fulfilled' "$(outcomes fixed 'ARP response')"
equal 'bad: ring.write' fulfilled "$(outcomes bad ring.write)"
equal 'bad: ARP response' pending "$(outcomes bad 'ARP response')"
for label in 'network driver' heartbeat; do
    says "$tmp/bad.dump" " background p=$(id bad "$label")\$"
done
checks=$((checks + 1))
[ "$(ends bad main)" -gt "$last" ] || fail "the bad run ends at $(ends bad main) ns, before its last event"
checks=$((checks + 1))
[ "$last" -ge 200000000 ] || fail "the bad run lasts only $last ns"

# Two runs differ in nothing but their times.
for name in good bad; do
    cut -d ' ' -f 2- "$tmp/$name.dump" >"$tmp/first"
    cut -d ' ' -f 2- "$tmp/${name}2.dump" >"$tmp/second"
    same "$name: two runs" "$tmp/first" "$tmp/second"
    run 0 "$WEFT" info --json "$tmp/$name.weft"
    equal "$name: events" "$(wc -l <"$tmp/$name.dump")" "$(json "$tmp/out" 'd["events_total"]')"
    equal "$name: suspend, resume" True \
        "$(json "$tmp/out" 'd["events"]["suspend"] == d["events"]["resume"] > 0')"
    equal "$name: lost" '0 0' "$(json "$tmp/out" 'd["overwritten"], d["discarded"]' | tr -d '(),')"
done

# The picture of the bad run says so.
run 0 "$WEFT" render -o "$tmp/bad.svg" "$tmp/bad.weft"
says "$tmp/bad.svg" 'never resolved'
finish
