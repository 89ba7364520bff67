#!/bin/bash
# SPDX-License-Identifier: ISC
# bindings/ocaml/lwt/pin, and the packages weft and mirage-profile, with opam: an Lwt that tells weft in a switch, and a program
# that is built with it. The switch is made of the system's compiler; packages of a repository made here stand for the rest.
. "$(dirname "$0")/lib.sh"
case $(meson introspect "$BUILD_ROOT" --buildoptions | python3 -c '
import json, sys
print(next(o["value"] for o in json.load(sys.stdin) if o["name"] == "b_sanitize"))') in
    none) ;;
    *) skip 'OCaml has no sanitizers' ;;
esac
for program in opam rsync dune ocamlfind ocamlopt pkg-config cppo; do
    command -v "$program" >/dev/null || missing "$program is not there"
done
for package in dune.configurator ocplib-endian; do
    ocamlfind query "$package" >/dev/null 2>&1 || missing "$package is not there"
done
unset WEFT_TRACE WEFT_TRACE_SIZE WEFT_TRACE_FOR WEFT_TRACE_FORK OCAMLPATH OCAMLPARAM OCAMLRUNPARAM OPAMSWITCH OPAMROOT OPAM_SWITCH_PREFIX
export DUNE_CACHE=disabled HOME=$tmp OPAMROOTISOK=1 OPAMCOLOR=never OPAMYES=1
export PKG_CONFIG_PATH=$BUILD_ROOT/meson-uninstalled LD_LIBRARY_PATH=$BUILD_ROOT/src
bindings=$SOURCE_ROOT/bindings/ocaml
cd "$tmp"
"$bindings/lwt/fetch" "$tmp/sources" 2>message || skip "$(cat message)" # no archive can be reached

# ---- A switch ----
compiler=$(ocamlfind ocamlopt -version)
# stands PACKAGE VERSION [LINE]
stands() {
    mkdir -p "repository/packages/$1/$1.$2"
    printf '%s\n' 'opam-version: "2.0"' 'synopsis: "Of the system"' "${3:-}" >"repository/packages/$1/$1.$2/opam"
}
mkdir repository
echo 'opam-version: "2.0"' >repository/repo
stands ocaml-system "$compiler" 'flags: compiler'
stands ocaml "$compiler" 'depends: "ocaml-system"'
stands dune "$(dune --version)"
stands ocamlfind 1.9 'setenv: [OCAMLPATH += "%{lib}%"]'
for package in cppo dune-configurator ocplib-endian conf-pkg-config base-unix base-threads; do
    stands "$package" 9
done
run 0 opam init --bare --no-setup --disable-sandboxing here "$tmp/repository"
run 0 opam switch create switch ocaml-system
run 0 opam install ocamlfind

# ---- Pinned ----
cp -R sources edited
ocaml "$bindings/lwt/instrument.ml" edited >/dev/null
run 1 "$bindings/lwt/pin" edited
says "$tmp/err" 'tell weft already'
run 0 opam pin list --short
equal 'pinned by what failed' '' "$(cat "$tmp/out")"
run 2 "$bindings/lwt/pin" edited edited
run 0 "$bindings/lwt/pin" sources
run 0 "$bindings/lwt/pin" sources # again, as after an update
run 0 opam pin mirage-profile "$bindings/mirage-profile"
run 0 opam list --installed --short weft lwt mirage-profile
equal 'installed' 'lwt mirage-profile weft' "$(xargs <"$tmp/out")"

# ---- A program ----
mkdir project
echo '(lang dune 2.9)' >project/dune-project
echo '(executable (name waits) (libraries lwt.unix mirage-profile))' >project/dune
cat >project/waits.ml <<'END'
let never = MProf.Trace.named_condition "never"
let () = Lwt_main.run (Lwt.pick [ Lwt_unix.sleep 0.001; Lwt_condition.wait never ])
END
run 0 opam exec -- dune build --root project ./waits.exe
run 0 "$WEFT" record -o waits.weft -- project/_build/default/waits.exe
run 0 "$WEFT" promises waits.weft
says "$tmp/out" 'sleep	.*fulfilled	.*Lwt_unix.sleep Waits waits.ml:2'
says "$tmp/out" 'pick	.*fulfilled'
run 0 "$WEFT" dump waits.weft
says "$tmp/out" 'label p=[0-9]+ text="never"'

# ---- And back ----
stands lwt 9
run 0 opam update
run 0 opam unpin lwt
run 0 opam pin list --short
! grep -qx lwt "$tmp/out" || fail "$(cat "$tmp/out")"
finish
