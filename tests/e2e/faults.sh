#!/bin/bash
# SPDX-License-Identifier: ISC
# tests/faults: what weft explain says of programs in the styles of different people. In those with a fault it must
# be found first, with its culprit; in their good twins, and in healthy programs, nothing may be found.
. "$(dirname "$0")/lib.sh"
: "${FAULTS:?the folder of the built programs}"
unset WEFT_TRACE

# PROGRAM MODE WHAT CULPRIT: its label, one of several; after a ~ what the text says. "good": nothing may be found.
cat >"$tmp/table" <<'END'
plain circle deadlock auth|db|log
plain unheard lost-wakeup SELECT|GET /
plain notified lost-wakeup data ready
plain no_answer never-resolved GET /missing
plain blocking loop-blocked GET /proxy
plain endless loop-blocked POST /parse
plain limits leak request timeout
plain dashboard serial-waits GET /dashboard
plain rounds herd lock released
plain wrapped hang-root dns reply
turns starved slow-wake checkout|payment
turns pingpong spin left balancer|right balancer
turns listeners leak drain listener
threads mutexes deadlock compactor|writer|index|log
threads flag lost-wakeup work available
threads asks spin consumer
threads unwoken slow-wake upload 3|hash of 3
io hung_up spin log shipper|log shipper readable
io render loop-blocked render template|~render template
io import loop-blocked import|~row
numbers driver hang-root db reply 7
numbers rejection swallowed-failure save draft
numbers resolved spin poller
healthy server good
healthy not_found good
healthy pool good
healthy download good
END

# PROGRAM MODE bad|good: what weft does not say rightly yet.
cat >"$tmp/known" <<'END'
# Many short runs are one long turn. That who reads the socket was needed meanwhile, as what came at once after it
# shows, is not seen: only possible.
io import bad
END

# … and on a busy machine, where others get the core again and again, and nothing says when.
cat >"$tmp/known.busy" <<'END'
io import bad
# In the time that they have they do it less often; and a loop that does not say when it sleeps may have slept.
threads asks bad
io hung_up bad
END

# Says what is wrong with the findings in FILE, or nothing.
cat >"$tmp/judge.py" <<'END'
import json, sys

path, name, culprits = sys.argv[1], sys.argv[2], sys.argv[3].split("|")
found = [f for f in json.load(open(path))["findings"] if f["confidence"] != "possible"]
tell = "; ".join(f"{f['confidence']} {f['name']} of {f['label']!r}" for f in found) or "nothing"
first = found[0] if found else {"name": "good"}
is_named = lambda c: c[1:] in first["text"] if c[0] == "~" else c == first["label"]
if first["name"] != name or found and not any(map(is_named, culprits)):
    print("found:", tell)
END

# judge PROGRAM MODE bad|good WHAT CULPRIT. Some are killed, so their status says nothing.
judge() {
    local bytes=4194304 known=
    [ "$2" != wrapped ] || bytes=262144
    ! grep -Fqx "$1 $2 $3" "$tmp/known$busy" || known=1
    simulated "$tmp/fault.weft" "$bytes" "$FAULTS/$1" "$2" "$3" >"$tmp/out" 2>&1 </dev/null || :
    run 0 "$WEFT" explain --all --json "$tmp/fault.weft"
    python3 "$tmp/judge.py" "$tmp/out" "$4" "$5" >"$tmp/wrong" 2>&1 || echo "no answer" >>"$tmp/wrong"
    if [ -n "$known" ] && [ -s "$tmp/wrong" ]; then
        echo "known: $1 $2 $3$busy: $(cat "$tmp/wrong")"
    elif [ -n "$known" ] && [ -n "${SIMULATED_LIBRARY:-}" ]; then
        fail "$1 $2 $3$busy: weft says it rightly now"
    elif [ -s "$tmp/wrong" ]; then
        fail "$1 $2 $3$busy: $(cat "$tmp/wrong")"
    fi
}

judge_all() {
    while read -r program mode what culprit; do
        [ "$what" = good ] || judge "$program" "$mode" bad "$what" "$culprit"
        judge "$program" "$mode" good good ''
    done <"$tmp/table"
}
busy=
judge_all
if [ -n "${SIMULATED_LIBRARY:-}" ]; then
    export SIMULATED_BUSY=1
    busy=.busy
    judge_all
fi

# The table has all modes, and what is known is in the table.
for program in "$FAULTS"/*; do
    [ ! -f "$program" ] || [ ! -x "$program" ] || "$program" 2>&1 || :
done | sed -nE 's|^.*/([a-z]+) ([a-z_]+) good.bad$|\1 \2|p' | sort >"$tmp/modes"
cut -d ' ' -f 1,2 "$tmp/table" | sort >"$tmp/tried"
same 'modes of tests/faults' "$tmp/modes" "$tmp/tried"
sed -E '/^#/d; s/ (bad|good)$//' "$tmp/known" | sort -u | comm -23 - "$tmp/tried" >"$tmp/out"
silent "$tmp/out"
finish
