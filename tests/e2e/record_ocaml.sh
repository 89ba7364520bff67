#!/bin/bash
# SPDX-License-Identifier: ISC
# weft record has OCaml 5's runtime write its events, and takes them out of the rings while the program runs. RINGS plays such a
# program; where OCaml 5 is installed, real ones are tried, too.
. "$(dirname "$0")/lib.sh"
[ -x "${RINGS:-}" ] || skip 'RINGS is not set'
cd "$tmp"
unset OCAMLRUNPARAM CAMLRUNPARAM OCAML_RUNTIME_EVENTS_START OCAML_RUNTIME_EVENTS_DIR OCAML_RUNTIME_EVENTS_PRESERVE
unset WEFT_TRACE WEFT_TRACE_SIZE WEFT_TRACE_FOR WEFT_TRACE_FORK
data=$DATA/../eio

# info FILE EXPRESSION: of weft info --json
info() {
    "$WEFT" info --json "$1" >json || fail "weft info $1"
    json json "$2"
}
# events FILE: its events, how it ended, what is wrong
events() {
    info "$1" '"%d %s %d" % (d["events_total"], d["ended"], d["damage"]["problems"])'
}
# has N FILE: so many events are in it
has() { "$WEFT" info --json "$2" | grep -q "\"events_total\": $1,"; }

# What is in the environment
run 0 "$WEFT" record -- sh -c 'echo $OCAML_RUNTIME_EVENTS_START $OCAML_RUNTIME_EVENTS_PRESERVE $OCAMLRUNPARAM; ls -ld $OCAML_RUNTIME_EVENTS_DIR'
says "$tmp/out" '^1 1 e=20$'
says "$tmp/out" '^drwx------ '
says "$tmp/err" 'nothing was recorded'
OCAMLRUNPARAM=b,e=17 run 0 "$WEFT" record -- sh -c 'echo $OCAMLRUNPARAM'
says "$tmp/out" '^b,e=17$'
CAMLRUNPARAM=b run 0 "$WEFT" record -- sh -c 'echo $OCAMLRUNPARAM'
says "$tmp/out" '^b,e=20$'
run 0 "$WEFT" record --runtimes python,node -- sh -c 'echo x$OCAML_RUNTIME_EVENTS_DIR$OCAMLRUNPARAM'
says "$tmp/out" '^x$'
run 0 "$WEFT" record --list-runtimes
says "$tmp/out" '^ocaml  OCaml 5: '

# All there is, of two domains, and of a ring that was overwritten many times
run 0 "$WEFT" record -o a.weft -- "$RINGS" domains 200000
says "$tmp/err" '^weft: a.weft: 200,000 events, 0 promises, 2 threads, '
equal 'events' '200000 stopped 0' "$(events a.weft)"
equal 'nothing is lost' '0 0' "$(info a.weft '"%d %d" % (d["overwritten"], d["lost_words"])')"
run 0 "$WEFT" info a.weft
says "$tmp/out" '^  program +.*/rings$'
says "$tmp/out" '^  arguments +.*rings domains 200000$'
says "$tmp/out" '^  ended +stopped, exit status 0$'
says "$tmp/out" ' domain 1 +100,000 '
run 0 "$WEFT" dump a.weft
equal 'values in order' "$(seq 200000 | cksum)" "$(sed -nE 's/.*test.count.*[^0-9]([0-9]+)$/\1/p' "$tmp/out" | cksum)"
run 0 "$WEFT" save -o copy.weft a.weft
equal 'a copy' 200000 "$(info copy.weft 'd["events_total"]')"

# Only the outermost of what collections consist of is kept
run 0 "$WEFT" record -o gc.weft -- "$RINGS" phases 1000
equal 'collections' 1000 "$(info gc.weft 'd["events"]["gc"]')"
equal 'words kept' True "$(info gc.weft 'd["bytes"] < 200000')"

# Spans of a program without fibers
run 0 "$WEFT" record -o spans.weft -- "$RINGS" spans 2
run 0 "$WEFT" dump spans.weft
equal 'one in the other' 'creates parent=-1 child=1000000000000 type=span label="test.span" creates parent=1000000000000 child=1000000000001 type=span label="test.span" fulfills resolver=-1 p=1000000000001 fulfills resolver=-1 p=1000000000000 ' "$(sed -nE 's/^[0-9]+ [0-9]+ ((creates|fulfills).*)/\1/p' "$tmp/out" | tr '\n' ' ')"

# The ring is overwritten before it is read: the rest is there, and what is lost is said
OCAMLRUNPARAM=e=12 run 0 "$WEFT" record -o lapped.weft -- "$RINGS" count 10 burst 5000 count 10
says "$tmp/err" '^weft: lapped.weft: [0-9,]+ words of OCaml.s rings were overwritten before weft could take them out; '
equal 'some words are lost' True "$(info lapped.weft 'd["lost_words"] > 9000 and d["lost_words"] == d["overwritten"]')"
# padding at each end of the ring: at most two words for every 4096
equal 'what is there and what is lost' True "$(info lapped.weft '-3 <= 3 * d["events_total"] + d["overwritten"] - 3 * 5021 <= 12')"
run 0 "$WEFT" info lapped.weft
says "$tmp/out" '^  lost +[0-9,]+ words of OCaml.s rings'
run 0 "$WEFT" dump lapped.weft
equal 'the last one' 10 "$(sed -nE 's/.*test.count.*[^0-9]([0-9]+)$/\1/p' "$tmp/out" | tail -n 1)"

# The trace is full: the oldest are overwritten
run 0 "$WEFT" record --size 64K -o small.weft -- "$RINGS" domains 100000
says "$tmp/err" '^weft: small.weft: [0-9,]+ older words of OCaml.s rings were overwritten; a larger --size keeps more$'
equal 'no larger than was asked for' True "$(info small.weft 'd["bytes"] <= 65536 and d["events_total"] > 1000')"
equal 'damage' 0 "$(info small.weft 'd["damage"]["problems"]')"
run 0 "$WEFT" dump small.weft
equal 'the last one' 100000 "$(sed -nE 's/.*test.count.*[^0-9]([0-9]+)$/\1/p' "$tmp/out" | tail -n 1)"

# How it ends
run 137 "$WEFT" record -o killed.weft -- "$RINGS" count 100 kill
says "$tmp/err" '^weft: killed.weft: 100 events, .*; killed by signal 9 \(Killed\)$'
equal 'killed' '100 killed 0' "$(events killed.weft)"
run 3 "$WEFT" record -o left.weft -- "$RINGS" count 100 leave
equal 'left' '100 exited 0' "$(events left.weft)"

for how in kill leave 'fork leave'; do
    # shellcheck disable=SC2086
    "$WEFT" record -o gone.weft -- sh -c 'echo "$OCAML_RUNTIME_EVENTS_DIR"; exec "$0" count 5 "$@"' "$RINGS" $how >out 2>err || :
    equal "the folder of rings is gone ($how)" '' "$(ls -d "$(cat out)" 2>/dev/null)"
done

# Children, each with a ring of its own; a program that becomes itself anew begins its ring again
run 0 "$WEFT" record -o f.weft -- "$RINGS" count 10 fork count 20
equal 'the first one' '10 stopped 0' "$(events f.weft)"
says "$tmp/err" '^weft: f-[0-9]+.weft: 20 events, 0 promises, of process [0-9]+, '
equal 'its child' '20 stopped 0' "$(events f-*.weft)"
mkfifo fifo
"$WEFT" record -o e.weft -- "$RINGS" count 10 wait fifo exec count 20 2>err &
recorder=$!
wait_for has 10 e.weft
echo >fifo
wait $recorder
equal 'before exec and after it' '30 stopped 0' "$(events e.weft)"
run 0 "$WEFT" record -o s.weft -- sh -c '"$0" count 30; :' "$RINGS"
equal 'what a script starts' '30 stopped 0' "$(events s.weft)"
run 0 "$WEFT" record -o p-%p.weft -- "$RINGS" count 10 fork count 20
equal 'by process id' 2 "$(find . -name 'p-*.weft' | wc -l)"
run 0 "$WEFT" record -o m.weft -- sh -c 'for i in 1 2 3; do "$0" phases 5; done; "$0" count 5' "$RINGS"
equal 'of those that say nothing only one is kept' 2 "$(find . -name 'm*.weft' | wc -l)"

# One that records by itself
if [ -x "${RINGS_LINKED:-}" ]; then
    run 0 "$WEFT" record -o own.weft -- "$RINGS_LINKED" count 100
    says "$tmp/err" '^weft: own.weft: 2 events, 1 promise, 1 thread, '
    equal 'its own' '2 stopped 0' "$(events own.weft)"
    equal 'nothing beside it' own.weft "$(ls -d own*)"
    run 0 "$WEFT" record --memory -o memory.weft -- "$RINGS_LINKED" count 100
    equal 'its own, in memory' 2 "$(info memory.weft 'd["events_total"]')"
    fi
run 0 "$WEFT" record --memory -o memory.weft -- "$RINGS" count 100
equal 'beside memory' '100 stopped 0' "$(events memory.weft)"

# While it runs, and when weft record is killed
"$WEFT" record -o live.weft -- "$RINGS" count 50 wait fifo 2>err &
recorder=$!
wait_for has 50 live.weft
equal 'while it runs' '50 saved 0' "$(events live.weft)"
folder=$(tr '\0' '\n' <"/proc/$(pgrep -P $recorder)/environ" | sed -n 's/^OCAML_RUNTIME_EVENTS_DIR=//p')
kill -KILL $recorder
wait $recorder 2>/dev/null || :
echo >fifo
equal 'what was taken out stays' 50 "$(info live.weft 'd["events_total"]')"
equal 'the ring file is there' 1 "$(find "$folder" -name '*.events' | wc -l)"
rm -rf "$folder"

# A process that goes on keeps its ring file, and the folder for children of its own
run 0 "$WEFT" record -o d.weft -- sh -c '"$0" count 5 wait "$1" >/dev/null 2>&1 & until "$2" info --json "$OCAML_RUNTIME_EVENTS_DIR"/*.events 2>&1 | grep -q "\"events_total\": 5,"; do sleep 0.02; done' "$RINGS" "$tmp/fifo" "$WEFT"
says "$tmp/err" '^weft: .*/weft-......: is where processes that it has started go on with their ring files of OCaml; '
equal 'what it said until then' '5 saved 0' "$(events d.weft)"
folder=$(sed -nE 's/^weft: ([^ ]*\/weft-......): .*/\1/p' "$tmp/err")
echo >fifo
rm -rf "$folder"

# Folder and files of one's own
mkdir own
OCAML_RUNTIME_EVENTS_DIR=$tmp/own run 0 "$WEFT" record -o o.weft -- "$RINGS" count 7
equal 'a folder of the user' '7 stopped 0' "$(events o.weft)"
equal 'is empty' '' "$(ls own)"
OCAML_RUNTIME_EVENTS_DIR=$tmp/own OCAML_RUNTIME_EVENTS_PRESERVE=1 run 0 "$WEFT" record -o o.weft -- "$RINGS" count 7
equal 'kept for the user' 1 "$(find own -name '*.events' | wc -l)"
equal 'the same is in it' 7 "$(info own/*.events 'd["events_total"]')"

# A real run of Eio's, once more: as from its ring file
if [ -d "$data" ] && command -v xz >/dev/null; then
    for name in p3_mutexes p5_domains p7_reuse; do
        xz -dc "$data/$name.events.xz" >"$name.events"
        run 0 "$WEFT" record -o "$name.weft" -- "$RINGS" replay "$name.events"
        run 0 "$WEFT" dump --full "$name.events"
        sed 's/^.*: //' "$tmp/out" >wanted
        run 0 "$WEFT" dump --full "$name.weft"
        sed 's/^.*: //' "$tmp/out" >found
        same "$name" wanted found
    done
    run 0 "$WEFT" explain --all --json p3_mutexes.weft
    says "$tmp/out" 'fiber 5, which holds mutex 2, has waited for mutex 3'
fi

# OCaml 5 itself
if command -v ocamlfind >/dev/null && ocamlfind query runtime_events >/dev/null 2>&1; then
    cat >real.ml <<'END'
type Runtime_events.User.tag += Count
let count = Runtime_events.User.(register "app.count" Count Runtime_events.Type.int)
let work () =
  for i = 1 to 50000 do
    Runtime_events.User.write count i;
    ignore (Sys.opaque_identity (Array.make 100 i))
  done
let () =
  let others = List.init 2 (fun _ -> Domain.spawn work) in
  work ();
  List.iter Domain.join others
END
    run 0 ocamlfind ocamlopt -package runtime_events -linkpkg real.ml -o real
    run 0 "$WEFT" record -o real.weft -- ./real
    equal 'events of OCaml 5' '150000 stopped 0' "$(info real.weft '"%d %s %d" % (d["events"]["counter"], d["ended"], d["damage"]["problems"])')"
    equal 'nothing is lost' 0 "$(info real.weft 'd["overwritten"]')"
    equal 'collections' True "$(info real.weft 'd["events"]["gc"] > 0')"
    else
    echo 'OCaml 5 is not installed: real programs of it are skipped'
fi
finish
