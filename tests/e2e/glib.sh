#!/bin/bash
# SPDX-License-Identifier: ISC
# Programs that use GLib and GIO, which nobody changed: weft explain names the fault and its culprit in the bad ones of
# examples/bugs/glib, and has nothing to say about the good ones. All of them notice nothing.
. "$(dirname "$0")/lib.sh"
[ -e "$BUILD_ROOT/adapters/preload/weft-glib.so" ] || skip 'the adapter for GLib is not built'
bugs=$EXAMPLES/bugs
[ -x "$bugs/glib_pool" ] || bugs=$EXAMPLES
[ -x "$bugs/glib_pool" ] || missing 'the headers of GIO'
cd "$tmp"
unset WEFT_TRACE WEFT_TRACE_SIZE WEFT_TRACE_FOR WEFT_TRACE_FORK LD_PRELOAD DBUS_SESSION_BUS_ADDRESS

# record TRACE PROGRAM...
record() {
    local trace=$1
    shift
    "$WEFT" record --force --size 4M -o "$trace" -- "$@"
}

# hung TRACE PROGRAM...: until nothing can come any more
hung() {
    UNTIL_HUNG=1 record "$1" "$OWN_CLOCK" "${@:2}"
}

# facts TRACE EXPRESSION: see facts.py
facts() {
    "$WEFT" dump "$1" >dump
    python3 "$SOURCE_ROOT/tests/e2e/facts.py" "$2" <dump
}

# sure TRACE: what explain is sure of: "NAME TYPE" a line, with the type of its promise
sure() {
    "$WEFT" explain --json "$1" >explained.json
    "$WEFT" dump "$1" >dump
    python3 - <<'END_OF_PYTHON'
import json, re
types = {}
for line in open("dump"):
    if m := re.search(r" creates parent=\S+ child=(\d+) type=(\S+)", line):
        types[int(m[1])] = m[2]
for f in json.load(open("explained.json"))["findings"]:
    if f["confidence"] != "possible":
        print(f["name"], types.get(f["promise"], f["promise"]))
END_OF_PYTHON
}

# says_all TRACE PATTERN: explain's words on one line
says_all() {
    "$WEFT" explain "$1" | tr -s ' \n' ' ' >text
    says text "$2"
}

# alike PROGRAM: the good one does the same alone and recorded, and has nothing that is worth a word
alike() {
    run 0 "$OWN_CLOCK" "$bugs/$1" good
    cp "$tmp/out" alone
    run 0 record good.weft "$OWN_CLOCK" "$bugs/$1" good
    same "what $1 prints" alone "$tmp/out"
    equal "what is found of a good $1" '' "$(sure good.weft)"
}

# ---- A task that is never returned ----
alike glib_pool
equal 'tasks that end' 36 "$(facts good.weft 'len([r for r in p if r[0] == "task" and r[2] in ("fulfills", "fails")])')"
run 130 hung bad.weft "$bugs/glib_pool" bad
equal 'a task that is never returned' 'hang-root task' "$(sure bad.weft)"
says_all bad.weft "was never resolved; .* has waited for it since"
says_all bad.weft "which got it last and has not passed it on, failed at [0-9.]+ .s \('no row 3'\) without resolving it"
says_all bad.weft 'The same holds for 7 more like it'

# ---- A cancellable that nobody cancels ----
alike glib_never_cancelled
equal 'how the search ends' "['cancels']" "$(facts good.weft '[r[2] for r in p if r[0] == "task"]')"
run 130 hung bad.weft "$bugs/glib_never_cancelled" bad
equal 'a cancellable' 'hang-root cancellable' "$(sure bad.weft)"

# ---- A D-Bus call to which nobody replies, and the request that its service forgot ----
alike glib_no_reply
equal 'calls' "['fails', 'fulfills', 'fulfills', 'fulfills']" \
    "$(facts good.weft 'sorted(r[2] for r in p if r[:2] == ("dbus", "org.example.Bank.GetBalance"))')"
equal 'requests' "['fails', 'fulfills', 'fulfills', 'fulfills']" \
    "$(facts good.weft 'sorted(r[2] for r in p if r[:2] == ("request", "org.example.Bank.GetBalance"))')"
equal 'errors' "['\"GDBus.Error:org.example.Bank.NoAccount: there is no account 2\"', '\"org.example.Bank.NoAccount\"']" \
    "$(facts good.weft 'sorted(f["exception"] for k, f in events if k == "fails")')"
run 130 hung bad.weft "$bugs/glib_no_reply" bad
equal 'no reply' $'never-resolved dbus\nnever-resolved request' "$(sure bad.weft | sort)"

# ---- A callback that blocks the main loop ----
alike glib_blocked
run 0 record bad.weft "$OWN_CLOCK" "$bugs/glib_blocked" bad
says "$tmp/out" '^50 beats$'
equal 'a blocked loop' 'loop-blocked timer' "$(sure bad.weft | head -n 1)"

# ---- Programs of others ----
if command -v gio >/dev/null; then
    run 0 gio info -a standard::name /
    cp "$tmp/out" alone
    run 0 "$WEFT" record --force -o gio.weft -- gio info -a standard::name /
    same 'what gio prints' alone "$tmp/out"
    run 2 gio info /no/such/file
    cp "$tmp/err" alone
    run 2 "$WEFT" record --force -o gio.weft -- gio info /no/such/file
    grep -v '^weft: ' "$tmp/err" >recorded || :
    same 'what gio says' alone recorded
fi
if command -v gdbus >/dev/null && command -v dbus-daemon >/dev/null; then
    cat >bus.conf <<END_OF_XML
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path=$tmp/bus</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>
END_OF_XML
    dbus-daemon --config-file=bus.conf --nofork 2>daemon.err &
    daemon=$!
    trap 'kill "$daemon"; chmod -R u+rwx "$tmp"; rm -rf "$tmp"' EXIT
    wait_for test -S bus
    export DBUS_SESSION_BUS_ADDRESS=unix:path=$tmp/bus
    run 0 record call.weft gdbus call --session -d org.freedesktop.DBus -o / -m org.freedesktop.DBus.GetId
    says "$tmp/out" "^\('[0-9a-f]+',\)\$"
    equal 'a call' "['fulfills']" "$(facts call.weft '[r[2] for r in p if r[:2] == ("dbus", "org.freedesktop.DBus.GetId")]')"
    equal 'what is found of it' '' "$(sure call.weft)"
    run 1 record call.weft gdbus call --session -d org.example.No -o / -m org.example.No.Way
    equal 'a call of nobody' "['fails']" "$(facts call.weft '[r[2] for r in p if r[:2] == ("dbus", "org.example.No.Way")]')"
    equal 'what is found of that' '' "$(sure call.weft)"
fi

# ---- What does not use GLib's main loop has no trace ----
run 0 "$WEFT" record --force -o none.weft -- "$bugs/../../src/weft" --version
equal 'a trace of a program without GLib' no "$([ -e none.weft ] && echo yes || echo no)"
finish
