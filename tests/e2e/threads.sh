#!/bin/bash
# SPDX-License-Identifier: ISC
# Programs with threads that nobody changed: weft record says of their locks what it would of others, and they notice
# nothing.
. "$(dirname "$0")/lib.sh"
[ -e "$BUILD_ROOT/adapters/preload/weft-threads.so" ] || skip 'no adapter for threads'
bugs=$EXAMPLES/bugs/threads
cd "$tmp"

# recorded TRACE COMMAND...: records its threads
recorded() {
    local trace=$1
    shift
    run 0 "$WEFT" record --force --runtimes threads --size 4M -o "$trace" -- "$@"
}

# ---- What hangs is explained ----
# found NAME LEAST: so does weft explain say of bug.weft
found() {
    "$WEFT" explain --all --json bug.weft >found.json 2>/dev/null &&
        [ -z "$(python3 "$SOURCE_ROOT/tests/e2e/judge.py" "$1" '*' "$2" <found.json)" ]
}

# bug PROGRAM NAME LEAST PATTERN...: of the bad one this is found, while it hangs, and it says so; of the good one nothing
bug() {
    local program=$1 name=$2 least=$3 recorder pattern
    shift 3
    rm -f bug.weft
    "$WEFT" record --runtimes threads --size 4M -o bug.weft -- "$bugs/$program" bad >/dev/null 2>&1 &
    recorder=$!
    checks=$((checks + 1))
    wait_for found "$name" "$least" || "$WEFT" explain --all bug.weft || :
    pkill -TERM -P "$recorder" || :
    wait "$recorder" || :
    run 0 "$WEFT" explain --all bug.weft
    tr -s ' \n' ' ' <"$tmp/out" >text
    for pattern; do
        says text "$pattern"
    done
    "$OWN_CLOCK" "$bugs/$program" good >plain
    recorded good.weft "$OWN_CLOCK" "$bugs/$program" good
    same "$program good" plain "$tmp/out"
    run 0 "$WEFT" explain --all --json good.weft
    equal "$program good" '' "$(python3 "$SOURCE_ROOT/tests/e2e/judge.py" nothing '*' likely <"$tmp/out")"
}

bug transfer deadlock likely "\(thread [0-9]+\), which holds '[^']+' \(mutex [0-9]+\), has waited for '[^']+' \(mutex [0-9]+\).*\(thread [0-9]+\), which holds '[^']+' \(mutex"
bug queue lost-wakeup likely "The signal of '[^']+' \(condition [0-9]+\) came at [0-9.]+ .s, when nobody waited for it, and is lost: '[^']+' \(thread"
bug import hang-root likely "\(mutex [0-9]+\) was never given back; '[^']+' \(thread [0-9]+\) has waited for it since .* '[^']+' \(thread [0-9]+\), which was fulfilled at .* still holds it"
bug phases hang-root likely "for 4' \(barrier [0-9]+\) was never resolved; .* and 'main' \(thread 1\)"
bug config deadlock likely "'[^']+' \(once [0-9]+\) can never be given back: '[^']+' \(thread 1\), .* waits for it by way of '[^']+' \(thread"
bug upgrade deadlock likely "\(rwlock [0-9]+\) can never be given back"

# Whether somebody must post is not known: a worker may wait for work.
"$WEFT" record --force --runtimes threads --size 4M -o bug.weft -- "$bugs/ready" bad >/dev/null 2>&1 &
recorder=$!
is_possible() {
    "$WEFT" explain --all bug.weft 2>/dev/null | tr -s ' \n' ' ' | grep -Eq "hang-root \(possible\) .*\(semaphore [0-9]+\) was never resolved"
}
checks=$((checks + 1))
wait_for is_possible
pkill -TERM -P "$recorder" || :
wait "$recorder" || :

# ---- What is slow, too ----
recorded bug.weft "$OWN_CLOCK" "$bugs/cache" bad
run 0 "$WEFT" explain --all bug.weft
tr -s ' \n' ' ' <"$tmp/out" >text
says text "1\. contention \(likely\) .* % of what 6 of these took went to waiting for '[^']+' \(mutex [0-9]+\), which only one has at a time"
recorded good.weft "$OWN_CLOCK" "$bugs/cache" good
run 0 "$WEFT" explain --all --json good.weft
equal 'cache good' '' "$(python3 "$SOURCE_ROOT/tests/e2e/judge.py" nothing '*' likely <"$tmp/out")"

# ---- The program does not notice ----
"$THREADED" >plain
for much in contended all; do
    run 0 env WEFT_TRACE_THREADS=$much "$WEFT" record --force --runtimes threads --size 4M -o threaded.weft -- "$THREADED"
    same "with $much" plain "$tmp/out"
    says "$tmp/err" '^weft: threaded-[0-9]+.weft: [0-9]+ events, [0-9]+ promises, of process [0-9]+, which it has forked'
    run 0 "$WEFT" explain --all --json threaded.weft
    equal "of a healthy program, with $much" '' "$(python3 "$SOURCE_ROOT/tests/e2e/judge.py" nothing '*' likely <"$tmp/out")"
    run 0 "$WEFT" promises threaded.weft
    cut -f 2,6 "$tmp/out" | sort | uniq -c | sed 's/^ *//' >"kinds.$much"
    equal "threads that were cancelled, with $much" 5 "$(awk '$2 == "thread" && $3 == "cancelled" { print $1 }' "kinds.$much")"
    equal "threads that are pending, with $much" '' "$(awk '$2 == "thread" && $3 == "pending" { print $1 }' "kinds.$much")"
done
# all of them: each lock is a promise; else only those for which somebody waits
checks=$((checks + 1))
[ "$(awk '$2 == "mutex" { n += $1 } END { print n }' kinds.all)" -ge "$(awk '$2 == "mutex" { n += $1 } END { print n }' kinds.contended)" ] ||
    fail "fewer locks with all: $(cat kinds.all) instead of $(cat kinds.contended)"

# A thread ends the process, while main waits for it: that is no hang.
for how in exit _exit; do
    run 4 "$WEFT" record --force --runtimes threads --size 4M -o exit.weft -- "$THREADED" $how
    run 0 "$WEFT" explain --all --json exit.weft
    equal "a thread calls $how" '' "$(python3 "$SOURCE_ROOT/tests/e2e/judge.py" nothing '*' likely <"$tmp/out")"
    run 0 "$WEFT" promises exit.weft
    equal "what is pending after $how" 0 "$(grep -c pending "$tmp/out")"
done

# So it is if the process ends while a thread waits for a lock that main has: main no longer holds it then.
run 4 "$WEFT" record --force --runtimes threads --size 4M -o parks.weft -- "$THREADED" parks
run 0 "$WEFT" explain --all --json parks.weft
equal 'a process ends with a lock' '' "$(python3 "$SOURCE_ROOT/tests/e2e/judge.py" nothing '*' possible <"$tmp/out")"
run 0 "$WEFT" dump parks.weft
equal 'how often the lock is acquired and released' '1 1' "$(grep -c ' acquires ' "$tmp/out") $(grep -c ' releases ' "$tmp/out")"

# ---- A program without a second thread is not recorded ----
run 0 "$WEFT" record --runtimes threads -o single.weft -- cat /dev/null
[ ! -e single.weft ] || fail 'a program with one thread is recorded'

finish
