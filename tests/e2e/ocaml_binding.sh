#!/bin/bash
# SPDX-License-Identifier: ISC
# bindings/ocaml: what a program says by it stands in the trace; without a recording it does nothing. The programs are
# those of bindings/ocaml/test.
. "$(dirname "$0")/lib.sh"
case $(meson introspect "$BUILD_ROOT" --buildoptions | python3 -c '
import json, sys
print(next(o["value"] for o in json.load(sys.stdin) if o["name"] == "b_sanitize"))') in
    none) ;;
    *) skip 'OCaml has no sanitizers' ;;
esac
for program in dune ocamlfind ocamlopt pkg-config; do
    command -v "$program" >/dev/null || missing "$program is not there"
done
ocamlfind query lwt >/dev/null 2>&1 || missing "Lwt is not there (liblwt-ocaml-dev)"
unset WEFT_TRACE WEFT_TRACE_SIZE WEFT_TRACE_FOR WEFT_TRACE_FORK OCAMLPATH OCAMLPARAM OCAMLRUNPARAM
export DUNE_CACHE=disabled HOME=$tmp
export PKG_CONFIG_PATH=$BUILD_ROOT/meson-uninstalled LD_LIBRARY_PATH=$BUILD_ROOT/src
cd "$tmp"
mkdir package
(cd "$SOURCE_ROOT/bindings/ocaml" && tar -c --exclude=_build .) | tar -x -C package

run 0 dune build --root package @install @test/all
run 0 dune test --root package
programs=$tmp/package/_build/default/test
export CAML_LD_LIBRARY_PATH=$tmp/package/_build/default/src # bytecode's

# record TRACE PROGRAM...
record() {
    local trace=$1
    shift
    "$WEFT" record --force --size 1M -o "$trace" -- "$@"
}

# ---- Each call ----
cat >calls.expected <<'END'
creates parent=-1 child=1 type=task label="main"
switch p=1
creates parent=1 child=2 type=io label="usual" at="net.ml:7"
creates parent=1 child=3 type=io label="unusual" at="net.ml:7"
creates parent=2 child=4 type=task label="child"
creates parent=4 child=5 type=io label="usual" at="net.ml:7"
try_read reader=1 source=2
try_read reader=4 source=3
read_later reader=4 source=2
fulfills resolver=1 p=2
read reader=1 source=2
fails resolver=1 p=3 exception="no such user"
fails resolver=1 p=4 exception="odd"
creates parent=1 child=6 type=task
becomes p=5 q=6
creates parent=1 child=7 type=task
resolves resolver=1 p=7
creates parent=1 child=8 type=task
cancels canceller=1 p=8
creates parent=1 child=9 type=task
forgets p=9
creates parent=1 child=10 type=task
fails resolver=1 p=10 exception=""
creates parent=1 child=11 type=task
fulfills resolver=1 p=11
creates parent=1 child=12 type=task
fails resolver=1 p=12 exception="late"
creates parent=1 child=13 type=condition
notifies notifier=1 p=13
notifies notifier=1 p=13
signal receiver=1 source=13
creates parent=1 child=14 type=lock
acquires holder=1 resource=14
releases holder=1 resource=14
acquires holder=13 resource=14
releases holder=13 resource=14
label p=1 text="a longer label \xff"
span_parent p=1 ids="4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7"
span p=13 ids="4bf92f3577b34da6a3ce929d0e0e4736-b7ad6b7169203331"
snapshot p=1 reason="worth keeping"
should_resolve p=1
background p=13
increase p=1 counter="queued" amount=2 value=2
increase p=1 counter="queued" amount=-5 value=-3
counter p=1 counter="queued" value=123456789
gc duration=1234
gc duration=0
suspend reason=wait_for_work
resume
suspend reason=suspend
resume
suspend reason=hibernate
resume
switch p=1
switch p=-1
END
mkdir empty
for program in calls.exe calls.bc; do
    (cd empty && run 0 "$programs/$program")
    equal "$program alone" 'recording: false' "$(cat "$tmp/out")"
    equal "files of $program alone" '' "$(ls empty)"
    run 0 record calls.weft "$programs/$program"
    equal "$program" 'the text of an exception was made recording: true' "$(xargs <"$tmp/out")"
    # Collections of its own are a matter of memory.
    "$WEFT" dump calls.weft | cut -d ' ' -f 3- >calls.said
    same "what $program says" calls.expected calls.said
done

run 0 record own.weft "$programs/own_ids.exe"
run 0 "$WEFT" promises own.weft
equal 'numbers of its own' '1000 task -1 resolved own;1001 task 1000 pending -;' \
    "$(awk -F '\t' 'NR > 1 { printf "%s %s %s %s %s;", $1, $2, $3, $6, $8 }' "$tmp/out" | sed 's/ ;/ -;/g')"

# ---- Streams ----
# streams TRACE: of how many, promises that ran: their labels
streams() {
    "$WEFT" dump "$1" | awk '$3 == "switch" && $4 != "p=-1" && !seen[$2]++ { n++ } END { print n }'
    "$WEFT" promises "$1" | awk -F '\t' 'NR > 1 { print $8, $6 }' | sort
}
each=(threads.exe thread threads.bc thread)
[ ! -e "$programs/domains.exe" ] || each+=(domains.exe domain domains.bc domain)
for ((i = 0; i < ${#each[@]}; i += 2)); do
    run 0 record streams.weft "$programs/${each[i]}"
    what=${each[i + 1]}
    equal "streams of ${each[i]}" "3 $what 0 fulfilled $what 1 fulfilled $what 2 fulfilled" "$(streams streams.weft | xargs)"
done
[ -e "$programs/domains.exe" ] || echo "domains are not tried: this is OCaml $(ocamlfind ocamlopt -version)"

# ---- Collections ----
for program in collected.exe collected.bc; do
    run 0 record collected.weft "$programs/$program"
    "$WEFT" dump collected.weft >"$tmp/out"
    says "$tmp/out" ' gc duration=[0-9]{4}'
done

# ---- What was written for mirage-profile ----
run 0 "$programs/annotated.exe"
run 0 record plain.weft "$programs/annotated.exe"
counters='counter p=-1 counter="tx" value=3;counter p=-1 counter="tx" value=2;counter p=-1 counter="credits" value=9;'
counters+='increase p=-1 counter="plain" amount=4 value=4;counter p=-1 counter="plain" value=40;'
told() {
    "$WEFT" dump "$1" | cut -d ' ' -f 3- | grep -v '^gc ' | tr '\n' ';'
}
equal 'with a plain Lwt' "suspend reason=wait_for_work;resume;label p=-1 text=\"connect\";$counters" "$(told plain.weft)"
run 0 record plain.weft "$programs/annotated.bc"
equal 'in bytecode' "suspend reason=wait_for_work;resume;label p=-1 text=\"connect\";$counters" "$(told plain.weft)"
run 0 record hooked.weft "$programs/annotated_hooked.exe"
run 0 "$WEFT" promises hooked.weft
equal 'with an Lwt that speaks to weft' \
    'task main;wait ARP response;wait never;condition changed;condition full;condition empty;' \
    "$(awk -F '\t' 'NR > 1 { printf "%s %s;", $2, $8 }' "$tmp/out")"
equal 'what was marked' 'never-resolved certain never' "$(findings hooked.weft)"
# A program that starts its recording itself; and who started the program goes before.
run 0 "$programs/annotated.exe" itself.weft
equal 'by itself' "label p=-1 text=\"connect\";$counters" "$(told itself.weft)"
run 0 record outer.weft "$programs/annotated.exe" inner.weft
equal 'recorded, too' "suspend reason=wait_for_work;resume;label p=-1 text=\"connect\";$counters" "$(told outer.weft)"

# ---- Installed, by its findlib names ----
for package in weft mirage-profile mirage-profile-unix; do
    run 0 dune install --root package --prefix "$tmp/prefix" --libdir "$tmp/prefix/lib" "$package"
done
export OCAMLPATH=$tmp/prefix/lib CAML_LD_LIBRARY_PATH=$tmp/prefix/lib/stublibs
run 0 ocamlfind query -recursive -predicates native mirage-profile
says "$tmp/out" '/weft$'
says "$tmp/out" '/mirage-profile$'
cp package/test/annotated.ml package/test/own_ids.ml .
run 0 ocamlfind ocamlopt -package weft -linkpkg own_ids.ml -o own_ids
run 0 record installed.weft ./own_ids
equal 'ocamlfind' 2 "$("$WEFT" promises installed.weft | grep -c task)"
for names in mirage-profile,mirage-profile-unix weft.mprof,weft.mprof-unix; do
    run 0 ocamlfind ocamlopt -package "$names" -linkpkg annotated.ml -o annotated
    run 0 record installed.weft ./annotated
    equal "$names by ocamlfind" "suspend reason=wait_for_work;resume;label p=-1 text=\"connect\";$counters" "$(told installed.weft)"
done
run 0 ocamlfind ocamlc -package weft -linkpkg own_ids.ml -o own_ids.bc
run 0 record installed.weft ./own_ids.bc
equal 'ocamlfind, bytecode' 2 "$("$WEFT" promises installed.weft | grep -c task)"

# ---- As in a unikernel: with libweft-freestanding, no libweft, into memory ----
free=$BUILD_ROOT/src/libweft-freestanding.a
where=$(ocamlfind ocamlopt -where)
cat >kernel.c <<'END'
#include <stdint.h>
uint64_t weft_ocaml_clock(void);
uint64_t weft_ocaml_clock(void)
{
    static uint64_t now_ns;
    return now_ns += 1000;
}
END
cat >kernel.ml <<'END'
let memory = Bigarray.(Array1.create char c_layout 1_000_000)
let () =
  (match Weft.start_in (Bigarray.Array1.sub memory 0 1000) with () -> assert false | exception Sys_error _ -> ());
  Weft.start_in memory;
  let task = Weft.create ~label:"boot" (Weft.kind "task") in
  ignore (Weft.run task);
  let reply = Weft.create ~label:"reply" (Weft.kind "io") in
  Weft.wait reply;
  Weft.should_resolve reply;
  Gc.minor ();
  Weft.fail_exn task (Failure "no disk");
  (* By whatever way leads out of the machine. *)
  for i = 0 to Bigarray.Array1.dim memory - 1 do print_char memory.{i} done
END
cp package/src/weft.ml package/src/weft.mli .
run 0 cc -O2 -Wall -Wextra -Werror -DWEFT_UNIKERNEL -I"$SOURCE_ROOT/include" -isystem "$where" -c package/src/weft_stubs.c -o stubs.o
run 0 cc -O2 -c kernel.c -o clock.o
# What they need is OCaml's runtime, what that has of C, and the library.
needs() { nm -u "$@" | awk 'NF == 2 { print $2 }' | sort -u; }
has() { nm --defined-only -g "$@" | awk 'NF == 3 { print $3 }' | sort -u; }
{ needs "$where/libasmrun.a"; has "$where/libasmrun.a"; has "$free"; echo weft_ocaml_clock; } 2>err | sort -u >offered
equal 'needed besides' '' "$(needs stubs.o | comm -23 - offered | grep -vx _GLOBAL_OFFSET_TABLE_)"
run 0 ocamlfind ocamlopt weft.mli weft.ml kernel.ml stubs.o clock.o "$free" -o kernel
./kernel >kernel.weft
run 0 "$WEFT" promises kernel.weft
equal 'of a unikernel' 'boot failed;reply pending;' "$(awk -F '\t' 'NR > 1 { printf "%s %s;", $8, $6 }' "$tmp/out")"
run 0 ldd kernel
! grep -q libweft "$tmp/out" || fail "$(cat "$tmp/out")"
finish
