#!/bin/bash
# SPDX-License-Identifier: ISC
# The window, with a pointer and keys of its own: what is seen is asked through D-Bus and compared as text. Nothing
# waits for a time, but for what must come, and two minutes at most.
if [ -z "${VIEW_HAS_BUS:-}" ] && command -v dbus-run-session >/dev/null; then
    VIEW_HAS_BUS=1 exec dbus-run-session -- "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"
for tool in Xvfb xdotool gdbus dbus-run-session; do
    command -v $tool >/dev/null || missing "there is no $tool"
done
[ -x "${WEFT_VIEW:-}" ] || missing 'this weft was built without GTK'
: "${EXAMPLES:?the folder of the built examples}"
need_mktrace
unset WEFT_TRACE WAYLAND_DISPLAY GSK_RENDERER
export HOME=$tmp/home XDG_CONFIG_HOME=$tmp/config XDG_DATA_HOME=$tmp/share XDG_RUNTIME_DIR=$tmp/run
export GDK_BACKEND=x11 GTK_A11Y=none G_DEBUG=fatal-criticals GSETTINGS_BACKEND=memory NO_COLOR=1
mkdir -p -m 700 "$HOME" "$XDG_RUNTIME_DIR"
# What the driver of OpenGL does not free is a leak for a sanitizer, which knows no name for it once the driver is
# unloaded, so that no suppression fits.
! grep -aq __lsan_ "$WEFT_VIEW" || export GDK_DEBUG=gl-disable

: >"$tmp/display"
# Without -noreset it begins anew when its only client leaves, and who comes then is turned away.
Xvfb -displayfd 5 -noreset -screen 0 1400x900x24 -nolisten tcp 5>"$tmp/display" 2>/dev/null &
screen=$!
trap 'kill $screen 2>/dev/null; [ -z "${window:-}" ] || kill $window 2>/dev/null; chmod -R u+rwx "$tmp"; rm -rf "$tmp"' EXIT
has_display() { [ "$(wc -l <"$tmp/display")" != 0 ]; }
wait_for has_display || missing 'Xvfb does not start'
DISPLAY=:$(cat "$tmp/display")
export DISPLAY

# ---- The window's actions ----

call() {
    gdbus call --session -d io.github.weft.View -o "/io/github/weft/View/window/$number" \
        -m "org.gtk.Actions.$1" "${@:2}" 2>&1
}

# state NAME: what an action says, with \n and \t in it
state() {
    call Describe "$1" | sed -e "s/^[^<]*<['\"]//" -e "s/['\"]>[^>]*$//" -e "s/\\\\\\(['\"]\\)/\\1/g"
}

# do_action NAME [TYPED_VALUE]
do_action() {
    call Activate "$1" "[${2:+<$2>}]" '{}' >/dev/null
}

# becomes NAME PATTERN: waits until the state matches, as a grep -E
becomes() {
    checks=$((checks + 1))
    wait_for matches "$@" || fail "$1 does not become '$2'; it says: ${found:0:600}"
}

matches() {
    found=$(state "$1")
    grep -Eq -e "$2" <<<"$found"
}

# quiet: until all is shown that came of what the pointer and the keys have done
quiet() {
    checks=$((checks + 1))
    step=$(date +%s%N)
    wait_for is_quiet || fail "it does not become quiet at line ${BASH_LINENO[*]}: $(state place)"
}

is_quiet() {
    local i
    do_action quiet "'$step'"
    for i in 1 2 3 4 5 6 7 8; do
        ! matches quiet "^$step$" || return 0
    done
    return 1
}

# settled NAME: its state once it does not change any more
settled() {
    quiet
    state "$1"
}

# start ARGUMENT...: runs it until its window is there
number=0
start() {
    "$WEFT" view "$@" 2>"$tmp/messages" </dev/null &
    window=$!
    number=1
    wait_for has_window || fail "no window: $(head -n 5 "$tmp/messages")"
}

has_window() {
    call List | grep -q place
}

has_second_window() {
    gdbus call --session -d io.github.weft.View -o /io/github/weft/View/window/2 -m org.gtk.Actions.List 2>&1 | grep -q place
}

# Ends it, and checks that it had nothing to complain about.
stop() {
    do_action close
    local status=0
    wait $window || status=$?
    window=
    equal 'exit status of the window' 0 $status
    checks=$((checks + 1))
    if grep -Eq 'CRITICAL|WARNING|ERROR|runtime error' "$tmp/messages"; then
        fail "the window complains:"
        head -n 40 "$tmp/messages" | cut -c 1-200
    fi
}

# The pointer, in pixels of the picture; there is no window manager, so the window lies at 0, 0.
find_picture() {
    becomes picture '[0-9]+ [0-9]+ [1-9]'
    read -r left top width height <<<"$found"
    xid=$(xdotool search --onlyvisible --name . | tail -n 1)
    xdotool windowfocus "$xid"
}

pointer() {
    xdotool mousemove $((left + $1)) $((top + $2))
}

# Several steps, as a hand makes them
drag_to() {
    xdotool mousedown 1
    xdotool mousemove $((left + $1 - 3)) $((top + $2))
    quiet
    xdotool mousemove $((left + $1)) $((top + $2))
    quiet
    xdotool mouseup 1
}

# value KEY PLACE
value() {
    tr '&' '\n' <<<"$2" | sed -n "s/^$1=//p"
}

calculate() {
    python3 -c "print($1)"
}

# near WHAT EXPECTED FOUND TOLERANCE: numbers
near() {
    checks=$((checks + 1))
    [ "$(calculate "abs(($2) - ($3)) <= ($4)")" = True ] || fail "$1: expected $2, found $3"
}

# ---- A trace ----

run 1 simulated "$tmp/bad.weft" 4194304 "$EXAMPLES/arp_race" bad
run 0 simulated "$tmp/good.weft" 4194304 "$EXAMPLES/arp_race" good
run 0 "$WEFT" promises "$tmp/bad.weft"
mv "$tmp/out" "$tmp/promises"

# id LABEL: the first promise with it
id() {
    awk -F '\t' -v label="$1" '$8 == label { print $1; exit }' "$tmp/promises"
}

start "$tmp/bad.weft"
find_picture
becomes facts 'promises\\t11\\n'
becomes facts '^Findings\\t\\nlost-wakeup\\tThe signal of .ARP response.*came at 2'
becomes visible 'ARP response'
becomes place 'fold=1'
do_action fold # what follows is reckoned with an axis without breaks
becomes place '^from=[0-9]*&to=[0-9]*(&overview=1)?$'
whole=$(settled place)
from=$(value from "$whole")
to=$(value to "$whole")

# zoom X: turns the wheel there; sets at to the share of the axis that keeps its time
zoom() {
    do_action fit
    pointer "$1" 150
    quiet
    xdotool click --repeat 3 4
    local place
    place=$(settled place)
    at=$(calculate "($(value from "$place") - $from) / (($to - $from) - ($(value to "$place") - $(value from "$place")))")
    span=$(calculate "($(value to "$place") - $(value from "$place")) / ($to - $from)")
}
zoom 250
first=$at
near 'three notches zoom by' 1/1.2**3 "$span" 0.001
zoom 650
per_px=$(calculate "($at - $first) / 400")
near 'the time under the pointer' "$first" "$per_px * 250 + $first - 250 * $per_px" 0.001
near 'the width of the axis' "$width" "1 / $per_px" 30

# Dragging pans by as much as the pointer moves.
before=$(settled place)
pointer 300 250
drag_to 420 250
after=$(settled place)
near 'dragged by' 120 "($(value from "$before") - $(value from "$after")) / ($(value to "$before") - $(value from "$before")) / $per_px" 0.6
do_action fit

# find_line LABEL: points at the promise, where a click selects it
find_line() {
    local y
    wanted=0:$(id "$1")
    for ((y = 96; y < 372; y += 4)); do
        pointer $((width / 20)) $y
        quiet
        ! grep -q -e "^[^;]*$1" <<<"$(state tip | grep -v ' went on ')" || break
    done
}
find_line 'ARP query'
xdotool click 1
becomes selected "^$wanted$"
becomes facts 'ARP query.*ARP response'

# Keys: what it waited for, back, who created it
xdotool key W
becomes selected "^0:$(id 'ARP response')$"
xdotool key BackSpace
becomes selected "^$wanted$"
xdotool key c
becomes selected "^0:$(awk -F '\t' -v id="$(id 'ARP query')" '$1 == id { print $3 }' "$tmp/promises")$"

# A key that can do nothing says why; so does one that is none.
do_action clear
xdotool key c
becomes message '^Nothing is selected: click a promise, or press j$'
xdotool key q
becomes message '^q is no command: . shows the keys, : all commands$'
xdotool key l
becomes message '^There is only one trace$'

# w and s zoom around the pointer; small movements are one step, which z undoes.
do_action fit
pointer 400 150
before=$(settled place)
xdotool key w
xdotool key w
xdotool key w
zoomed=$(settled place)
share=$(calculate "($(value from "$zoomed") - $(value from "$before")) / (($(value to "$before") - $(value from "$before")) - ($(value to "$zoomed") - $(value from "$zoomed")))")
near 'the time under the pointer' "$first + 150 * $per_px" "$share" 0.01
xdotool key z
becomes place "^from=$(value from "$before")&to=$(value to "$before")"
xdotool key ctrl+shift+z
becomes place "^from=$(value from "$zoomed")&to=$(value to "$zoomed")"
do_action fit

# All commands by name, and all in the menu
quiet
xdotool key ctrl+shift+p
names=$(sed -n 's/^COMMAND([A-Z_]*, *"\([^"]*\)".*/\1/p' "$SOURCE_ROOT/src/explore/command.def" | tr '\n' ' ')
becomes commands '^pan-left'
equal 'commands in the palette' "$names" "$(state commands | sed 's/\\n/ /g')"
equal 'commands in the menu' "$(tr ' ' '\n' <<<"$names" | sort)" "$(state menu | sed 's/\\n/\n/g' | sort)"
xdotool type finding
becomes commands '^next-finding.nprevious-finding.n$'
xdotool key Down
xdotool key Up
xdotool key Return
becomes place 'finding=1'
do_action clear
becomes place '^from=[0-9&to=-]*(&overview=1)?$'
find_line 'ARP query'
xdotool click 1
becomes selected "^$wanted$"
xdotool key c
becomes selected "^0:$(awk -F '\t' -v id="$(id 'ARP query')" '$1 == id { print $3 }' "$tmp/promises")$"

# On paper: the picture, and the facts below it
do_action print-to "b'$tmp/paper.pdf'"
becomes message '^Printed$'
equal 'what is printed' '%PDF' "$(head -c 4 "$tmp/paper.pdf")"
if command -v pdftotext >/dev/null; then
    pdftotext -layout "$tmp/paper.pdf" "$tmp/paper.txt"
    says "$tmp/paper.txt" 'ARP response'
    says "$tmp/paper.txt" 'created by|created'
fi

# A link of the panel: somewhere in its upper part is who created it.
xdotool key BackSpace
becomes selected "^$wanted$"
for ((y = 60; y < 240; y += 8)); do
    pointer $((width + 200)) $y
    quiet
    xdotool click 1
    quiet
    [ "$(state selected)" = "$wanted" ] || break
done
equal 'the link to the creator' "0:$(awk -F '\t' -v id="$(id 'ARP query')" '$1 == id { print $3 }' "$tmp/promises")" \
    "$(state selected)"
do_action clear
becomes selected '^$'

do_action find "'outcome:foo'"
becomes found '^outcome: takes pending, .* or overdue$'
do_action find "'type:foo'"
becomes found "^not found: no type has .foo.; types are "
do_action find "''"
becomes found '^$'

# Search as one types
xdotool key slash
xdotool type 'ARP resp'
becomes found '^1 found$'
xdotool key Home
xdotool type '"'
xdotool key End
xdotool type '"'
becomes found '^1 found$'
equal 'what is searched' '"ARP resp"' "$(settled find)"
xdotool key Return
becomes selected "^0:$(id 'ARP response')$"
becomes place 'search=%22ARP%20resp%22'
becomes facts 'Is waited for.*by\\t#[0-9]+ task ARP query: still waits, since 4[0-9.]+ ms \(.*\), .* after it was last notified'
becomes facts 'in vain\\tonce, when nobody waited: at 2'
xdotool key n # not into the search any more
equal 'what is searched after Enter and n' '"ARP resp"' "$(settled find)"
xdotool key slash
xdotool type 'main'
becomes find '^main$'
xdotool key Escape

# A range on the ruler
do_action fit
do_action clear
quiet
pointer 200 86 # below the overview, 52 pixels high, and the title
drag_to 500 86
becomes facts 'duration|time span|range'

# The overview: what is brushed in it is the view; the frame is moved.
do_action fit
do_action clear
quiet
pointer $((8 + (width - 16) / 4)) 30
quiet
becomes tip '^[0-9.]+ .* to [0-9.]+ .*: running'
drag_to $((8 + (width - 16) / 2)) 30
place=$(settled place)
near 'brushed from' 0.25 "($(value from "$place") - $from) / ($to - $from)" 0.01
near 'brushed to' 0.5 "($(value to "$place") - $from) / ($to - $from)" 0.01
pointer $((8 + (width - 16) * 3 / 8)) 30
drag_to $((8 + (width - 16) * 5 / 8)) 30
place=$(settled place)
near 'moved from' 0.5 "($(value from "$place") - $from) / ($to - $from)" 0.01
near 'moved to' 0.75 "($(value to "$place") - $from) / ($to - $from)" 0.01

# A picture is what `weft render --at` makes.
do_action place "'from=1000000&to=90000000&select=$(id 'ARP query')'"
becomes place 'from=1000000&to=90000000'
do_action save-picture-to "b'$tmp/view.svg'"
becomes message 'has been saved'
says "$tmp/view.svg" 'ARP query'
if "$WEFT" render --help | grep -q -e '--at'; then
    run 0 "$WEFT" render -o "$tmp/render.svg" --at "$(settled place)" --size "${width}x$height" "$tmp/bad.weft"
    same 'a picture of the window' "$tmp/render.svg" "$tmp/view.svg"
fi
# … also of what was waited for.
do_action why-waiting
becomes facts '^Flame graph\\t\\nof\\tWhy promises like .ARP query. waited\\nframe\\tall: 100.0 % '
do_action save-picture-to "b'$tmp/why.svg'"
becomes message 'why.svg has been saved'
says "$tmp/why.svg" 'below each, what it waited for'
run 0 "$WEFT" render -o "$tmp/render.svg" --at "$(settled place)" --size "${width}x$height" "$tmp/bad.weft"
same 'why they waited' "$tmp/render.svg" "$tmp/why.svg"
do_action why-waiting
do_action save-picture-to "b'$tmp/view.png'"
becomes message 'view.png has been saved'
do_action save-picture-to "b'$tmp/nowhere/view.pdf'"
becomes message 'cannot be saved'
cp "$tmp/bad.weft" "$tmp/bad.png"
do_action save-picture-to "b'$tmp/bad.png'"
becomes message 'cannot be saved: it is a trace'
ln -sf bad.weft "$tmp/bad.svg"
do_action save-picture-to "b'$tmp/bad.svg'"
becomes message 'cannot be saved: it is the source itself'
same 'the source' "$tmp/bad.png" "$tmp/bad.weft"
do_action save-picture-to "b'$tmp/view.bmp'"
becomes message 'none of .svg, .png and .pdf'

# A link leads back.
do_action copy-link
becomes link "^weft view --at 'from=1000000&to=90000000.*' '$tmp/bad.weft'$"
link=$found
place=$(settled place)

# Another trace below, and gone again; one that is none
do_action add-file "b'$tmp/good.weft'"
becomes visible 'task main.*task main'
do_action place "'select.2=$(id 'ARP query')'"
becomes facts 'trace\\tgood.weft'
do_action remove 1

# Another command opens another window of the same program, and returns.
run 0 "$WEFT" view --raw "$tmp/good.weft"
number=2
becomes facts 'good.weft'
do_action close
number=1
echo 'no trace' >"$tmp/none.ctf"
do_action add-file "b'$tmp/none.ctf'"
becomes message 'none.ctf: .*at offset 0'
for command in theme text-larger text-smaller counters spread squeeze zoom-out help; do
    do_action $command
done
quiet
stop

start --at "$(value_of_link=${link#*--at \'} && echo "${value_of_link%%\'*}")" "$tmp/bad.weft"
becomes place "^${place//./\\.}"
equal 'the place of a link' "$place" "$(settled place)"
stop

# Hostile texts are texts.
grep -v '@long@' "$SOURCE_ROOT/tests/golden/labels.trace" | "$MKTRACE" "$tmp/labels.ctf"
start "$tmp/labels.ctf"
becomes visible '<img src=x onerror=alert\(1\)>'
stop

# What cannot be opened is told in the window, with the place of the problem.
start "$tmp/none.ctf"
becomes message 'at offset 0'
stop
start "$tmp/missing.ctf"
becomes message 'missing.ctf: .*No such file'
stop
(cat "$tmp/labels.ctf" && echo junk) >"$tmp/junk.ctf"
start "$tmp/junk.ctf"
becomes message 'junk.ctf: one place could not be read: .*at offset [0-9]+'
becomes facts '^What is missing.*damaged.t1 place in the file could not be read'
becomes visible 'task'
stop

# What takes long can be cancelled, and the window answers meanwhile.
mkfifo "$tmp/slow"
start "$tmp/slow"
do_action stop-reading
do_action help
do_action add-file "b'$tmp/good.weft'"
becomes facts 'promises\\t11\\n'
stop

# What belongs to one process is in a window of a process of its own, which is not on the bus.
# titled NAME: waits until the window has that title, which it has once a trace is shown, and ends it
titled() {
    checks=$((checks + 1))
    wait_for xdotool search --onlyvisible --name "^$1\$" || fail "no window has the title $1"
    kill $window 2>/dev/null || fail "the window of $1 has ended"
    wait $window || :
    window=
}
"$MKTRACE" "$tmp/pipe.ctf" <"$SOURCE_ROOT/tests/golden/arrows.trace"
"$WEFT" view - <"$tmp/pipe.ctf" 2>"$tmp/messages" &
window=$!
titled 'standard input'
mkfifo "$tmp/pipe"
"$WEFT" view - <"$tmp/pipe" 2>"$tmp/messages" &
window=$!
"$WEFT" save -o - "$tmp/bad.weft" >"$tmp/pipe"
titled 'standard input'
# A copy in memory, as of the trace of a Xen domain, has its name.
python3 - "$WEFT" "$tmp/bad.weft" 2>"$tmp/messages" <<'END' &
import os, sys
memory = os.memfd_create("xen:web", 0)
os.write(memory, open(sys.argv[2], "rb").read())
os.execv(sys.argv[1], ["weft", "view", f"/proc/self/fd/{memory}"])
END
window=$!
titled 'xen:web'

# What went wrong, with its evidence; what two runs differ in.
start "$tmp/bad.weft"
becomes facts '^Findings\\t\\nlost-wakeup'
do_action next-finding
becomes place 'finding=1'
becomes selected "^0:$(id 'ARP response')$"
becomes facts '^Finding 1 of 1: lost-wakeup.*\\tat [0-9.]+ ms: .network driver. signals .ARP response.: nobody waits for it'
do_action path
becomes place 'path=1'
do_action path
becomes place 'finding=1&overview=1$'
do_action path
do_action creator
becomes facts '^Finding 1 of 1.*Critical path\\t\\nin all\\t'
becomes place 'path=1'
do_action clear
becomes facts '^Findings'
becomes place '^from=[0-9&to=-]*(&fold=1)?&overview=1$'
do_action refresh
becomes facts '^Findings\\t\\nlost-wakeup'
stop
start --finding 1 "$tmp/bad.weft"
becomes facts '^Finding 1 of 1: lost-wakeup'
stop
start --diff "$tmp/good.weft" "$tmp/bad.weft"
becomes facts '^Difference\\t\\ndiverges\\tIn the good run .*ring.write'
becomes place 'diff=1'
do_action add-file "b'$tmp/good.weft'"
becomes facts '^Difference'
stop

# More traces than fit: they scroll, are moved, shown once more and closed.
many=("$tmp/good.weft" "$tmp/bad.weft" "$tmp/good.weft" "$tmp/bad.weft" "$tmp/good.weft" "$tmp/bad.weft")
start "${many[@]}"
find_picture
becomes visible 'task main'
pointer 300 70
quiet
xdotool click --repeat 2 5 # over a title
becomes place '&top=[0-9]+'
do_action place "'select.6=$(id 'ARP query')'"
do_action next-trace # the sixth is the last one
do_action trace-up
becomes place '&panes=1,2,3,4,6,5&'
do_action duplicate
becomes place '&panes=1,2,3,4,6,6,5&'
xdotool key X
becomes place '&panes=1,2,3,4,6,5&'
do_action remove 0
becomes place '&panes=1,2,3,5,4&.*select.4='
find_picture # narrower, because of the scroll bar
do_action save-picture-to "b'$tmp/many.svg'"
becomes message 'many.svg has been saved'
run 0 "$WEFT" render -o "$tmp/render.svg" --at "$(settled place)" --size "${width}x$height" "${many[@]:1}"
same 'a picture of some of many traces' "$tmp/render.svg" "$tmp/many.svg"
do_action remove 4
do_action remove 3
quiet
stop

# Two promises beside each other
start "$tmp/bad.weft"
find_picture
do_action place "'select=$(id 'ARP query')'"
xdotool key V
# Until the trace is analysed, what it waited for is not known.
becomes facts '^Compared\\t\\nfirst\\t#[0-9]+ task ARP query.*second\\tthe same.*Critical path'
do_action waited-for
becomes facts '^Compared\\t\\nfirst\\t#[0-9]+ task ARP query.*second\\t#[0-9]+ [a-z]* ARP response.*lasted\\t.* → '
becomes place '&with=[0-9]+'
do_action compare
becomes facts '^(Finding|#)'
xdotool key D
becomes place '&panes=1,1(&|$)'
xdotool key shift+Prior
xdotool key alt+Next
quiet
stop

# Notes are kept beside the trace, and are there again.
cp "$tmp/bad.weft" "$tmp/noted.weft"
start "$tmp/noted.weft"
becomes facts '^Findings'
do_action place "'select=$(id 'ARP query')'"
do_action add-note "'it waits here'"
becomes notes '^#[0-9]+ task ARP query\\tit waits here\\n$'
becomes message "Notes are kept in $tmp/noted.weft.weft-notes"
becomes place '&notes=[0-9]+~it%20waits%20here'
says "$tmp/noted.weft.weft-notes" '"it waits here"'
find_picture
do_action clear
quiet
pointer 200 86
drag_to 500 86
xdotool key m
wait_for xdotool search --onlyvisible --name '^New note: from ' >/dev/null || fail 'no window to write a note in'
xdotool windowfocus "$(xdotool search --onlyvisible --name '^New note: from ')"
xdotool type 'busy'
xdotool key Return
becomes notes 'from .* to .*\\tbusy'
xdotool windowfocus "$xid"
find_picture
do_action save-picture-to "b'$tmp/noted.svg'"
becomes message 'noted.svg has been saved'
says "$tmp/noted.svg" '>busy<'
mkdir "$tmp/sent" # without the file of notes: the link has them
cp "$tmp/bad.weft" "$tmp/sent/noted.weft"
run 0 "$WEFT" render -o "$tmp/render.svg" --at "$(settled place)" --size "${width}x$height" "$tmp/sent/noted.weft"
same 'a picture with notes' "$tmp/render.svg" "$tmp/noted.svg"
stop
start "$tmp/noted.weft"
becomes notes 'it waits here.*busy|busy.*it waits here'
do_action edit-note "(uint32 0, 'one')"
becomes notes '\\tone\\n'
do_action delete-note 'uint32 1'
becomes notes '^[^\\]*\\tone\\n$'
stop
equal 'notes in the file' 1 "$(grep -c '"at"' "$tmp/noted.weft.weft-notes")"

# If there is something else, they are kept in the data directory.
echo 'a diary' >"$tmp/noted.weft.weft-notes"
start "$tmp/noted.weft"
becomes message 'Notes cannot be read: .*noted.weft.weft-notes: is not JSON'
do_action add-note "'elsewhere'"
becomes message "(cannot be read|kept in $XDG_DATA_HOME/weft/notes/)"
becomes notes 'elsewhere'
stop
equal 'what was there' 'a diary' "$(cat "$tmp/noted.weft.weft-notes")"
says "$(ls "$XDG_DATA_HOME"/weft/notes/*)" '"elsewhere"'
rm "$tmp/noted.weft.weft-notes"
start "$tmp/noted.weft"
becomes notes 'elsewhere'
stop

# Samples
if [ -x "${MKSAMPLES:-}" ]; then
    "$MKSAMPLES" "$tmp/served.weft" <"$SOURCE_ROOT/tests/golden/flame/served.samples"
    start "$tmp/served.weft"
    becomes facts 'Hot functions\\t\\nin all\\tabout 70 ms, 140 samples\\n[0-9.]+ %\\twrite_log\\n'
    find_picture
    do_action legend # below the strips
    quiet
    pointer $((width * 9 / 10)) $((height - 24))
    becomes tip '^writer 4712, at [0-9.]+ ms: on a core 100 % of .*; mostly in write_log'
    do_action flame
    becomes place 'flame=1'
    becomes facts '^Flame graph\\t\\nof\\tall samples\\nframe\\tall: 100.0 % \(70 ms, 140 samples\)'
    pointer $((width / 4)) $((height * 55 / 100 + 26 + 18 + 9)) # the second row of frames
    becomes tip '^write_log: 57.1 % \(40 ms, 80 samples\)'
    xdotool click 1
    becomes facts '^Flame graph\\t\\nof\\tall samples\\nframe\\twrite_log: 57.1 %'
    becomes place 'frame=[1-9]'
    do_action place "'select=3&flame=1&created=1'"
    becomes facts '^Flame graph\\t\\nof\\t#3 GET /users/1 and all that it created\\n'
    becomes facts 'On a core\\t\\nwith all that it created\\tabout 4 ms, 8 samples\\n'
    do_action place "'range=30000000-34000000'"
    becomes facts 'On a core\\t\\nin all\\tabout 4 ms, 8 samples\\n'
    do_action save-picture-to "b'$tmp/flame.svg'"
    becomes message 'flame.svg has been saved'
    # The table says what weft stats says, and its CPU is not empty.
    do_action place "'table=type&sort=-count'"
    becomes table-text '^name\\tcount\\ttotal_ns\\tp50_ns\\tp99_ns\\tmax_ns\\twaiting_ns.*\\n.'
    do_action save-table-to "b'$tmp/table.tsv'"
    becomes message 'table.tsv has been saved'
    "$WEFT" stats --json --by type "$tmp/served.weft" >"$tmp/stats.json"
    equal 'rows of the table' same "$(python3 "$(dirname "$0")/table.py" "$tmp/table.tsv" "$tmp/stats.json")"
    do_action table-row 0
    becomes selected '^0:[0-9]+$'
    do_action table
    becomes table-text '^$'
    do_action why-waiting
    becomes place 'flame=1&why=1'
    becomes facts '^Flame graph\\t\\nof\\tWhy promises like '
    stop
fi

# A trace that is being recorded is followed, until its program ends.
mkfifo "$tmp/commands"
WEFT_TRACE=$tmp/live.weft "$CONTROLLED" <"$tmp/commands" >"$tmp/answers" &
program=$!
exec 6>"$tmp/commands"
echo 'rounds 5' >&6
has_answer() { [ "$(wc -l <"$tmp/answers")" != 0 ]; }
wait_for has_answer
start "$tmp/live.weft"
becomes facts 'promises\\t5\\n'
echo 'rounds 7' >&6
becomes facts 'promises\\t12\\n'
echo quit >&6
exec 6>&-
wait $program || :
stop

# Without a file it takes the tour, and each step is what the table of the steps says.
python3 - "$SOURCE_ROOT/src/explore/tour.def" >"$tmp/steps" <<'END'
import json, re, sys

for number, part in enumerate(re.split(r"^STEP\(", open(sys.argv[1]).read(), flags=re.MULTILINE)[1:], 1):
    fields = re.split(r'",\n', part[: part.rindex(")")])
    text = lambda field: "".join(json.loads(piece) for piece in re.findall(r'"(?:[^"\\]|\\.)*"', field))
    title, words, place = (text(field + '"' if field is not fields[-1] else field) for field in fields)
    print(number, f"{title}\\n{words}", place, sep="\t")
END
equal 'steps of the tour' 5 "$(wc -l <"$tmp/steps")"

# card_shows NUMBER: the card, the fields of the place
card_shows() {
    local step=$1 text place field where
    IFS=$'\t' read -r _ text place <<<"$(sed -n "${step}p" "$tmp/steps")"
    becomes card "^$step of 5"
    where=$(settled place)
    equal "the card of step $step" "$step of 5: $text" "$(state card)"
    for field in "tour=$step" ${place//&/ }; do
        equal "$field in the place of step $step" "${field#*=}" "$(value "${field%%=*}" "$where")"
    done
}

start
becomes card '^1 of 5'
find_picture
for step in 1 2 3 4 5; do
    card_shows $step
    find_picture
    do_action save-picture-to "b'$tmp/step.svg'"
    becomes message 'step\.svg has been saved'
    run 0 "$WEFT" render -o "$tmp/render.svg" --at "tour=$step" --size "${width}x$height" "$SOURCE_ROOT/data/example.weft"
    same "a picture of step $step" "$tmp/render.svg" "$tmp/step.svg"
    rm "$tmp/step.svg"
    [ $step = 5 ] || xdotool key Next
done
xdotool key Next
becomes message 'This is the last step of the tour'
becomes table-text 'GET /report'
do_action tour-previous
card_shows 4
do_action copy-link
becomes link "^weft view --at 'tour=4&.*finding=1.*'$"
xdotool key Prior
card_shows 3
# Escape leaves the tour, not the example; F1 begins it again, here.
xdotool key Escape
becomes card '^$'
becomes place '^from='
xdotool key F1
card_shows 1
# The example gives way to what is opened.
do_action open-file "b'$tmp/bad.weft'"
becomes facts 'promises\\t11\\n'
becomes card '^$'
becomes place '^from=[0-9]*&to=[0-9]*&fold=1(&overview=1)?$'
# What is open stays: the tour gets a window of its own.
xdotool key F1
wait_for has_second_window || fail 'the tour opens no window'
number=2
becomes card '^1 of 5'
do_action close
number=1
becomes facts 'promises\\t11\\n'
stop
start --at tour=4
card_shows 4
stop
start --at tour=4 "$tmp/bad.weft"
becomes message 'Some of the place that was asked for is not in this trace'
becomes card '^$'
stop

# Command line
run 2 "$WEFT" view --theme blue
run 2 "$WEFT" view --select main
run 2 "$WEFT" view --from now
run 2 "$WEFT" view --measure
run 2 "$WEFT" view --finding 0 "$tmp/bad.weft"
run 2 "$WEFT" view --diff "$tmp/bad.weft"
run 2 "$WEFT" view --nonsense
run 0 "$WEFT" view --help
says "$tmp/out" '^usage: weft view'
run 1 env -u DISPLAY "$WEFT" view "$tmp/good.weft"
equal 'lines said without a display' 1 "$(wc -l <"$tmp/err")"
says "$tmp/err" '^weft: view: there is no display to open a window on; weft html -o .* ssh -X'
cp "$WEFT" "$tmp/weft"
run 1 env -u DISPLAY "$tmp/weft" view "$tmp/good.weft"
says "$tmp/err" 'is not installed; .*libgtk-4-dev|[dD]isplay'
finish
