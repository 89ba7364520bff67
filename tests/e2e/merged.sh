#!/bin/bash
# SPDX-License-Identifier: ISC
# Traces of several processes on one time axis: weft dump of several files.
. "$(dirname "$0")/lib.sh"
: "${CAUSES:?the program}" "${RECORDED:?the program}"
cd "$tmp" || exit 1

# Cause and effect across two processes, also where one has a clock of its own
rounds=4000
for i in $(seq 0 $((rounds - 1))); do
    printf '%s\n' "\"write $i\"" "\"saw $i\"" "\"answer $i\"" "\"got $i\""
done >expected
for odd in '' odd; do
    # shellcheck disable=SC2086 # a word or none
    run 0 "$CAUSES" $odd cause.weft effect.weft "$rounds"
    for files in 'cause.weft effect.weft' 'effect.weft cause.weft'; do
        # shellcheck disable=SC2086 # words
        run 0 "$WEFT" dump $files
        equal 'messages' '' "$(cat err)"
        cp out merged
        grep -o '"[a-z]* [0-9]*"' merged >found
        same "order of cause and effect: $files $odd" expected found
        equal "begins at" 0 "$(cut -d' ' -f2 merged | head -n 1)"
        equal 'times that run backwards' 0 "$(awk '$2 < last { n++ } { last = $2 } END { print n + 0 }' merged)"
    done
    # Each trace's events are those that it has alone.
    for name in cause effect; do
        run 0 "$WEFT" dump $name.weft
        cut -d' ' -f2- out >alone
        grep "^$name.weft " merged | cut -d' ' -f3- >part
        same "events of $name" alone part
    done
done

# Part of the time
from=$(awk '/"write 100"/ { print $2 }' merged) to=$(awk '/"got 100"/ { print $2 }' merged)
run 0 "$WEFT" dump --from "$from" --to "$to" effect.weft cause.weft
equal 'part of the time' 'write saw answer got' "$(grep -o '"[a-z]* 100"' out | tr -d '"0-9 ' | xargs)"

# Names
mkdir one two 'a space'
cp cause.weft one/t.weft
cp effect.weft two/t.weft
cp effect.weft 'a space/t.weft'
names() { # FILE...
    run 0 "$WEFT" dump "$@"
    awk '{ print $1 }' out | sort -u | xargs -d '\n'
}
equal 'names that need a folder' 'one/t.weft two/t.weft' "$(names one/t.weft two/t.weft)"
equal 'names that are twice there' 'cause.weft cause.weft:2' "$(names cause.weft cause.weft)"
run 0 "$WEFT" dump 'a space/t.weft' one/t.weft
equal 'a name with a space' 1 "$(grep -c '^"a space/t.weft" .* creates ' out)"
"$WEFT" dump - cause.weft <effect.weft >out
equal 'standard input' '- cause.weft' "$(awk '{ print $1 }' out | sort -u | xargs)"

# What cannot be, or looks odd
run 2 "$WEFT" dump - -
says "$tmp/err" 'only once'
# shellcheck disable=SC2046 # words
run 2 "$WEFT" dump $(seq 65)
says "$tmp/err" 'no more than 64'
run 1 "$WEFT" dump cause.weft missing.weft
says "$tmp/err" '^weft: missing.weft: '
equal 'nothing is printed' '' "$(cat out)"
if [ -x "${MKTRACE:-}" ]; then
    echo '10 0 creates parent=-1 child=1 type=task' | "$MKTRACE" old.ctf
    run 1 "$WEFT" dump old.ctf cause.weft
    says "$tmp/err" '^weft: old.ctf: .*wall clock.*mirage'
fi
run 0 "$RECORDED" start later.weft rounds 3
run 0 "$WEFT" dump cause.weft later.weft
says "$tmp/err" '^weft: cause.weft: warning: no other trace was recorded at the same time'
says "$tmp/err" '^weft: later.weft: warning: '
equal 'later events come later' later.weft "$(tail -n 1 out | cut -d' ' -f1)"

# The same moment, said by info
run 0 "$WEFT" info --json cause.weft
equal 'wall clock' True "$(json "$tmp/out" \
    'abs(d["first_real_ns"] - d["provenance"]["start_real_ns"]) < 10**9 and not d["wall"]["measured"]')"

finish
