#!/bin/bash
# SPDX-License-Identifier: ISC
# weft sample --size: the file never becomes larger, whatever is read from it or happens to its writer meanwhile, and
# what it says of the samples that are gone and of those that are left adds up. And --low.
. "$(dirname "$0")/lib.sh"
: "${PROFILES:?the folder of tests/profiles}"
unset WEFT_TRACE
cd "$tmp" || exit 1
trap 'kill -9 $(jobs -p) 2>/dev/null || :; chmod -R u+rwx "$tmp"; rm -rf "$tmp"' EXIT

"$WEFT" sample -o probe.samples true 2>probe.err ||
    if grep -Eq 'no permission|no perf_event_open' probe.err; then skip "$(cat probe.err)"; fi

size=262144 # what 256K is

# sequences FILE: of the newest packet of samples, and how many such packets there are
sequences() {
    python3 - "$1" <<'END'
import struct, sys
data, at, found = open(sys.argv[1], "rb").read(), 0, []
while at + 88 <= len(data):
    magic, = struct.unpack_from("<I", data, at)
    if magic != 0xC1FC1FC1:
        at += 8
        continue
    packet_class, = struct.unpack_from("<H", data, at + 26)
    bits, = struct.unpack_from("<Q", data, at + 32)
    if packet_class == 7:
        found.append(struct.unpack_from("<Q", data, at + 64)[0])
    at += bits // 8
assert len(set(found)) == len(found), found
print(max(found, default=0), len(found))
END
}

# wrapped FILE: several times
wrapped() {
    local newest there
    read -r newest there < <(sequences "$1")
    [ "$newest" -gt $((4 * there)) ] && [ "$there" -gt 4 ]
}

# measured FILE WHAT: a number of weft profile's
measured() {
    "$WEFT" profile --json --limit 0 "$1" >profile.json && json profile.json "d['measured']['$2']"
}

# sound FILE: no larger than it may be, undamaged, all samples have names, and three quarters are one function's
sound() {
    checks=$((checks + 1))
    [ "$(stat -c %s "$1")" -le $size ] || fail "$1: $(stat -c %s "$1") bytes"
    run 0 "$WEFT" info "$1"
    grep -q '^  damage *none$' out || fail "$1: $(grep damage out)"
    run 0 "$WEFT" profile --json --limit 0 --user --by object "$1"
    [ "$(json out 'd["rows"][0]["name"].rsplit("/", 1)[1]')" = burn ] || fail "$1: $(head -c 900 out)"
    run 0 "$WEFT" profile --json --limit 0 --user "$1"
    mv out profile.json
    python3 - profile.json <<'END' || fail "$1: the shares of its functions"
import json, math, sys
d = json.load(open(sys.argv[1], encoding="utf-8"))
count = {r["name"]: r["samples"] for r in d["rows"] if r["kind"] == "function"}
heavy, light = count.get("heavy", 0), count.get("light", 0)
n = heavy + light
off = abs(heavy / max(n, 1) - 0.75)
# A ring of some thousand samples has whole and half turns of the two.
ok = n > 300 and off < 0.05 + 5 * math.sqrt(0.1875 / n) and d["measured"]["skipped"] == 0
if not ok:
    print(n, off, d["measured"], file=sys.stderr)
sys.exit(not ok)
END
    run 0 "$WEFT" profile --json --by thread "$1"
    [[ "$(json out 'd["rows"][0]["name"]')" == burn* ]] || fail "$1: $(head -c 900 out)"
}

# ---- It ends by itself: the counts add up ----

run 0 "$WEFT" sample --size 256K -F 10000 -o ends.samples -- "$PROFILES/burn" 3000
message=$(cat err)
pattern='^weft: ends.samples: ([0-9,]+) samples .*; the last ([0-9,]+) are kept; 0 lost;'
if [[ "$message" =~ $pattern ]]; then
    taken=${BASH_REMATCH[1]//,/} kept=${BASH_REMATCH[2]//,/}
    equal 'samples that are kept' "$kept" "$(measured ends.samples samples)"
    equal 'all samples' "$taken" "$((kept + $(measured ends.samples overwritten)))"
else
    fail "$message"
fi
sound ends.samples
run 0 "$WEFT" info ends.samples
grep -q '^    overwritten *[0-9,]* older ones$' out || fail "info: $(cat out)"

# ---- It is read and copied while it is written, and killed ----

"$WEFT" sample --size 256K -F 10000 --no-switches -o ring.samples -- "$PROFILES/burn" 1000000 2 >/dev/null 2>&1 &
sampler=$!
wait_for wrapped ring.samples
for copy in 1 2 3; do
    before=$(measured ring.samples overwritten)
    run 0 "$WEFT" save -o "copy$copy.weft" ring.samples
    sound "copy$copy.weft"
    run 0 "$WEFT" info "copy$copy.weft"
    grep -q '^  ended *saved' out || fail "copy$copy: $(grep ended out)"
    [ "$(measured "copy$copy.weft" overwritten)" -ge "$before" ] || fail "copy$copy has what was overwritten"
done
run 0 "$WEFT" info ring.samples
grep -q '^  ended *still running' out || fail "while it is written: $(grep ended out)"
known=$(($(measured ring.samples samples) + $(measured ring.samples overwritten)))
program=$(pgrep -P $sampler burn)
kill -9 $sampler
wait $sampler 2>/dev/null || :
kill -9 "$program"
sound ring.samples
run 0 "$WEFT" info ring.samples
grep -q '^  ended *killed' out || fail "killed: $(grep ended out)"
after=$(($(measured ring.samples samples) + $(measured ring.samples overwritten)))
[ "$after" -ge "$known" ] || fail "after the kill $after samples are accounted for, before it $known"

# ---- With the program's promises ----

run 0 "$WEFT" record --sample=10000 --sample-size 256K -o both.weft -- "$PROFILES/burn" 3000
[ "$(measured both.weft overwritten)" -gt 0 ] || fail "weft record: $(cat profile.json)"
sound both.weft

# ---- --low ----

run 0 "$WEFT" sample --low -F 1000 -o low.samples -- sh -c "'$PROFILES/burn' 500; :"
equal 'lost, with --low' 0 "$(measured low.samples lost)"
run 0 "$WEFT" profile --json --by process low.samples
mv out profile.json
equal 'processes, with --low' 'burn' "$(json profile.json 'd["rows"][0]["name"].split()[0]')"
[ "$(json profile.json 'all(r["name"].split()[0] in ("burn", "sh", "weft") for r in d["rows"])')" = True ] ||
    fail "--low: $(cat profile.json)"

run 0 "$WEFT" record --sample-low -o recorded.weft -- "$PROFILES/burn" 500
equal 'lost, with --sample-low' 0 "$(measured recorded.weft lost)"
[ "$(measured recorded.weft samples)" -gt 5 ] || fail "--sample-low: $(cat profile.json)"
equal 'times away, with --sample-low' 0 "$(measured recorded.weft away_times)"

# ---- Mistakes ----

run 2 "$WEFT" sample --size 100K -- true
run 2 "$WEFT" sample --low --off-cpu -- true
run 2 "$WEFT" record --sample-size 1M -- true
run 2 "$WEFT" record --sample-low --off-cpu -- true

finish
