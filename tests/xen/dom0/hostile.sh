# SPDX-License-Identifier: ISC
# A guest that lies on purpose (hostile.c): weft ends soon, by itself, says why, and takes no more memory than is sensible.
# shellcheck shell=dash disable=SC2086,SC3043
# shellcheck disable=SC2154 # first: number of the guest

# bounds: seconds, KiB
seconds=60
memory=131072

trick() { # NAME VERDICT
    local status=0 info=0
    order $first "$1"
    rm -f /tmp/no
    bounded $seconds $memory weft save -o /tmp/no xen:first >/tmp/out 2>/tmp/err || status=$?
    case $2-$status in
    refused-1 | any-1)
        if [ "$(wc -l </tmp/err)" != 1 ] || [ -e /tmp/no ] || ! grep -q '^weft: [[:print:]]*$' /tmp/err; then
            fail "$1: says $(head -n 3 /tmp/err)"
            return
        fi
        say "$1: $(cat /tmp/err)"
        ;;
    any-0)
        bounded $seconds $memory weft info /tmp/no >/tmp/out 2>/tmp/err || info=$?
        if [ $info -gt 1 ]; then
            fail "$1: weft info ends with $info: $(tail -n 1 /tmp/err)"
            return
        fi
        say "$1: a copy of $(stat -c %s /tmp/no) bytes"
        ;;
    *)
        fail "$1: weft save ends with $status: $(tail -n 1 /tmp/err)"
        return
        ;;
    esac
    if [ "$2" = any ]; then
        bounded $seconds $memory weft save xen: >/tmp/out 2>&1 || status=$?
        if [ $status -gt 1 ]; then
            fail "$1: the list ends with $status"
            return
        fi
    fi
    ok "$1"
}

case_hostile() {
    local name verdict
    begin $first hostile || return 0
    hostile list >/tmp/tricks
    while read -r name verdict <&4; do
        trick "$name" "$verdict"
    done 4</tmp/tricks
    order $first nothing
    refuses 'an honest one again' 'offers no trace' xen:first
    start $first 'busybox killall -9 hostile'
    ended $first
}
