#!/bin/bash
# SPDX-License-Identifier: ISC
# Several files, files one after another, standard input, damaged files.
. "$(dirname "$0")/lib.sh"
need_mktrace

make() { # FILE FIRST_ID COUNT MKTRACE_OPTION...
    local file=$1 first=$2 count=$3 i
    shift 3
    for i in $(seq "$first" $((first + count - 1))); do
        echo "$((i * 10)) 0 creates parent=-1 child=$i type=task"
        echo "$((i * 10 + 5)) 0 fulfills resolver=-1 p=$i"
    done | "$MKTRACE" "$@" "$file"
}
make "$tmp/a.ctf" 1 100 --packet-bytes 500
make "$tmp/b.ctf" 101 50 --packet-bytes 500 --sequence 12

# Several files
run 0 "$WEFT" info --json "$tmp/a.ctf" "$tmp/b.ctf"
equal 'events of both' 300 "$(json "$tmp/out" 'd["events_total"]')"
equal 'events of each' '[200, 100]' "$(json "$tmp/out" '[t["events_total"] for t in d["traces"]]')"
equal 'promises of each' '[100, 50]' "$(json "$tmp/out" '[t["promises"] for t in d["traces"]]')"
run 0 "$WEFT" info "$tmp/a.ctf" "$tmp/b.ctf"
equal 'traces shown' 2 "$(grep -c '^  events ' "$tmp/out")"
run 1 "$WEFT" info --json "$tmp/a.ctf" "$tmp/missing" "$tmp/b.ctf"
equal 'events of those that are there' 300 "$(json "$tmp/out" 'd["events_total"]')"
says "$tmp/err" '^weft: .*missing: '

# One after another in one file
cat "$tmp/a.ctf" "$tmp/b.ctf" >"$tmp/both.ctf"
run 0 "$WEFT" info --json "$tmp/both.ctf"
equal 'concatenated: events' 300 "$(json "$tmp/out" 'd["events_total"]')"
equal 'concatenated: promises' 150 "$(json "$tmp/out" 'd["promises"]')"
run 0 "$WEFT" promises "$tmp/both.ctf"
equal 'concatenated: promises' 151 "$(wc -l <"$tmp/out")"

# Standard input: a pipe, and a file
for command in dump promises 'info --json' 'info --json --promises' 'export --to mirage -o -' \
    'render -o - --format svg --no-legend'; do
    # shellcheck disable=SC2086 # words
    "$WEFT" $command "$tmp/both.ctf" >"$tmp/file" 2>&1
    # shellcheck disable=SC2086,SC2002
    cat "$tmp/both.ctf" | "$WEFT" $command - >"$tmp/pipe" 2>&1 || fail "$command - failed"
    # shellcheck disable=SC2086
    "$WEFT" $command - <"$tmp/both.ctf" >"$tmp/redirected" 2>&1 || fail "$command - failed"
    # The name of the file is the only difference.
    sed -i "s,$tmp/both.ctf,-,; s,both\\.ctf,standard input,g" "$tmp/file"
    case $command in
    render*) ;; # cut texts have other widths
    *) same "$command of a pipe" "$tmp/file" "$tmp/pipe" ;;
    esac
    same "$command of standard input" "$tmp/pipe" "$tmp/redirected"
done
run 1 "$WEFT" dump -
says "$tmp/err" '^weft: standard input: '

# A file cut anywhere: what is whole is read
size=$(stat -c %s "$tmp/a.ctf")
last=0
head -c 47 "$tmp/a.ctf" >"$tmp/cut.ctf"
run 1 "$WEFT" info --json "$tmp/cut.ctf"
says "$tmp/err" 'not a single event'
equal 'cut before the first event: problems' 1 "$(json "$tmp/out" 'd["damage"]["problems"]')"
for at in $(seq 60 97 "$size"); do
    head -c "$at" "$tmp/a.ctf" >"$tmp/cut.ctf"
    run 0 "$WEFT" info --json "$tmp/cut.ctf"
    events=$(json "$tmp/out" 'd["events_total"]')
    checks=$((checks + 1))
    [ "$events" -ge "$last" ] || fail "cut at $at: $events events, after $last"
    last=$events
    if [ $((at % 5)) -eq 0 ]; then
        run 0 "$WEFT" dump "$tmp/cut.ctf"
        equal "cut at $at: dump" "$events" "$(wc -l <"$tmp/out")"
        run 0 "$WEFT" promises "$tmp/cut.ctf"
        run 0 "$WEFT" export --to mirage -o "$tmp/copy.ctf" "$tmp/cut.ctf"
        run 0 "$WEFT" dump "$tmp/copy.ctf"
        equal "cut at $at: export" "$events" "$(wc -l <"$tmp/out")"
    fi
done

# Rubbish between packets: told in few lines, with the place; status 0
head -c 1000 /dev/zero | cat "$tmp/a.ctf" - "$tmp/b.ctf" >"$tmp/rubbish.ctf"
run 0 "$WEFT" dump "$tmp/rubbish.ctf"
equal 'rubbish: events' 300 "$(wc -l <"$tmp/out")"
says "$tmp/err" "^weft: .*rubbish.ctf: warning: .*, at offset $size"
run 0 "$WEFT" info "$tmp/rubbish.ctf"
says "$tmp/out" 'damage .*1,000 bytes skipped'
for i in $(seq 1 40); do
    cat "$tmp/b.ctf"
    printf 'rubbish'
done >"$tmp/much.ctf"
run 0 "$WEFT" promises "$tmp/much.ctf"
checks=$((checks + 1))
[ "$(wc -l <"$tmp/err")" -le 12 ] || fail "$(wc -l <"$tmp/err") lines of warnings"
says "$tmp/err" '… and [0-9]+ more'

# Ids far apart count as those next to each other do
for i in $(seq 1 500); do
    echo "$i 0 read reader=$((i * 1234567891234567)) source=$((i % 7 - 1))"
    echo "$i 0 label p=$((i % 300 - 1)) text=\"x\""
    echo "$i 0 try_read reader=$((i + 5000)) source=-1"
done | "$MKTRACE" "$tmp/sparse.ctf"
run 0 "$WEFT" promises "$tmp/sparse.ctf"
lines=$(wc -l <"$tmp/out")
run 0 "$WEFT" info --json "$tmp/sparse.ctf"
equal 'sparse: promises' $((lines - 1)) "$(json "$tmp/out" 'd["promises"]')"

# Control characters reach no terminal
printf '%s\n' '0 0 label p=1 text="\x1b]0;evil\x07\xc2\x9b31m\x7f<b>&"' | "$MKTRACE" "$tmp/evil.ctf"
for command in dump 'info --promises'; do
    # shellcheck disable=SC2086 # words
    run 0 "$WEFT" $command "$tmp/evil.ctf"
    checks=$((checks + 1))
    ! LC_ALL=C grep -q $'[\x1b\x07\x7f]' "$tmp/out" || fail "$command prints control characters"
done
terminal() { python3 "$SOURCE_ROOT/tests/e2e/terminal.py" 100 WEFT_PAGER= "$@"; }
run 0 terminal "$WEFT" promises "$tmp/evil.ctf"
says "$tmp/out" 'x1b'
checks=$((checks + 1))
! LC_ALL=C grep -q $'[\x1b\x07\x7f]' "$tmp/out" || fail 'promises prints control characters'
run 2 terminal "$WEFT" export --to mirage -o - "$tmp/a.ctf"
says "$tmp/out" 'will not write'
finish
