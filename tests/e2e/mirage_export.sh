#!/bin/bash
# SPDX-License-Identifier: ISC
# A trace that weft has written says the same as the one that it read.
. "$(dirname "$0")/lib.sh"
need_mktrace

FACTS='{k: d[k] for k in ("events_total", "events", "promises", "span_ns", "streams")}'

round_trip() { # FILE
    run 0 "$WEFT" export --to mirage -o "$tmp/copy.ctf" "$1"
    silent "$tmp/out"
    for command in dump promises 'promises --raw'; do
        # shellcheck disable=SC2086 # words
        run 0 "$WEFT" $command "$1"
        mv "$tmp/out" "$tmp/before"
        # shellcheck disable=SC2086
        run 0 "$WEFT" $command "$tmp/copy.ctf"
        same "$command of a copy of $1" "$tmp/before" "$tmp/out"
    done
    run 0 "$WEFT" info --json "$1"
    mv "$tmp/out" "$tmp/before"
    run 0 "$WEFT" info --json "$tmp/copy.ctf"
    equal "info of a copy of $1" "$(json "$tmp/before" "$FACTS")" "$(json "$tmp/out" "$FACTS")"
    equal "unused packets of a copy of $1" 0 "$(json "$tmp/out" 'd["unused_packets"]')"
    equal "wrapping of a copy of $1" False "$(json "$tmp/out" 'd["wrapped"]')"
    # Writing what was written changes nothing any more, in a pipe neither.
    run 0 "$WEFT" export --to mirage -o - "$tmp/copy.ctf"
    same "a copy of a copy of $1" "$tmp/copy.ctf" "$tmp/out"
}

if [ -d "$DATA" ]; then
    for file in "$DATA"/*.ctf; do
        round_trip "$file"
    done
else
    echo "only made traces: $DATA is not there"
fi

# Every kind of event, texts with every byte, packets that do not fill their space, out of order
all_bytes=$(for i in $(seq 1 255); do printf '\\x%02x' "$i"; done)
for i in $(seq 1 40); do
    cat <<EOF
$((i * 100)) 0 creates parent=-1 child=$i type=$((i * 6))
$((i * 100)) 0 creates parent=$i child=$((i + 1000000007 * i)) type=bind
$((i * 100 + 1)) 0 read reader=$i source=$((i + 1000000007 * i))
$((i * 100 + 2)) 0 label p=$i text="$all_bytes"
$((i * 100 + 3)) 0 try_read reader=$i source=18446744073709551614
$((i * 100 + 4)) 0 increase p=$i counter="c#$i" amount=-9223372036854775808
$((i * 100 + 5)) 0 counter p=$i counter="" value=9223372036854775807
$((i * 100 + 6)) 0 switch p=-1
$((i * 100 + 7)) 0 gc duration=18446744073709551615
$((i * 100 + 8)) 0 signal receiver=$i source=-1
$((i * 100 + 9)) 0 read_later reader=$i source=-1
$((i * 100 + 10)) 0 signal_only receiver=-1 source=$i
$((i * 100 + 11)) 0 fails resolver=-1 p=$((i + 1000000007 * i)) exception="no \\"luck\\""
$((i * 100 + 12)) 0 becomes p=$i q=$((i + 1))
$((i * 100 + 13)) 0 fulfills resolver=7777777777777777777 p=$((i + 5))
EOF
done >"$tmp/lines"
"$MKTRACE" --packet-bytes 700 --pad --rotate 5 --sequence 65530 --unused 1 "$tmp/made.ctf" <"$tmp/lines"
round_trip "$tmp/made.ctf"
run 0 "$WEFT" info --json "$tmp/made.ctf"
equal 'made.ctf: events' 600 "$(json "$tmp/out" 'd["events_total"]')"
equal 'made.ctf: kinds' 14 "$(json "$tmp/out" 'sum(n == 40 or k == "creates" for k, n in d["events"].items())')"
equal 'made.ctf: promises' "$(("$("$WEFT" promises "$tmp/made.ctf" 2>/dev/null | wc -l)" - 1))" \
    "$(json "$tmp/out" 'd["promises"]')"

# What dump prints makes the same trace again.
"$WEFT" dump "$tmp/made.ctf" >"$tmp/dumped"
"$MKTRACE" "$tmp/again.ctf" <"$tmp/dumped"
run 0 "$WEFT" dump "$tmp/again.ctf"
same 'dump of a made trace' "$tmp/dumped" "$tmp/out"

# A trace of weft's own that uses mirage's types only says the same in mirage's format.
if [ -x "${RECORDED:-}" ]; then
    "$WEFT" record -o "$tmp/own.weft" "$RECORDED" type bind rounds 200 type task threads 2 100 2>"$tmp/err"
    run 0 "$WEFT" export --to mirage -o "$tmp/own.ctf" "$tmp/own.weft"
    says "$tmp/err" 'mirage.s format cannot say all: 400 source locations were left out'
    equal 'what is said' 2 "$(wc -l <"$tmp/err")"
    run 0 "$WEFT" promises "$tmp/own.weft"
    mv "$tmp/out" "$tmp/before"
    run 0 "$WEFT" promises "$tmp/own.ctf"
    same 'promises in mirage format' "$tmp/before" "$tmp/out"
    equal 'promises' 401 "$(wc -l <"$tmp/out")"
    # Other types become labels of tasks.
    "$WEFT" record -o "$tmp/own.weft" "$RECORDED" rounds 3 2>"$tmp/err"
    run 0 "$WEFT" export --to mirage -o "$tmp/own.ctf" "$tmp/own.weft"
    says "$tmp/err" ': 3 promises have a type that mirage lacks'
    run 0 "$WEFT" dump "$tmp/own.ctf"
    equal 'types as labels' 3 "$(grep -c 'label p=[0-9]* text="round"' "$tmp/out")"
fi

# With the permissions that the umask leaves
(umask 027 && "$WEFT" export --to mirage -o "$tmp/mode.ctf" "$tmp/made.ctf")
equal 'permissions' 640 "$(stat -c %a "$tmp/mode.ctf")"
finish
