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

# looked_at PID: its copy is what is seen of it from outside, not the trace of another one. Or nothing can be read of it.
looked_at() {
    checks=$((checks + 1))
    if "$WEFT" save -o copy.weft "$1" 2>"$tmp/err"; then
        run 0 "$WEFT" info --json copy.weft
        equal 'it was looked at' "$1" "$(json "$tmp/out" 'd["provenance"]["outside"] and d["provenance"]["pid"]')"
    else
        says "$tmp/err" 'cannot be read'
    fi
}

# ---- A process that puts a link to another one's trace into the place of what it has mapped ----
begin rounds 10
python3 - "$tmp" >fifo <<'END' &
import mmap, os, sys, time
os.chdir(sys.argv[1])
with open("own", "w+b") as f:
    f.truncate(8192)
    mapped = mmap.mmap(f.fileno(), 8192)
os.remove("own")
os.symlink("live.weft", "own (deleted)") # as the kernel calls it now
print("ready", flush=True)
time.sleep(1000)
END
liar=$!
read -r <fifo
if [ "$(id -u)" -eq 0 ]; then
    looked_at "$liar"
fi
kill "$liar"
wait "$liar" 2>/dev/null || :
run 0 "$WEFT" save -o copy.weft "$live"

# ---- Processes that claim to record ----
# lie HOW [BYTES]: sets $pid, and $child
lie() {
    python3 "$SOURCE_ROOT/tests/e2e/liar.py" "$1" live.weft lie.weft ${2:+"$2"} >fifo &
    liar=$!
    read -r pid child <fifo
}
truth() {
    kill "$pid" ${child:+"$child"}
    wait "$liar" 2>/dev/null || :
    rm -f lie.weft copy.weft
}
chmod 755 "$tmp"
lie mapped
run 0 "$WEFT" save -o copy.weft "$pid"
equal 'end of a claim' saved "$(fact copy.weft 'd["ended"]')"
run 1 "$WEFT" save --limit 64K -o copy.weft "$pid"
says "$tmp/err" 'is .* large, more than --limit allows'
run 0 "$WEFT" save --limit 1G -o copy.weft "$pid"
truth
lie foreign
for command in 'save -o copy.weft' explain; do
    # shellcheck disable=SC2086
    run 1 "$WEFT" $command "$pid"
    says "$tmp/err" "process $pid has only the trace of another process, which calls itself $live there"
done
truth
lie forked
run 0 "$WEFT" save -o copy.weft "$pid"
run 1 "$WEFT" save -o copy.weft "$child"
says "$tmp/err" "process $child has only the trace of another process, which calls itself $pid"
truth
# A hole
lie large 17179869184
for command in 'save -o copy.weft' 'save -o -' explain info; do
    # shellcheck disable=SC2086
    run 1 "$WEFT" $command "$pid"
    says "$tmp/err" 'is 16 GiB large, but takes only .* on its disk'
done
truth
lie large 536870912
TMPDIR=$tmp run 0 "$WEFT" save -o copy.weft "$pid"
checks=$((checks + 1))
[ "$(stat -c %s copy.weft)" -gt 60000000 ] || fail 'the hole is not in the copy'
checks=$((checks + 1))
[ $(($(stat -c '%b * %B' copy.weft))) -lt 30000000 ] || fail 'a copy of a hole takes room'
truth
if [ "$(id -u)" -eq 0 ]; then
    # What it could read when it was somebody else, and has mapped.
    lie dropped
    run 0 "$WEFT" save -o copy.weft "$pid"
    truth
    lie reading
    run 0 "$WEFT" save -o copy.weft "$pid"
    truth
    lie path # what it cannot read
    looked_at "$pid"
    truth
else
    echo 'not tried with processes of other users: only root can start them'
fi
if unshare --pid --fork --mount-proc true 2>/dev/null; then
    WEFT_TRACE=$tmp/inner.weft unshare --pid --fork --mount-proc --kill-child "$RECORDED" rounds 250 ready sleep >fifo &
    liar=$!
    read -r <fifo
    pid=$(cat "/proc/$liar/task/$liar/children")
    pid=${pid% }
    run 0 "$WEFT" save -o copy.weft "$pid"
    equal 'a container: number, end' '1 saved' "$(fact copy.weft '"%d %s" % (d["provenance"]["pid"], d["ended"])')"
    kill -KILL "$pid"
    wait "$liar" 2>/dev/null || :
else
    echo 'not tried in a pid namespace: none can be made here'
fi
end KILL
rm -f copy.weft live.weft inner.weft "own (deleted)"

# ---- A trace that has ended ----
run 0 "$WEFT" record -o done.weft --size 1M "$RECORDED" threads 2 20000
run 0 "$WEFT" save -o copy.weft done.weft
silent "$tmp/out"
silent "$tmp/err"
alike done.weft copy.weft
FACTS='[d[k] for k in ("events_total", "events", "streams_by", "overwritten", "missing", "discarded", "ended", "provenance", "span_ns", "damage")]'
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

# Compressed, to a file and through a pipe; and not any more
run 0 "$WEFT" save --compress -o copy.weft.zst done.weft
alike done.weft copy.weft.zst
equal 'facts of a compressed copy' "$(fact done.weft "$FACTS")" "$(fact copy.weft.zst "$FACTS")"
checks=$((checks + 1))
[ "$(stat -c %s copy.weft.zst)" -lt $(($(stat -c %s done.weft) / 4)) ] || fail "$(stat -c %s copy.weft.zst) bytes are not a fourth"
run 0 "$WEFT" save -z -o - done.weft
same 'a compressed copy in a pipe' copy.weft.zst "$tmp/out"
run 0 "$WEFT" save -o again.weft copy.weft.zst
run 0 "$WEFT" save -o copy.weft done.weft
same 'a copy of a compressed copy' copy.weft again.weft
run 0 "$WEFT" save -z -o again.weft.zst copy.weft.zst
same 'a compressed copy of one' copy.weft.zst again.weft.zst
checks=$((checks + 1))
if command -v zstd >/dev/null; then
    zstd -tq copy.weft.zst || fail 'zstd does not read it'
fi

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
run 0 "$WEFT" save -z -o copy.weft.zst "$live"
equal 'a compressed live one' 'saved 1000' "$(fact copy.weft.zst '"%s %d" % (d["ended"], d["events_total"])')"
# Any command takes the id of the process, and sees a copy.
for command in info dump promises stats explain 'render -o one.svg' 'export --to mirage -o one.ctf' 'diff live.weft' \
    'info --json' 'diff --json live.weft' 'stats --json' "dump live.weft"; do
    # shellcheck disable=SC2086
    run 0 "$WEFT" $command "$live"
done
run 0 "$WEFT" info --json "$live"
equal 'what info says of a process' "$live saved 1000" "$(json "$tmp/out" '"%s %s %d" % (d["file"], d["ended"], d["events_total"])')"
run 0 "$WEFT" diff "$live" "$live"
if "$WEFT" help html >/dev/null 2>&1; then
    run 0 "$WEFT" html -o one.html "$live"
fi
: >"$live" # a file of that name comes first
run 1 "$WEFT" info "$live"
says "$tmp/err" ': is empty: nothing was recorded into it'
run 1 "$WEFT" save -o copy.weft "$live"
rm "$live"
run 1 "$WEFT" info 0
says "$tmp/err" '^weft: 0: cannot be opened: No such file'
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    chmod 755 "$tmp"
    cp "$WEFT" .
    run 1 setpriv --reuid 65534 --regid 65534 --clear-groups ./weft explain "$live"
    says "$tmp/err" "^weft: $live: the files of process $live cannot be read: it is another user's, or has more rights than you; be root"
else
    echo 'not tried as another user: only root can become one'
fi
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
says "$tmp/err" "^weft: $live: there is no process $live; "
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
    equal 'damage' '0 0 0' "$(fact copy.weft '"%d %d %d" % (d["damage"]["problems"], d["missing_packets"], d["discarded"])')"
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
run 0 "$WEFT" save -z -o copy.zst mirage.ctf
alike mirage.ctf copy.zst
echo nothing >text
: >empty
for source in text empty nowhere .; do
    run 1 "$WEFT" save -o copy.x "$source"
    equal "lines said of $source" 1 "$(wc -l <"$tmp/err")"
done
run 1 "$WEFT" save -o copy.x 2147483632
says "$tmp/err" '^weft: 2147483632: there is no process 2147483632'
run 1 "$WEFT" save -o nowhere/copy done.weft
equal 'copies of nothing' '' "$(ls copy.x* copy.svg 2>/dev/null)"
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
run 2 "$WEFT" save -z xen:
says "$tmp/err" 'which of them is to be compressed'
run 2 "$WEFT" save --follow -o copy.x done.weft
says "$tmp/err" '^weft save: --follow is for a Xen domain, xen:NAME or xen:NUMBER; see'
run 1 "$WEFT" save --limit 64K -o copy.x done.weft
says "$tmp/err" 'is 1024 KiB large, more than --limit allows'
run 2 "$WEFT" save --limit 0 -o copy.x done.weft
run 2 "$WEFT" save --json done.weft
equal 'copies of nothing' '' "$(ls copy.x* 2>/dev/null)"
if [ -e /dev/full ]; then
    for how in '' -z; do
        # shellcheck disable=SC2086
        run 1 "$WEFT" save $how -o /dev/full done.weft
        says "$tmp/err" 'cannot be written'
    done
fi
run 2 python3 "$SOURCE_ROOT/tests/e2e/terminal.py" 100 "$WEFT" save -o - done.weft
says "$tmp/out" 'will not write a trace to a terminal'
finish
