#!/bin/bash
# SPDX-License-Identifier: ISC
# weft record --xen where there is no Xen, and where a library in its place says that there is: what is recorded and told,
# and that the program notices nothing. With the real one: tests/xen.
. "$(dirname "$0")/lib.sh"
[ -e "${FAKE_GUEST:-}" ] || missing 'weft is built without Xen'
cd "$tmp"
unset WEFT_TRACE WEFT_TRACE_SIZE WEFT_TRACE_FOR WEFT_XEN LD_PRELOAD

# Misuse
for wrong in '-o x' --memory --sample --force; do
    # shellcheck disable=SC2086
    run 2 "$WEFT" record --xen $wrong -- "$RECORDED" rounds 1
    says "$tmp/err" '^weft record: --xen records into no file'
done
for size in '64K:64 KiB is too small' '4G:4096 MiB is too large'; do
    run 2 "$WEFT" record --xen --size "${size%%:*}" -- "$RECORDED" rounds 1
    says "$tmp/err" "^weft record: --size: ${size#*:}; possible is 72K to 3900M"
done
run 127 "$WEFT" record --xen -- ./nothing-there
says "$tmp/err" '^weft: ./nothing-there: cannot be executed'

# No Xen: the program runs on.
if [ ! -e /dev/xen/gntalloc ]; then
    run 7 "$WEFT" record --xen -- "$RECORDED" rounds 5 exit 7
    equal 'without Xen' 'weft: xen: /dev/xen/gntalloc: No such file or directory; this is not a Xen guest, or modprobe xen-gntalloc; the program runs on without recording' "$(cat "$tmp/err")"
fi

nm -D "$FAKE_GUEST" | grep -q -e __asan -e __ubsan && finish # it could not be loaded

# fake STATUS COMMAND...: as in a guest
fake() {
    local status=$1
    shift
    rm -f "$tmp/machine"
    run "$status" env LD_PRELOAD="$FAKE_GUEST" FAKE_MACHINE="$tmp/machine" "$@"
}

events_in() { # FILE
    "$WEFT" info --json "$1" >"$tmp/json"
    json "$tmp/json" 'd["events_total"]'
}

# Recorded, published last, withdrawn first; the pages have everything.
fake 0 "$WEFT" record --xen -- "$RECORDED" rounds 250
silent "$tmp/out"
cat >wanted <<'EOT'
fake: wrote data/mprof/ring-ref 13,12,15,14,9,8,11,1
weft: xen:web: recording into pages that the control domain can read; there: weft save -o FILE xen:web
fake: removed data/mprof/ring-ref while recording
weft: xen:web: 2,040 KiB were shared, and are gone with the program; while it runs, weft save -o FILE xen:web in the control domain copies them, and with --follow keeps what there is at the end
EOT
same 'what is told' wanted "$tmp/err"
equal events 1000 "$(events_in machine)"
equal ending stopped "$(json "$tmp/json" 'd["ended"]')"

# Killed: nothing is withdrawn, and the pages are as they were.
fake 137 "$WEFT" record --xen --size 4M "$RECORDED" rounds 250 kill
says "$tmp/err" '^fake: wrote data/weft/ring-index [0-9]+$'
says "$tmp/err" 'and are gone with the program; killed by signal 9 '
equal 'nothing is removed' 0 "$(grep -c removed "$tmp/err" || :)"
equal 'events of a killed program' 1000 "$(events_in machine)"
equal ending killed "$(json "$tmp/json" 'd["ended"]')"

# Its own children have the library, and record nothing.
fake 0 "$WEFT" record --xen "$RECORDED" rounds 10 spawn 20
equal 'one records' 1 "$(grep -c 'fake: wrote' "$tmp/err")"
equal 'events with a child' 40 "$(events_in machine)"

# One that becomes another by exec is recorded again; the number that the report had may be another file.
fake 0 "$WEFT" record --xen bash -c 'exec "$0" rounds 30 100>"$1"' "$RECORDED" "$tmp/hundred"
equal 'events after exec' 120 "$(events_in machine)"
silent "$tmp/hundred"

# Without weft record
fake 0 env WEFT_XEN=1048576 "$RECORDED" rounds 5
equal 'without the library' 0 "$(grep -c fake: "$tmp/err" || :)"
fake 0 env WEFT_XEN=1048576 LD_PRELOAD="$FAKE_GUEST:$XEN_LIBRARY" "$RECORDED" rounds 5
equal 'told by itself' 0 "$(grep -c weft: "$tmp/err" || :)"
equal 'events by the environment' 20 "$(events_in machine)"
for size in x 0 64 -5 99999999999; do
    fake 0 env WEFT_XEN=$size LD_PRELOAD="$FAKE_GUEST:$XEN_LIBRARY" "$RECORDED" rounds 5
    equal "WEFT_XEN=$size" 'weft: xen: needs a size from 72K to 3.9G (WEFT_XEN=BYTES); the program runs on without recording' "$(cat "$tmp/err")"
done
fake 0 env WEFT_XEN=1048576 WEFT_TRACE=t.weft LD_PRELOAD="$FAKE_GUEST:$XEN_LIBRARY" "$RECORDED" rounds 5
says "$tmp/err" '^weft: xen: the program is being recorded already \(WEFT_TRACE\); '
equal 'events of the file' 20 "$(events_in t.weft)"

# What cannot be had
refused() { # CALL ERRNO WHAT
    fake 3 env FAKE_FAIL="$1" FAKE_ERRNO="$2" "$WEFT" record --xen "$RECORDED" rounds 5 exit 3
    says "$tmp/err" "^weft: xen: $3.*; the program runs on without recording$"
    equal "call $1: lines" 1 "$(grep -c . "$tmp/err")"
}
refused 1 13 '/dev/xen/gntalloc: Permission denied; only root may share pages'
refused 1 19 '/dev/xen/gntalloc: No such device; this is not a Xen guest, or modprobe xen-gntalloc'
refused 2 28 'there is no room for 512 more shared pages; all programs may share '
refused 2 12 'cannot share 512 pages: Cannot allocate memory'
refused 3 2 'XenStore cannot be reached \(/dev/xen/xenbus\): No such file'
refused 6 7 'XenStore does not take the references of the pages \(below data/\): Argument list too long'
finish
