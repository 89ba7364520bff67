# SPDX-License-Identifier: ISC
# Guests that run, hang or do not record; large traces; those of the old kind.
# shellcheck shell=dash disable=SC2086,SC3043
# shellcheck disable=SC2154 # first, second, third: numbers of guests; answer

threads=3
promises=500

# checked WHAT FILE ENDED OPTION...: the copy of a writer's trace is as it should be. What was seen is in $seen.
checked() {
    local what=$1 file=$2 ended=$3
    shift 3
    check "$what" 0 /bin/check -t $threads -p $promises -e "$ended" "$@" "$file"
    seen=$(cat /tmp/out)
}

# refuses WHAT PATTERN ARGUMENT...: weft ends with 1 and one line that says why, and writes nothing.
refuses() {
    local what=$1 pattern=$2
    shift 2
    rm -f /tmp/no
    check "$what" 1 weft save -o /tmp/no "$@" || return 0
    says "$what: the message" /tmp/err "$pattern"
    equal "$what: lines said" 1 "$(wc -l </tmp/err)"
    [ ! -e /tmp/no ] || fail "$what: a file was written"
}

# The control domain's own.
case_itself() {
    xenstore-write /local/domain/0/data ''
    xenstore-rm /local/domain/0/data/lab/ready 2>/dev/null
    writer -b 4194304 &
    await 60 /local/domain/0/data/lab/ready >/dev/null || fail 'itself: the writer is not ready'
    check 'itself, by number' 0 weft save -o /tmp/a xen:0
    checked 'itself: the copy' /tmp/a saved
    check 'itself, by name' 0 weft save -o /tmp/a xen:Domain-0
    order 0 exit
    wait $!
    refuses 'itself, withdrawn' 'offers no trace' xen:0
    weft record --xen --size 1M -- recorded rounds 250 ready sleep >/tmp/ready 2>/tmp/said &
    until_true 60 grep -q ready /tmp/ready || fail "record --xen: $(cat /tmp/said)"
    says 'record --xen says where' /tmp/said 'weft save -o FILE xen:'
    check 'record --xen' 0 weft save -o /tmp/a xen:0
    equal 'record --xen: events' 1000 "$(weft dump /tmp/a | wc -l)"
    killall recorded
    wait $!
    refuses 'record --xen, killed' 'offers no trace' xen:0
}

case_nothing() {
    refuses 'no trace, by name' 'xen:third.*offers no trace' xen:third
    refuses 'no trace, by number' "xen:$third.*offers no trace" "xen:$third"
    refuses 'no domain of that name' 'no such domain' xen:nobody
    refuses 'no domain of that number' 'no such domain' xen:4000
    check 'list of nothing' 0 weft save xen:
    equal 'list of nothing: lines' '' "$(cat /tmp/out)"
    xenstore-write "/local/domain/$third/name" second
    refuses 'a name taken twice' '2 domains have this name' xen:second
    xenstore-write "/local/domain/$third/name" third
}

# While three threads write as fast as they can.
case_live() {
    local i=0
    begin $first writer || return 0
    key $first mprof/ring-ref
    equal 'live: the old key, 512 pages, two of them for an index' 510 "$(echo "$value" | tr , '\n' | wc -l)"
    key $first weft/ring-index
    equal 'live: the new key is not there' '' "$value"
    check 'list' 0 weft save xen:
    says 'list: the guest' /tmp/out "^ *$first +first +running +2.* weft.*recording"
    equal 'list: nobody else' 1 "$(grep -cE 'first|second|third|Domain-0' /tmp/out)"
    while [ $i -lt "$(argument copies)" ]; do
        i=$((i + 1))
        order $first count
        check "live: copy $i" 0 weft save -o /tmp/a xen:first
        checked "live: what is in copy $i" /tmp/a saved -c "$answer"
    done
    note "the last one: $seen"
    check 'live, by number' 0 weft save -o /tmp/a "xen:$first"
    checked 'live, by number: the copy' /tmp/a saved
    weft save -o - xen:first 2>/tmp/err | cat >/tmp/b
    checked 'live, in a pipe' /tmp/b saved
    check 'live: info' 0 weft info --json xen:first
    says 'live: info says how it ended' /tmp/out '"ended": "(saved|still running)"'
    says 'live: info says what it is' /tmp/out '"program": ".*writer"'
    check 'live: promises' 0 weft promises xen:first
    equal 'live: pending promises' $promises "$(grep -c 'kept [0-9].*pending\|pending.*kept [0-9]' /tmp/out)"
    check 'live: explain' 0 weft explain xen:first
    order $first exit
}

# What the hypervisor does not allow.
case_refused() {
    local pages
    begin $first 'writer -b 1048576' || return 0
    key $first mprof/ring-ref
    pages=$(echo "$value" | cut -d , -f 1-4)
    equal 'mapping to read' mapped "$(probe read $first "$pages")"
    equal 'mapping to write' 'Invalid argument' "$(probe write $first "$pages" 2>/dev/null)"
    order $first abandon
    ended $first
    refuses 'a writer that was killed' 'not shared|does not share|refuse' xen:first
    xenstore-rm "/local/domain/$first/data/mprof"
    begin $first 'writer -d 77 -b 1048576' || return 0
    refuses 'pages for another domain' 'not shared|does not share|refuse' xen:first
    check 'pages for another domain: list' 0 weft save xen:
    says 'pages for another domain: the list says so' /tmp/out '^.*first.*(not shared|does not share|refuse)'
    order $first exit
    ended $first
}

# More pages than the old key can say.
case_pages() {
    local bytes
    for bytes in 3145728 4177920 4186112 16777216; do
        begin $first "writer -b $bytes" || return 0
        key $first mprof/ring-ref
        equal "$((bytes / 4096)) pages: the old key is not there" '' "$value"
        key $first weft/ring-index
        says_index "$((bytes / 4096)) pages: the index" "$value"
        order $first count
        check "$((bytes / 4096)) pages" 0 weft save -o /tmp/a xen:first
        checked "$((bytes / 4096)) pages: the copy" /tmp/a saved -c "$answer"
        order $first exit
        ended $first
    done
}

says_index() { # WHAT VALUE
    case $2 in
    '' | *[!0-9]*) fail "$1: '$2' is no reference" ;;
    *) ok "$1" ;;
    esac
}

# A large one, which is refused where it is too large.
case_large() {
    begin $first 'writer -b 67108864' || return 0
    refuses 'larger than --limit' 'limit' --limit 32M xen:first
    check '64 MiB' 0 weft save -o /tmp/a xen:first
    checked '64 MiB: the copy' /tmp/a saved
    note "64 MiB: $seen, $(stat -c %s /tmp/a) bytes"
    order $first exit
    ended $first
}

# As large as it gets without --limit. By hand, since it takes memory:
#   XEN_MEMORY=4096 XEN_CASES=huge XEN_ARGUMENTS='gnttab_max_frames=1024 gnttab_max_maptrack_frames=4096' tests/xen/run
case_huge() {
    create giant 1500 'max_grant_frames=1024'
    await 120 "/local/domain/$giant/data/lab/up" >/dev/null || give_up 'giant does not come up'
    begin $giant "writer -n 200000 -b $((1 << 30))" || return 0
    order $giant count
    now
    note '1 GiB: begin'
    check '1 GiB' 0 weft save -o /tmp/a xen:giant
    note "1 GiB: saved; $(cat /tmp/err)"
    checked '1 GiB: the copy' /tmp/a saved -c "$answer"
    note "1 GiB: $seen, $(stat -c %s /tmp/a) bytes"
    check '1 GiB: the list' 0 weft save xen:
    note "$(grep giant /tmp/out)"
    xl destroy giant
}

case_mirage() {
    local i
    begin $first 'mirage 64' || return 0
    for i in 1 2 3 4 5; do
        check "mirage: copy $i" 0 weft save -o /tmp/a xen:first
        check "mirage: what is in copy $i" 0 /bin/check /tmp/a
    done
    note "the last one: $(cat /tmp/out)"
    check 'mirage: info' 0 weft info --json xen:first
    says 'mirage: info says what it is' /tmp/out '"format": "mirage"'
    check 'mirage: list' 0 weft save xen:
    says 'mirage: the list says what it is' /tmp/out "first.*mirage"
    start $first 'busybox killall -9 mirage'
    ended $first
    xenstore-rm "/local/domain/$first/data/mprof"
}

# What was recorded before it hung is all there, and the copy ends when it was made.
case_hang() {
    begin $first writer || return 0
    order $first hang
    sleep 1
    check 'hang' 0 weft save -o /tmp/a xen:first
    checked 'hang: the copy' /tmp/a saved -c "$answer" -s 900
    check 'hang: explain' 0 weft explain /tmp/a
    order $first exit
    ended $first
}
