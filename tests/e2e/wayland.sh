#!/bin/bash
# SPDX-License-Identifier: ISC
# The window without X: under a compositor of Wayland that has no screen.
if [ -z "${VIEW_HAS_BUS:-}" ] && command -v dbus-run-session >/dev/null; then
    VIEW_HAS_BUS=1 exec dbus-run-session -- "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"
for tool in weston gdbus dbus-run-session; do
    command -v $tool >/dev/null || missing "there is no $tool"
done
[ -x "${WEFT_VIEW:-}" ] || missing 'this weft was built without GTK'
: "${EXAMPLES:?the folder of the built examples}"
unset WEFT_TRACE DISPLAY GSK_RENDERER
export HOME=$tmp/home XDG_CONFIG_HOME=$tmp/config XDG_DATA_HOME=$tmp/share XDG_RUNTIME_DIR=$tmp/run
export GDK_BACKEND=wayland GTK_A11Y=none G_DEBUG=fatal-criticals GSETTINGS_BACKEND=memory NO_COLOR=1
mkdir -p -m 700 "$HOME" "$XDG_RUNTIME_DIR"
! grep -aq __lsan_ "$WEFT_VIEW" || export GDK_DEBUG=gl-disable

call() {
    gdbus call --session -d io.github.weft.View -o "/io/github/weft/View/window/1" -m "org.gtk.Actions.$1" "${@:2}" 2>&1
}
becomes() {
    checks=$((checks + 1))
    wait_for matches "$@" || fail "$1 does not become '$2'; it says: ${found:0:400}"
}
matches() {
    found=$(call Describe "$1")
    grep -Eq -e "$2" <<<"$found"
}
has_window() {
    call List | grep -q place
}

run 1 simulated "$tmp/bad.weft" 4194304 "$EXAMPLES/arp_race" bad
for scale in 1 2; do
    printf '[output]\nname=headless\nscale=%s\n' $scale >"$tmp/weston.ini"
    export WAYLAND_DISPLAY=weft-$scale
    weston --backend=headless-backend.so --socket=$WAYLAND_DISPLAY --config="$tmp/weston.ini" --idle-time=0 \
        --width=1400 --height=900 >"$tmp/weston" 2>&1 &
    compositor=$!
    trap '[ -z "${compositor:-}" ] || kill $compositor || :; [ -z "${window:-}" ] || kill $window || :; chmod -R u+rwx "$tmp"; rm -rf "$tmp"' EXIT
    has_socket() { [ -S "$XDG_RUNTIME_DIR/$WAYLAND_DISPLAY" ]; }
    wait_for has_socket || missing "weston does not start: $(tail -n 3 "$tmp/weston")"
    "$WEFT" view "$tmp/bad.weft" 2>"$tmp/messages" </dev/null &
    window=$!
    wait_for has_window || fail "no window: $(head -n 5 "$tmp/messages")"
    becomes facts 'promises\\t11'
    becomes picture "'[0-9]+ [0-9]+ [1-9][0-9]+ [1-9][0-9]+'"
    call Activate next-finding '[]' '{}' >/dev/null
    becomes place 'finding=1'
    call Activate copy-link '[]' '{}' >/dev/null
    becomes message 'copied'
    call Activate palette '[]' '{}' >/dev/null
    becomes commands 'pan-left'
    call Activate print-to "[<b'$tmp/paper.pdf'>]" '{}' >/dev/null
    becomes message 'Printed'
    call Activate save-picture-to "[<b'$tmp/view.png'>]" '{}' >/dev/null
    becomes message 'has been saved'
    call Activate close '[]' '{}' >/dev/null
    status=0
    wait $window || status=$?
    window=
    equal "exit status of the window at scale $scale" 0 $status
    equal 'complaints' '' "$(grep -E 'CRITICAL|ERROR|runtime error' "$tmp/messages" || :)"
    kill $compositor
    wait $compositor || :
    compositor=
done
finish
