#!/bin/bash
# SPDX-License-Identifier: ISC
# One text of 4.6 MB that 50 000 promises have, in a trace of 7 MB: what every command takes and writes is in proportion to
# the file. The limit on CPU time is ten times what they need, and a hundredth of what they needed.
. "$(dirname "$0")/lib.sh"
cd "$tmp"
pages=
! "$WEFT" help html >/dev/null 2>&1 || pages=html

# bounded MEGABYTES ARGUMENT...: it writes no more, to its standard output
bounded() {
    local most=$1 status=0
    shift
    checks=$((checks + 1))
    (ulimit -t 120 && exec "$WEFT" "$@" 2>err | wc -c >size) || status=$?
    case $status in 0 | 1 | 3) ;; *) fail "status $status: weft $*" ;; esac
    [ "$(cat size)" -le "$((most * 1000000))" ] || fail "weft $* writes $(cat size) bytes"
}

for use in type reason pending; do
    python3 "$SOURCE_ROOT/tests/e2e/long_texts.py" $use long.weft
    for command in 'dump' 'promises'; do
        bounded 300 $command long.weft
    done
    for command in 'info' 'info --json --promises' 'explain --all' 'explain --json --all' 'explain --promise 9' 'stats' 'stats --json --by label' \
        'stats --histogram long' 'diff long.weft' 'render --format svg -o -' 'render --search long --format svg -o -' 'save -o copy.weft'; do
        read -ra words <<<"$command"
        bounded 5 "${words[@]}" long.weft
    done
    [ -z "$pages" ] || bounded 20 html -o - long.weft
    bounded 300 export --to mirage -o - long.weft
    bounded 0 export --to ctf -o ctf long.weft
    equal "CTF of $use" yes "$([ "$(du -sm ctf | cut -f 1)" -le 300 ] && echo yes)"
    rm -r ctf
done

# What is left out is said, and comes with --full.
equal 'a label that is cut' '500 …(7692 bytes more)' "$("$WEFT" promises long.weft | sed -n 2p | cut -f 8 | sed -E 's/^(.{500})/500 /')"
equal 'a label' 8192 "$("$WEFT" promises --full long.weft | sed -n 2p | cut -f 8 | tr -d '\n' | wc -c)"
equal 'a text that is cut' 1 "$("$WEFT" dump --to 0 long.weft | grep -c 'label="GET /long.*…(7692 bytes more)"$')"
equal 'a text' 1 "$("$WEFT" dump --full --to 0 long.weft | grep -c 'label="GET /[long ie]*"$')"
run 0 "$WEFT" export --to mirage -o long.ctf long.weft
says "$tmp/err" '1 text is longer than 500 bytes, and cut; --full keeps all$'
equal 'one in a file of mirage' 8193 "$("$WEFT" export --full --to mirage -o - long.weft 2>/dev/null | head -c 20000 | grep -ao 'GET /[long ie]*' | head -n 1 | wc -c)"
finish
