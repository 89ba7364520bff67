#!/bin/bash
# SPDX-License-Identifier: ISC
# bindings/ocaml/lwt: the sources of Lwt, edited, put into a project and built; Lwt's own tests without a recording, with
# one, and with one that is full all the time; what weft explain says of programs with a fault and of their twins without
# it (tests/e2e/lwt), and of examples/ocaml.
. "$(dirname "$0")/lib.sh"
case $(meson introspect "$BUILD_ROOT" --buildoptions | python3 -c '
import json, sys
print(next(o["value"] for o in json.load(sys.stdin) if o["name"] == "b_sanitize"))') in
    none) ;;
    *) skip 'OCaml has no sanitizers' ;;
esac
for program in dune ocamlfind ocamlopt pkg-config cppo; do
    command -v "$program" >/dev/null || missing "$program is not there"
done
for package in dune.configurator ocplib-endian; do
    ocamlfind query "$package" >/dev/null 2>&1 || missing "$package is not there"
done
unset WEFT_TRACE WEFT_TRACE_SIZE WEFT_TRACE_FOR WEFT_TRACE_FORK OCAMLPATH OCAMLPARAM OCAMLRUNPARAM
export DUNE_CACHE=disabled HOME=$tmp
export PKG_CONFIG_PATH=$BUILD_ROOT/meson-uninstalled LD_LIBRARY_PATH=$BUILD_ROOT/src
lwt=$SOURCE_ROOT/bindings/ocaml/lwt
cd "$tmp"

# ---- The sources ----
"$lwt/fetch" "$tmp/sources" 2>message || skip "$(cat message)" # no archive can be reached
run 1 "$lwt/fetch" "$tmp/sources"
cp -R sources lwt
run 0 ocaml "$lwt/instrument.ml" lwt
run 1 ocaml "$lwt/instrument.ml" lwt
grep -q 'tell weft already' err || fail "$(cat err)"
run 1 ocaml "$lwt/instrument.ml" "$SOURCE_ROOT"
grep -q "not Lwt's sources" err || fail "$(cat err)"
run 2 ocaml "$lwt/instrument.ml"
# Sources that are not as they are known to be: nothing is written, and the place is named.
cp -R sources other
sed -i 's/include Concurrent_composition/include  Concurrent_composition/' other/src/core/lwt.ml
cp -R other expected
run 1 ocaml "$lwt/instrument.ml" other
grep -q 'src/core/lwt.ml: ".*" should stand there' err || fail "$(cat err)"
run 0 diff -r expected other
cp -R sources other/six
echo 'let get_from_storage = ()' >>other/six/src/core/lwt.ml
run 1 ocaml "$lwt/instrument.ml" other/six
grep -q 'src/core/lwt.ml: line [0-9]*: "get_from_storage" stands there, as in Lwt 6' err || fail "$(cat err)"

# ---- A project ----
mkdir -p project/bin
cp "$SOURCE_ROOT"/tests/e2e/lwt/*.ml "$SOURCE_ROOT/examples/ocaml/arp_race.ml" project/bin
cat >project/bin/named.ml <<'END'
(* As libraries were annotated for mirage-profile. *)
let response = MProf.Trace.named_condition "ARP response"
let query = MProf.Trace.named_task "ARP query"
let () =
  MProf.Trace.should_resolve (fst query);
  Lwt_main.run (Lwt.bind (Lwt_condition.wait response) (fun () -> fst query))
END
cat >project/bin/tails.ml <<'END'
(* Functions that only call another one have no frame of their own. *)
let rec first n = if n = 0 then Lwt.return_unit else
  Lwt.bind (Lwt.pause ()) (fun () -> first (n - 1))
let rec second n = if n = 0 then Lwt.return_unit else
  Lwt.bind (Lwt.pause ()) (fun () -> second (n - 1))
let () = Lwt_main.run (Lwt.bind (first 3) (fun () -> second 3))
END
echo '(executables (names faults guide arp_race named tails) (libraries lwt.unix weft.mprof))' >project/bin/dune
run 1 "$lwt/vendor" project sources
grep -q 'no dune-project' err || fail "$(cat err)"
echo '(lang dune 2.9)' >project/dune-project
run 1 "$lwt/vendor" project lwt # these tell weft already
[ ! -e project/vendor/weft ] || fail 'vendor left something behind'
run 0 "$lwt/vendor" project sources
run 1 "$lwt/vendor" project sources
grep -q 'there already' err || fail "$(cat err)"
run 0 dune build --root project --profile release ./bin
programs=$tmp/project/_build/default/bin

# record NAME PROGRAM [ARGUMENT...]: for as long as it runs, or until it hangs.
record() {
    local name=$1 program=$2
    shift 2
    WEFT_TRACE=$name.weft WEFT_TRACE_SIZE=4M UNTIL_HUNG=1 "$OWN_CLOCK" "$programs/$program.exe" "$@" >out 2>err </dev/null || true
}

# expect NAME WORDS...: the first thing that explain finds says each of these.
expect() {
    local name=$1 words
    shift
    "$WEFT" explain "$name.weft" >"$name.txt" 2>&1 || true
    sed -n '/^1\. /,/^2\. /p' "$name.txt" | tr '\n' ' ' | tr -s ' ' >first
    for words; do
        checks=$((checks + 1))
        grep -qF -e "$words" first || {
            fail "$name: '$words' is not in"
            cat "$name.txt"
        }
    done
}

healthy() {
    checks=$((checks + 1))
    "$WEFT" explain "$1.weft" >"$1.txt" 2>&1 || true
    ! grep -qE '^[0-9]+\. .*\((likely|certain)\)' "$1.txt" || {
        fail "$1: something was found"
        cat "$1.txt"
    }
}

for fault in lock deadlock condition reply serial herd retry threads swallowed; do
    record "$fault-bad" faults "$fault" bad
    record "$fault-good" faults "$fault" good
    healthy "$fault-good"
done
for name in serve ordered; do
    record "$name" faults "$name"
    healthy "$name"
done
expect lock-bad "hang-root (likely) 'Lwt_mutex.create Faults.catalogue faults.ml:8'" \
    "'Faults.import faults.ml:" 'which failed at' 'Failure("bad record")' 'still holds it'
expect deadlock-bad 'deadlock (likely)' 'Faults.a faults.ml:30' 'Faults.b faults.ml:31'
expect condition-bad 'lost-wakeup' 'Faults.ready faults.ml:44' 'when nobody waited for it, and is lost'
expect reply-bad "hang-root (likely) 'Faults.call faults.ml:61'" "Faults.server" 'without resolving it'
expect serial-bad 'serial-waits (likely)' 'started 8 promises' 'Faults.fetch faults.ml:'
expect herd-bad 'herd (likely)' "'Faults.job faults.ml:" 'woke 30 promises'
# The closure that is given to bind has no frame: it only calls connect.
expect retry-bad 'retry-storm (likely)' 'Faults.connect faults.ml:' 'ECONNREFUSED'
"$WEFT" explain threads-bad.weft >threads.txt 2>&1 || true
checks=$((checks + 1))
grep -q "^[12]\. workers-busy (likely)" threads.txt || fail "$(cat threads.txt)"
expect swallowed-bad 'swallowed-failure (likely)' 'Failure("disk full")'

# ---- The guide's bug ----
for how in good bad fixed; do
    record "arp-$how" arp_race "$how"
done
expect arp-bad 'lost-wakeup (likely)' 'Arp_race.forgetful' "'Arp_race.send_query arp_race.ml" 'signals'
healthy arp-good
healthy arp-fixed
run 0 "$WEFT" diff arp-good.weft arp-bad.weft
tr '\n' ' ' <out | tr -s ' ' >diff
grep -qF "'Lwt_unix.sleep Arp_race.arp_query arp_race.ml:35' was fulfilled before 'Lwt_unix.sleep Arp_race.send_query" diff ||
    fail "$(cat out)"

# ---- What was said to mirage-profile ----
# It never ends, nor does it sleep: it is killed when it has computed for a tenth of a second.
WEFT_TRACE=named.weft WEFT_TRACE_SIZE=4M "$programs/named.exe" &
pid=$!
has_spun() { [ "$(cut -d ' ' -f 14 "/proc/$pid/stat")" -ge "$(($(getconf CLK_TCK) / 10))" ]; }
wait_for has_spun
kill -KILL "$pid"
wait "$pid" 2>/dev/null || :
run 0 "$WEFT" dump named.weft
grep -q ' label p=1 text="ARP response"' out || fail "$(head -n 20 out)"
grep -q ' label p=2 text="ARP query"' out || fail "$(head -n 20 out)"
grep -q ' should_resolve p=2' out || fail "$(head -n 20 out)"
# An engine with nothing to wait for does not sleep; that is not told each time.
checks=$((checks + 1))
[ "$(grep -c suspend out)" -lt 10 ] || fail "$(grep -c suspend out) times asleep"

# ---- A program that mirage-profile has recorded, with the Lwt of then ----
record guide-good guide good
record guide-bad guide bad
expect guide-bad 'lost-wakeup (certain)' 'when nobody waited for it, and is lost'
healthy guide-good
run 0 "$WEFT" export --to mirage -o guide-good.ctf guide-good.weft
run 0 "$WEFT" diff guide-good.ctf guide-good.weft
grep -q '25 of 26 promises aligned' out || fail "$(cat out)" # but for a catch, which was written as another type
if [ -e "$DATA/guide-good.ctf" ]; then
    # Of types, labels and who waits for whom, nothing is different.
    for how in good bad; do
        run 0 "$WEFT" diff "$DATA/guide-$how.ctf" "guide-$how.weft"
        grep -q '26 of 26 promises aligned' out || fail "$how: $(cat out)"
        ! grep -qE '^(Promises|Orders)' out || fail "$how: $(cat out)"
        # That something took longer depends on the machine.
        ! grep -A 1 '^Where' out | grep -vqE '^(Where|--)| took .*; in the bad run ' || fail "$how: $(cat out)"
    done
    run 0 "$WEFT" diff "$DATA/guide-good.ctf" guide-bad.weft
    tr '\n' ' ' <out | tr -s ' ' >diff
    grep -q 'when that had been signalled already .* and still waits; in the good run it never waited for it' diff || fail "$(cat out)"
    grep -q '26 of 26 promises aligned' out || fail "$(cat out)"
else
    echo "mirage-profile's recordings are not compared: no $DATA"
fi

# ---- Names of what has no frame ----
record tails tails
run 0 "$WEFT" dump tails.weft
for label in 'Tails.first tails.ml:3' 'Tails.second tails.ml:5' 'Tails tails.ml:6'; do
    grep -q " type=bind label=\"$label\"" out || fail "no bind is '$label': $(grep type=bind out)"
done

# ---- A program whose Lwt is untouched, or that has none ----
echo 'let () = print_endline "hello"' >plain.ml
run 0 ocamlfind ocamlopt -package unix plain.ml -o plain
run 0 "$WEFT" record --runtimes none -o plain.weft -- ./plain
grep -q 'OCaml program that is not linked with weft.*docs/ocaml.md' err || fail "$(cat err)"

# ---- Lwt's own tests ----
mkdir suite
cp -R lwt "$SOURCE_ROOT/bindings/ocaml" suite
(cd suite && rm -rf ocaml/test lwt/lwt_*.opam lwt/docs &&
    find lwt/src lwt/test -mindepth 1 -maxdepth 1 -type d ! -name core ! -name unix -exec rm -rf {} + &&
    rm -rf lwt/src/unix/luv)
echo '(lang dune 2.9)' >suite/dune-project
run 0 dune build --root suite --profile release ./lwt/test/core/main.exe
tests=$tmp/suite/_build/default/lwt/test/core/main.exe
run 0 "$tests"
grep -q '^Ok\. ' out || fail "$(tail -n 5 out)"
run 0 "$WEFT" record -o whole.weft -- "$tests"
grep -q '^Ok\. ' out || fail "$(tail -n 5 out)"
run 0 "$WEFT" info whole.weft
run 0 "$WEFT" record --size 64K -o full.weft -- "$tests"
grep -q '^Ok\. ' out || fail "$(tail -n 5 out)"
run 0 "$WEFT" info full.weft
finish
