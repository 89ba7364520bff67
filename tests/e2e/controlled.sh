# SPDX-License-Identifier: ISC
# For scripts that have a program do one thing after the other (tests/tools/controlled.c). Sourced, not run.
# shellcheck shell=bash disable=SC2034,SC2154

begin() { # PROGRAM [WORDS...]: starts it; $pid, which waits for lines
    coproc "$@" 2>>said
    pid=$COPROC_PID
    exec {to}>&"${COPROC[1]}" {from}<&"${COPROC[0]}"
    answer || fail "$* does not begin"
}

send() { # LINE: the program may be gone
    (
        trap '' PIPE
        echo "$*" >&"$to"
    ) 2>/dev/null || :
}

answer() { # prints what the program says up to "ok"
    local line
    while IFS= read -r -t 300 line <&"$from"; do
        [ "$line" != ok ] || return 0
        echo "$line"
    done
    return 1
}

tell() { # LINE: has the program do it
    checks=$((checks + 1))
    send "$*"
    answer || fail "the program did not survive: $*"
}

end() { # [STATUS]
    local status=0
    send quit
    exec {to}>&- {from}<&-
    wait "$pid" || status=$?
    equal 'how the program ended' "${1:-0}" "$status"
}

events() { # FILE
    "$WEFT" info --json "$1" >"$tmp/json"
    json "$tmp/json" 'd["events_total"]'
}
