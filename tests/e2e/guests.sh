#!/bin/bash
# SPDX-License-Identifier: ISC
# Traces of Xen domains, in a weft of which a domain is a folder (tools/fake_xen.c); tests/xen has the real ones.
. "$(dirname "$0")/lib.sh"
[ -x "${WEFT_FAKE_XEN:-}" ] || missing 'this weft was built without Xen'
[ -x "${RECORDED:-}" ] || skip 'RECORDED is not set'
need_mktrace
cd "$tmp"
unset WEFT_TRACE WEFT_TRACE_SIZE WEFT_TRACE_FOR
export FAKE_XEN=$tmp/xen
mkdir xen
mkfifo fifo
W=$WEFT_FAKE_XEN
live=

# domain ID NAME [PAGES_FILE]: one that runs, and offers all of the file, if there is one
domain() {
    local d=xen/$1
    mkdir -p "$d/data/mprof" "$d/data/weft"
    printf %s "$2" >"$d/name"
    state "$1" running
    [ -z "${3:-}" ] || ln -sf "$tmp/$3" "$d/pages"
    [ -z "${3:-}" ] || offer "$1"
}

# offer ID: as mirage-profile does
offer() {
    local pages=$((($(stat -Lc %s "xen/$1/pages") + 4095) / 4096))
    seq -s , 8 $((7 + pages)) | tr -d '\n' >refs
    mv refs "xen/$1/data/mprof/ring-ref" # at once
}

state() { # ID STATE
    printf %s "$2" >"xen/$1.state"
    mv "xen/$1.state" "xen/$1/state"
}

begin() { # WORDS...: starts a program that records into live.weft, up to where it says ready
    WEFT_TRACE=$tmp/live.weft WEFT_TRACE_SIZE=$size "$RECORDED" "$@" ready sleep >fifo &
    live=$!
    read -r <fifo
}

end() {
    kill -KILL "$live"
    wait "$live" 2>/dev/null || :
}

fact() { # FILE EXPRESSION
    "$W" info --json "$1" >json 2>/dev/null
    json json "$2"
}

# until_said FILE PATTERN
until_said() {
    wait_for grep -Eq -e "$2" "$1"
}

# ---- Nothing there ----
run 0 "$W" save xen:
silent "$tmp/out"
says "$tmp/err" 'no domain offers a trace; a guest does by weft record --xen'
run 0 "$W" save --json xen:
equal 'an empty list' '[]' "$(tr -d ' \n' <"$tmp/out")"
domain 0 Domain-0
domain 3 web
run 0 "$W" save xen:
says "$tmp/err" 'no domain offers a trace'
run 1 "$W" save -o copy.weft xen:web
says "$tmp/err" '^weft: xen:web: .*offers no trace'
run 1 "$W" save -o copy.weft xen:nothing
says "$tmp/err" '^weft: xen:nothing: there is no such domain'
run 1 "$W" info xen:4
says "$tmp/err" '^weft: xen:4: there is no such domain'
equal 'copies of nothing' '' "$(ls copy* 2>/dev/null)"

# ---- One that records ----
size=1048576
begin rounds 250
domain 3 web live.weft
for source in xen:web xen:3; do
    run 0 "$W" save -o copy.weft $source
    silent "$tmp/err"
    equal "$source" 'saved 1000' "$(fact copy.weft '"%s %d" % (d["ended"], d["events_total"])')"
    equal 'mode of a copy' 600 "$(stat -c %a copy.weft)"
    "$W" save -o - $source | cat >piped.weft
    "$W" dump copy.weft >one
    "$W" dump piped.weft >two
    same "$source through a pipe" one two
    "$W" save -o - $source >redirected.weft
    "$W" dump redirected.weft >two
    same "$source to standard output" one two
done
"$W" dump xen:web >two
same 'weft dump' one two
equal 'weft info' '["xen:web", "saved", 1000]' "$(fact xen:web '[d["file"], d["ended"], d["events_total"]]' | tr "'" '"')"
run 0 "$W" promises xen:web
equal 'weft promises' 250 "$(($(wc -l <"$tmp/out") - 1))"
run 0 "$W" render -o picture.svg xen:web
says picture.svg 'xen:web'
run 0 "$W" export --to mirage -o copy.ctf xen:web
run 0 "$W" diff xen:web xen:3
run 0 "$W" stats xen:3
if "$W" help html >/dev/null 2>&1; then
    run 0 "$W" html -o page.html xen:web
    says page.html 'data-trace="xen:web"'
fi
run 1 "$W" profile xen:web
says "$tmp/err" '^weft: xen:web: there are no samples in it'

# A file of that name
cp copy.weft xen:file
run 0 "$W" info ./xen:file
run 1 "$W" info xen:file
says "$tmp/err" '^weft: xen:file: there is no such domain'

# ---- How it is ----
state 3 crashed
run 0 "$W" save -o copy.weft xen:web
says "$tmp/err" '^weft: xen:web: domain 3 \(web\) has crashed$'
equal 'of a crashed one' 'killed 1000' "$(fact copy.weft '"%s %d" % (d["ended"], d["events_total"])')"
run 0 "$W" info xen:web
silent "$tmp/err"
says "$tmp/out" 'ended +killed'
state 3 'shut down'
run 0 "$W" save -o copy.weft xen:web
says "$tmp/err" 'has shut down$'
equal 'of one that shut down' killed "$(fact copy.weft 'd["ended"]')"
state 3 unknown
run 0 "$W" save -o copy.weft xen:web
silent "$tmp/err"
equal 'of one that may run' saved "$(fact copy.weft 'd["ended"]')"
state 3 running

# ---- The list ----
printf '%s\n' '0 0 creates parent=-1 child=1 type=task' '5 0 switch p=1' >lines
"$MKTRACE" mirage.ctf <lines
head -c 8192 /dev/zero >zeros
"$W" record -o stopped.weft --size 1M "$RECORDED" rounds 10 2>/dev/null
domain 5 $'bad\033[31m\nname' mirage.ctf
domain 6 "$(printf 'x%.0s' {1..200})" zeros
domain 12 old stopped.weft
domain 13 liar zeros
printf 100,8,9 >xen/13/data/mprof/ring-ref
domain 14 text zeros
printf '8,nine' >xen/14/data/mprof/ring-ref
run 0 "$W" save xen:
silent "$tmp/err"
says "$tmp/out" '^ +ID  NAME +STATE +SIZE  TRACE$'
says "$tmp/out" '^ +3  web +running +[0-9]+ KiB  weft, recording$'
says "$tmp/out" '^ +5  bad.*name +running +4096 bytes  mirage$'
says "$tmp/out" '^ +6  xxxx.*… +running +8192 bytes  no trace$'
says "$tmp/out" '^ +12  old +running +[0-9]+ KiB  weft, stopped$'
says "$tmp/out" '^ +13  liar +running +-  reference 100 '
says "$tmp/out" '^ +14  text +running +-  data/mprof/ring-ref'
equal 'lines of the list' 7 "$(wc -l <"$tmp/out")"
equal 'escapes in the list' 0 "$(grep -c $'\033' "$tmp/out")"
run 0 "$W" save --json xen:
equal 'as JSON' '[3, 5, 6, 12, 13, 14] web running recording mirage True None True' \
    "$(json "$tmp/out" '[e["id"] for e in d], d[0]["name"], d[0]["state"], d[0]["trace"], d[1]["format"], d[0]["bytes"] > 1000000, d[4]["bytes"], "reference 100" in d[4]["error"]' |
        tr -d "(')" | sed -e 's/\], /] /' -e 's/\], */] /' -e 's/\([a-zT]\), /\1 /g' -e 's/None, /None /')"

# complete_words WORD...: what bash proposes for the last one
complete_words() {
    (
        weft() { "$W" "$@"; }
        . "$SOURCE_ROOT/completions/weft.bash"
        COMP_WORDS=(weft "$@") COMP_CWORD=$#
        _weft
        echo "${COMPREPLY[*]}"
    )
}
equal 'completion of xen:' web "$(complete_words save -o copy.weft xen : | cut -d ' ' -f 1)"
equal 'completion of xen:w' web "$(complete_words info xen : w)"
equal 'completion of a name with anything in it' "\$'bad\E[31m\nname'" "$(complete_words info xen : b)"

state 3 crashed
run 0 "$W" save xen:
says "$tmp/out" '^ +3  web +crashed +[0-9]+ KiB  weft, killed$'
state 3 running
run 1 "$W" save -o copy.x xen:6
says "$tmp/err" '^weft: xen:6: offers 8192 bytes that are no trace'
run 1 "$W" save -o copy.x xen:liar
run 1 "$W" info xen:text
run 0 "$W" save -o copy.ctf xen:5
"$W" dump mirage.ctf >one
"$W" dump copy.ctf >two
same 'a trace of mirage-profile' one two
run 0 "$W" info xen:5
run 0 "$W" save -o copy.weft xen:old
equal 'one that was stopped' stopped "$(fact copy.weft 'd["ended"]')"

# ---- Limits ----
run 1 "$W" save --limit 64K -o copy.x xen:web
says "$tmp/err" 'offers .*; the limit is 65536 bytes; --limit SIZE allows more$'
run 2 "$W" save --limit 64K xen:
equal 'copies of nothing' '' "$(ls copy.x* 2>/dev/null)"
domain 7 web zeros
run 1 "$W" save -o copy.x xen:web
says "$tmp/err" '2 domains have this name: 3, 7'
rm -r xen/7
if [ -e /dev/full ]; then
    run 1 "$W" save -o /dev/full xen:web
    says "$tmp/err" 'cannot be written'
fi
mkdir small
if mount -t tmpfs -o size=64K weft small 2>/dev/null; then
    run 1 "$W" save --follow -o small/copy xen:web
    says "$tmp/err" '^weft: xen:web: its [0-9]+ bytes have no room in small/copy: No space left'
    equal 'copies where there is no room' '' "$(ls small)"
    umount small
fi
run 1 "$W" save -o nowhere/copy xen:web
run 1 "$W" save --follow -o nowhere/copy xen:web
run 1 "$W" save -o live.weft xen:web
says "$tmp/err" 'is being recorded'

# ---- Misuse ----
run 2 "$W" save -o copy.x xen:
says "$tmp/err" 'which of them is to be saved'
run 2 "$W" save --follow xen:
run 2 "$W" save --follow -o copy.x live.weft
says "$tmp/err" '--follow is for a Xen domain'
run 0 "$W" save --limit 1M -o copy.x $$
says "$tmp/err" 'records nothing: this is what it waits for now'
rm copy.x
run 2 "$W" save --limit much -o copy.x xen:web
run 2 "$W" save --json -o copy.x xen:web
run 2 "$W" save xen:web
says "$tmp/err" '-o FILE is missing'

# ---- Following ----
# follow OUT SOURCE: in the background, what it says in said
follow() {
    : >said
    "$W" save --follow -o "$1" "$2" 2>said &
    follower=$!
}

followed() { # STATUS
    local status=0
    wait $follower || status=$?
    equal 'status of --follow' "$1" $status
    equal 'left over' '' "$(ls kept.weft.* 2>/dev/null)"
}

# mapped FILE: until the follower has opened it
mapped() {
    wait_for grep -q "$1" "/proc/$follower/maps"
}

# A domain that is not there yet, then offers nothing yet, then records, then crashes
rm -rf xen/3
follow kept.weft xen:web
until_said said 'there is no such domain; waiting$'
domain 3 web
ln -s "$tmp/live.weft" xen/3/pages
offer 3
mapped live.weft
checks=$((checks + 1))
kill -0 $follower || fail 'does not wait'
[ ! -e kept.weft ] || fail 'is there before it is complete'
end
state 3 crashed
followed 0
says said '^weft: xen:web: domain 3 \(web\) has crashed$'
equal 'lines said' 2 "$(wc -l <said)"
equal 'followed to its crash' 'killed 1000' "$(fact kept.weft '"%s %d" % (d["ended"], d["events_total"])')"
# One that has crashed already
follow kept.weft xen:3
followed 0

# A domain that is destroyed: nothing of it is left but what is mapped
begin rounds 20
rm -rf xen/3
domain 3 web
follow kept.weft xen:web
until_said said 'offers no trace.*; waiting$'
ln -s "$tmp/live.weft" xen/3/pages
offer 3
mapped live.weft
rm -rf xen/3
followed 0
says said 'domain 3 \(web\) is gone$'
equal 'followed to its end' 'killed 80' "$(fact kept.weft '"%s %d" % (d["ended"], d["events_total"])')"

# One that takes its trace back
domain 3 web stopped.weft
follow kept.weft xen:web
mapped stopped.weft
rm xen/3/data/mprof/ring-ref
followed 0
says said 'has withdrawn its trace'
equal 'followed until it was withdrawn' stopped "$(fact kept.weft 'd["ended"]')"
# (Some file systems need some blocks more.)
checks=$((checks + 1))
[ $(($(stat -c '%b * %B' kept.weft))) -lt $(($(stat -c %s kept.weft) + 65536)) ] || fail 'the copy keeps room that it does not need'

# Signals; the target may be a pipe
ln -sf "$tmp/live.weft" xen/3/pages
for signal in INT TERM HUP; do
    offer 3
    # (A shell lets what it runs in the background ignore SIGINT.)
    python3 -c 'import os, signal, sys
for s in signal.SIGINT, signal.SIGTERM, signal.SIGHUP: signal.signal(s, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$W" save --follow -o - xen:web >piped.weft 2>said &
    follower=$!
    mapped live.weft
    kill -$signal $follower
    followed 0
    says said 'is running; copied now, since a signal came$'
    equal "followed until SIG$signal" 'saved 80' "$(fact piped.weft '"%s %d" % (d["ended"], d["events_total"])')"
done
rm -r xen/3
follow kept.weft xen:web
until_said said 'waiting$'
rm kept.weft
kill -TERM $follower
followed 1
says said 'stopped before there was a trace'
checks=$((checks + 1))
[ ! -e kept.weft ] || fail 'wrote nothing into a file'
end

# ---- While threads record as fast as they can ----
size=1048576
for attempt in 1 2 3; do
    rm -rf xen/3 live.weft
    WEFT_TRACE=$tmp/live.weft WEFT_TRACE_SIZE=$size "$RECORDED" ready threads 2 2000000 >fifo &
    live=$!
    read -r <fifo
    domain 3 web live.weft
    run 0 "$W" save -o copy.weft xen:web
    "$W" save -o - xen:web | cat >piped.weft
    kill "$live" 2>/dev/null || :
    wait "$live" 2>/dev/null || :
    for file in copy.weft piped.weft; do
        equal "damage of $file $attempt" '0 0' "$(fact $file '"%d %d" % (d["damage"]["problems"], d["discarded"])')"
    done
done
finish
