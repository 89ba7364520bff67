#!/bin/bash
# SPDX-License-Identifier: ISC
# Recordings of OCaml programs with Eio, by the runtime itself (ring files) and by eio-trace (.fxt): weft shows what their own
# readers show, and explains from the rings what went wrong in these programs.
. "$(dirname "$0")/lib.sh"
data=$DATA/../eio
[ -d "$data" ] || skip "there is no $data"
command -v xz >/dev/null || skip 'xz is not installed'

for name in p1_healthy p2_promise p3_mutexes p5_domains p7_reuse; do
    xz -dc "$data/$name.events.xz" >"$tmp/$name.events"
    for file in "$tmp/$name.events" "$data/$name.fxt"; do
        truth=$data/$name.events.txt
        [ "${file##*.}" = events ] || truth=$data/$name.dump.txt
        run 0 "$WEFT" dump --full "$file"
        silent "$tmp/err"
        cp "$tmp/out" "$tmp/dump"
        run 0 python3 "$SOURCE_ROOT/tests/e2e/eio.py" "$truth" "$tmp/dump"
        says "$tmp/out" '^[0-9]+ things compared$'
        run 0 "$WEFT" render -o "$tmp/picture.svg" "$file"
        run 0 "$WEFT" stats "$file"
        run 0 "$WEFT" promises "$file"
        run 0 "$WEFT" export --to ctf -o "$tmp/$name.ctf.${file##*.}" "$file"
    done
done

# first NAME KIND TEXT: what is found first
first() {
    run 0 "$WEFT" explain --all --json "$1"
    equal "$1: found first" "$2" "$(json "$tmp/out" 'd["findings"][0]["name"]')"
    says "$tmp/out" "$3"
}
first "$tmp/p2_promise.events" hang-root "'config' .promise 3. was never resolved"
first "$tmp/p3_mutexes.events" deadlock 'fiber 5, which holds mutex 2, has waited for mutex 3'
first "$data/p2_promise.fxt" hang-root "'Promise.await'"
for name in p1_healthy p7_reuse; do
    for file in "$tmp/$name.events" "$data/$name.fxt"; do
        run 0 "$WEFT" explain --check "$file"
    done
done

# Cut off anywhere: an error or what is left, never a crash.
for file in "$tmp/p3_mutexes.events" "$data/p3_mutexes.fxt"; do
    size=$(stat -c %s "$file")
    for cut in 1 7 8 63 64 65 200 1000 $((size / 2)) $((size - 1)); do
        head -c "$cut" "$file" >"$tmp/cut"
        checks=$((checks + 1))
        status=0
        timeout 300 "$WEFT" dump "$tmp/cut" >"$tmp/out" 2>"$tmp/err" || status=$?
        [ "$status" -le 3 ] || fail "$file cut after $cut: $status"
    done
done
finish
