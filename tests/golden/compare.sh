# SPDX-License-Identifier: ISC
# Sourced by the scripts here, which have read their options into $accept.
failures=0

# compare NAME EXPECTED FOUND: two files. NAME is what the script takes as an argument to do only this.
compare() {
    cmp -s "$2" "$3" && return
    if [ -n "$accept" ]; then
        echo "accepted: ${2##*/}"
        cp "$3" "$2"
    else
        failures=$((failures + 1))
        echo "FAILED: ${2##*/} (tests/golden/${0##*/} --accept $1 takes it)"
        diff -uN "$2" "$3" | cut -c1-400 | head -n 60
    fi
}
