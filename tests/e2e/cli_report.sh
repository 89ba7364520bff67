#!/bin/bash
# SPDX-License-Identifier: ISC
# What all reports have: a pager on a terminal, as many columns as there are, names in any script, ASCII where the locale has no more.
. "$(dirname "$0")/lib.sh"
need_mktrace

cat >"$tmp/lines" <<'END'
0 0 creates parent=-1 child=1 type=task
10 0 creates parent=1 child=2 type=bind
15 0 label p=2 text="漢字かな"
16 0 creates parent=1 child=3 type=task
17 0 label p=3 text="é, é 😀"
18 0 creates parent=1 child=4 type=task
19 0 label p=4 text="a label that is much longer than what a narrow table has room for, so that it is cut"
1500000 0 fulfills resolver=1 p=2
2500000 0 fulfills resolver=1 p=3
3500000 0 fulfills resolver=1 p=4
END
sed -i 's/é, é/\xc3\xa9, e\xcc\x81/' "$tmp/lines"
trace=$tmp/names.ctf
"$MKTRACE" "$trace" <"$tmp/lines"
run 0 env PYTHONDONTWRITEBYTECODE=1 python3 "$SOURCE_ROOT/tests/e2e/cli_report.py" "$WEFT" "$trace"
cat "$tmp/out" "$tmp/err"

# columns FILE: how many each line of the table takes, by Python's idea of wide characters and accents
columns() {
    python3 -c 'import sys, unicodedata as u
for line in open(sys.argv[1]).read().split("\n\n")[1].splitlines():
    if not line.startswith("Labels"):
        print(sum(0 if u.combining(c) else 2 if u.east_asian_width(c) in "WF" else 1 for c in line))' "$1" | sort -u
}
for width in 70 100 200; do
    run 0 env -u LC_ALL LC_CTYPE=C.UTF-8 COLUMNS=$width "$WEFT" stats "$trace"
    equal "widths of lines with COLUMNS=$width" 1 "$(columns "$tmp/out" | wc -l)"
    checks=$((checks + 1))
    [ "$(columns "$tmp/out")" -le $width ] || fail "COLUMNS=$width: lines of $(columns "$tmp/out") columns"
done
says "$tmp/out" 'so that it is cut'
run 0 env COLUMNS=70 LC_ALL=C.UTF-8 "$WEFT" stats "$trace"
says "$tmp/out" '^task a label that.*…'
run 0 env COLUMNS=70 "$WEFT" help stats
checks=$((checks + 1))
[ "$(wc -L <"$tmp/out")" -le 70 ] || fail "--help has lines of $(wc -L <"$tmp/out") columns with COLUMNS=70"

# Where the locale has only ASCII, there is nothing else; what programs read says the same.
ascii() {
    checks=$((checks + 1))
    ! LC_ALL=C grep -q '[^ -~	]' "$tmp/out" "$tmp/err" || fail "not ASCII: $*"
}
for command in info stats 'stats --json' explain 'explain --all' 'explain --promise 2' 'explain --promise 2 --json' dump promises \
    'info --json --promises'; do
    # shellcheck disable=SC2086 # words
    run 0 env LC_ALL=C COLUMNS=100 "$WEFT" $command "$trace"
    ascii "$command"
done
run 0 env LC_ALL=POSIX "$WEFT" stats "$trace"
says "$tmp/out" '^bind \\u6f22\\u5b57\\u304b\\u306a  +1 '
equal 'widths of lines in ASCII' 1 "$(columns "$tmp/out" | wc -l)"
run 0 env LC_ALL=C "$WEFT" stats --json "$trace"
equal 'a label in JSON' 漢字かな "$(json "$tmp/out" 'next(r["label"] for r in d["rows"] if r["type"] == "bind")')"
run 0 env LC_ALL=C "$WEFT" dump "$trace"
"$MKTRACE" "$tmp/again.ctf" <"$tmp/out"
run 0 "$WEFT" dump "$tmp/again.ctf"
same 'a trace that was written down in ASCII' "$tmp/lines" "$tmp/out"
run 2 env LC_ALL=C "$WEFT" stats --sort "größe" "$trace"
ascii 'a message'
run 0 env LC_ALL=C "$WEFT" help explain
ascii help
finish
