#!/bin/bash
# SPDX-License-Identifier: ISC
# weft save: copies say what their sources say, also of traces that are being recorded.
. "$(dirname "$0")/lib.sh"
[ -x "${RECORDED:-}" ] || skip 'RECORDED is not set'
need_mktrace
cd "$tmp"
unset WEFT_TRACE WEFT_TRACE_SIZE WEFT_TRACE_FOR
mkfifo fifo

fact() { # FILE EXPRESSION
    "$WEFT" info --json "$1" >"$tmp/json"
    json "$tmp/json" "$2"
}

# alike A B: the same events
alike() {
    "$WEFT" dump "$1" >one 2>&1
    "$WEFT" dump "$2" >two 2>&1
    same "$2" one two
}

begin() { # WORDS...: starts a program that records into live.weft, up to where it says ready
    WEFT_TRACE=$tmp/live.weft "$RECORDED" "$@" ready sleep >fifo &
    live=$!
    read -r <fifo
}

end() { # SIGNAL
    kill -"$1" "$live"
    wait "$live" 2>/dev/null || :
}

# ---- A trace that has ended ----
run 0 "$WEFT" record -o done.weft --size 1M "$RECORDED" threads 2 20000
run 0 "$WEFT" save -o copy.weft done.weft
silent "$tmp/out"
silent "$tmp/err"
alike done.weft copy.weft
FACTS='[d[k] for k in ("events_total", "events", "streams_by", "overwritten", "discarded", "ended", "provenance", "span_ns", "damage")]'
equal 'facts of a copy' "$(fact done.weft "$FACTS")" "$(fact copy.weft "$FACTS")"
equal 'mode of a copy' 600 "$(stat -c %a copy.weft)"
run 0 "$WEFT" save -o again.weft copy.weft
same 'a copy of a copy' copy.weft again.weft
run 0 "$WEFT" save -o - copy.weft
same 'a copy in a pipe' copy.weft "$tmp/out"
"$WEFT" save -o - - <done.weft >again.weft
same 'a copy of a pipe' copy.weft again.weft
run 0 "$WEFT" record -o little.weft "$RECORDED" rounds 10
run 0 "$WEFT" save -o copy.weft little.weft
alike little.weft copy.weft
checks=$((checks + 1))
[ "$(stat -c %s copy.weft)" -lt 16384 ] || fail 'a copy holds what was not used'

# Without a beginning, and without an end
tail -c +5000 done.weft >part.weft
run 0 "$WEFT" save -o copy.weft part.weft
equal 'events without a beginning' "$(fact part.weft 'd["events_total"]')" "$(fact copy.weft 'd["events_total"]')"
head -c 700000 done.weft >part.weft
run 0 "$WEFT" save -o copy.weft part.weft
equal 'events without an end' "$(fact part.weft 'd["events_total"]')" "$(fact copy.weft 'd["events_total"]')"

# ---- One that is being recorded ----
begin rounds 250
for source in live.weft "$live"; do
    run 0 "$WEFT" save -o copy.weft "$source"
    silent "$tmp/err"
    equal "events of $source" 1000 "$(fact copy.weft 'd["events_total"]')"
    equal "end of $source" saved "$(fact copy.weft 'd["ended"]')"
    equal "streams of $source" 1000 "$(fact copy.weft 'd["streams_by"][0]["kept"]')"
    alike live.weft copy.weft
done
run 1 "$WEFT" save -o live.weft "$live"
says "$tmp/err" 'is the source itself'
run 1 "$WEFT" save -o live.weft done.weft
says "$tmp/err" 'is being recorded'
equal 'events of the live trace' 1000 "$(fact live.weft 'd["events_total"]')"
rm live.weft
run 0 "$WEFT" save -o again.weft "$live"
alike copy.weft again.weft # of a deleted trace; the moment of copying differs
end TERM
run 1 "$WEFT" save -o again.weft "$live"
says "$tmp/err" '^weft: process [0-9]+: there is none'
begin rounds 250
end KILL
run 0 "$WEFT" save -o copy.weft live.weft
equal 'a killed one' 'killed 1000' "$(fact copy.weft '"%s %d" % (d["ended"], d["events_total"])')"

# ---- While threads record as fast as they can: each copy is one moment ----
# busy WORDS...: copies while the program runs; then calls check for each
busy() {
    local n=0 i
    rm -f live.weft
    WEFT_TRACE=$tmp/live.weft WEFT_TRACE_SIZE=$size "$RECORDED" ready "$@" >fifo 2>err &
    live=$!
    read -r <fifo
    while kill -0 "$live" 2>/dev/null && [ $n -lt 10 ]; do
        n=$((n + 1))
        run 0 "$WEFT" save -o "copy.$n" live.weft
    done
    kill "$live" 2>/dev/null || :
    wait "$live" 2>/dev/null || :
    for i in $(seq $n); do
        mv "copy.$i" copy.weft
        check
    done
    echo "$n copies while it ran, the last one of $(fact copy.weft 'd["events_total"]') events"
}
# Two threads hand over promises to two others: nothing is fulfilled that was not created.
check() {
    equal 'damage' '0 0 0' "$(fact copy.weft '"%d %d %d" % (d["damage"]["problems"], d["missing"], d["discarded"])')"
    equal 'fulfilled before they were created' 0 "$("$WEFT" promises copy.weft | grep -c preexisting)"
}
size=268435456
busy relay 2 3000000
# A small ring: what is there of each stream is whole. It may have gaps, where a thread was interrupted as it
# retired a packet, and others have overwritten newer ones since; one promise at the edge of each.
check() {
    equal 'damage' '0 0' "$(fact copy.weft '"%d %d" % (d["damage"]["problems"], d["discarded"])')"
    "$WEFT" dump copy.weft >lines
    checks=$((checks + 1))
    awk '/promoted$/ { next }
        $3 == "increase" { split($NF, v, "="); if (last[$2] && v[2] + 0 <= last[$2]) bad++; last[$2] = v[2] + 0 }
        $3 == "creates" { open[$2]++ } $3 == "fulfills" { open[$2]-- }
        END { for (s in open) if (open[s] > 4 || open[s] < -4) bad++; exit bad > 0 }' lines ||
        fail 'a copy is torn'
}
size=2097152
busy threads 3 3000000

# ---- Other traces, and what is none ----
printf '%s\n' '0 0 creates parent=-1 child=1 type=task' '5 0 switch p=1' >lines
"$MKTRACE" mirage.ctf <lines
run 0 "$WEFT" save -o copy.ctf mirage.ctf
same 'a copy of a mirage trace' mirage.ctf copy.ctf
echo nothing >text
: >empty
for source in text empty nowhere .; do
    run 1 "$WEFT" save -o copy.x "$source"
    equal "lines said of $source" 1 "$(wc -l <"$tmp/err")"
done
run 1 "$WEFT" save -o copy.x $$
says "$tmp/err" 'records into no file'
run 1 "$WEFT" save -o nowhere/copy done.weft
equal 'copies of nothing' '' "$(ls copy.x* 2>/dev/null)"
# ---- Xen domains, where there is no Xen, or none of that name ----
for command in info dump promises explain stats profile view 'save -o copy.x' 'save --follow -o nowhere/copy'; do
    # shellcheck disable=SC2086
    run 1 "$WEFT" $command xen:no-such-domain
    equal "lines said by $command" 1 "$(wc -l <"$tmp/err")"
    says "$tmp/err" '^weft: (xen:no-such-domain|nowhere/copy): '
done
cp done.weft xen:done
run 0 "$WEFT" info ./xen:done
run 0 "$WEFT" save -o copy.weft ./xen:done
run 2 "$WEFT" save -o copy.x xen:
run 2 "$WEFT" save --follow -o copy.x done.weft
says "$tmp/err" '^weft save: --follow is for a Xen domain, xen:NAME or xen:NUMBER; see'
run 2 "$WEFT" save --limit 1M -o copy.x done.weft
run 2 "$WEFT" save --json done.weft
equal 'copies of nothing' '' "$(ls copy.x* 2>/dev/null)"
if [ -e /dev/full ]; then
    run 1 "$WEFT" save -o /dev/full done.weft
    says "$tmp/err" 'cannot be written'
fi
if command -v script >/dev/null; then
    checks=$((checks + 1))
    script -qec "'$WEFT' save -o - done.weft" /dev/null </dev/null >terminal 2>&1 && fail 'wrote to a terminal'
    says terminal 'will not write a trace to a terminal'
fi
finish
