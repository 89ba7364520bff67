#!/bin/bash
# SPDX-License-Identifier: ISC
# babeltrace2 reads what weft exports: with exit status 0, and as many events.
. "$(dirname "$0")/lib.sh"
need_mktrace
command -v babeltrace2 >/dev/null || skip 'babeltrace2 is not installed'

# exported NAME FILE: exports it and compares babeltrace2's view with weft's
exported() {
    local folder=$tmp/$1.folder
    rm -rf "$folder"
    run 0 "$WEFT" export --to ctf -o "$folder" "$2"
    cp "$tmp/err" "$tmp/said"
    equal "$1: files" './metadata ./stream_0' "$(cd "$folder" && echo ./*)"
    run 0 babeltrace2 --clock-cycles "$folder"
    silent "$tmp/err"
    cp "$tmp/out" "$tmp/seen"
    run 0 "$WEFT" dump "$2"
    equal "$1: events" "$(wc -l <"$tmp/out")" "$(wc -l <"$tmp/seen")"
    # The same kinds in the same order, and of the first promise the same number.
    LC_ALL=C sed -E 's/^\[[0-9]+\] \([^)]*\) ([a-z_]+): [^}]*\}, \{ ?([a-z]+ = [0-9]+)?.*/\1 \2/
            s/ = /=/; s/=18446744073709551615/=-1/' "$tmp/seen" >"$tmp/seen.short"
    awk '{ f = $4 ~ /^[a-z]+=-?[0-9]+$/ ? $4 : ""; print $3 " " f }' "$tmp/out" >"$tmp/dump.short"
    same "$1: kinds and first promises" "$tmp/dump.short" "$tmp/seen.short"
}

if [ -d "$DATA" ]; then
    for name in net ring-wrapped all-events; do
        exported "$name" "$DATA/$name.ctf"
        silent "$tmp/said"
    done
else
    echo "only made traces: $DATA is not there"
fi

# Packets in any order, more than one lap of their numbers
for i in $(seq 1 300); do
    echo "$((i * 10)) 0 creates parent=-1 child=$i type=$((i % 30))"
    printf '%s 0 label p=%s text="%s"\n' $((i * 10 + 1)) "$i" '\"quoted\\ <&> \xff caf\xc3\xa9 \n'
    echo "$((i * 10 + 2)) 0 increase p=$i counter=\"c\" amount=-$i"
done >"$tmp/lines"
"$MKTRACE" --packet-bytes 200 --pad --sequence 65500 --rotate 70 --unused 2 "$tmp/ring.ctf" <"$tmp/lines"
run 0 "$WEFT" dump "$tmp/ring.ctf"
awk 'NR == 1 { first = $1 } { $1 -= first; print }' "$tmp/lines" >"$tmp/expected"
equal 'ring.ctf: events' 900 "$(wc -l <"$tmp/out")"
equal 'ring.ctf: times' "$(cut -d ' ' -f 1 "$tmp/expected" | cksum)" "$(cut -d ' ' -f 1 "$tmp/out" | cksum)"
exported ring "$tmp/ring.ctf"

# Nothing at all
"$MKTRACE" "$tmp/none.ctf" </dev/null
exported none "$tmp/none.ctf"

# Time that runs backwards
printf '%s\n' '0 0 switch p=1' '100 0 switch p=2' '50 0 switch p=3' '100 0 switch p=4' >"$tmp/lines"
"$MKTRACE" "$tmp/back.ctf" <"$tmp/lines"
exported back "$tmp/back.ctf"
says "$tmp/said" '1 events'
equal 'back.ctf: times' '0 100 100 100 ' "$(sed -E 's/^\[0*([0-9]+)\].*/\1/' "$tmp/seen" |
    awk 'NR == 1 { first = $1 } { printf "%d ", $1 - first }')"

# Clocks that begin late
for start in 9223372036854775807 18446744073709551000; do
    "$MKTRACE" --start "$start" "$tmp/late.ctf" <"$tmp/lines"
    exported late "$tmp/late.ctf"
done

# weft's own traces: every event with its fields, a file for each thread
if [ -x "${RECORDED:-}" ]; then
    "$WEFT" record -o "$tmp/one.weft" "$RECORDED" rounds 250 2>"$tmp/err"
    "$WEFT" record -o "$tmp/ring.weft" --size 512K "$RECORDED" threads 3 20000 rounds 50 2>"$tmp/err"
    for name in one ring; do
        run 0 "$WEFT" export --to ctf -o "$tmp/$name.own" "$tmp/$name.weft"
        "$WEFT" info --json "$tmp/$name.weft" >"$tmp/json"
        equal "$name: streams" "$(json "$tmp/json" 'd["streams"]')" "$(find "$tmp/$name.own" -name 'stream_*' | wc -l)"
        run 0 babeltrace2 "$tmp/$name.own"
        silent "$tmp/err"
        # Promoted events are exported, but not counted.
        "$WEFT" dump "$tmp/$name.weft" >"$tmp/dumped"
        equal "$name: events" "$(json "$tmp/json" 'd["events_total"]')" "$(grep -vc ' promoted$' "$tmp/dumped")"
        equal "$name: exported events" "$(wc -l <"$tmp/dumped")" "$(wc -l <"$tmp/out")"
        run 0 babeltrace2 --names=none "$tmp/$name.own"
        # name and all fields, of each event in the order of time
        sed -E 's/.*\) ([a-z_]+): \{[^}]*\}, /\1 /; s/18446744073709551615/-1/g' "$tmp/out" | tr -d ',{}' |
            sed -E 's/ +/ /g; s/ $//' | sort >"$tmp/seen"
        cut -d ' ' -f 3- "$tmp/dumped" |
            sed -E 's/ promoted$//; s/[a-z]+=//g; s/^creates ([^ ]+) ([^ ]+) ([a-z]+)/creates \1 \2 "\3"/
                s/"([^"]*):([0-9]+)"$/"\1" \2/; s/^(increase [^ ]+) ("[^"]*") ([^ ]+)/\1 \3 \2/' | sort >"$tmp/expected"
        same "$name: fields" "$tmp/expected" "$tmp/seen"
    done
fi

# … and every kind
if [ -x "${RECORDED:-}" ]; then
    "$WEFT" record -o "$tmp/kinds.weft" "$RECORDED" kinds 2>"$tmp/err"
    run 0 "$WEFT" info --json "$tmp/kinds.weft"
    equal 'kinds that were recorded' 21 "$(json "$tmp/out" 'sum(n > 0 for n in d["events"].values())')"
    run 0 "$WEFT" export --to ctf -o "$tmp/kinds.own" "$tmp/kinds.weft"
    run 0 babeltrace2 "$tmp/kinds.own"
    silent "$tmp/err"
    equal 'kinds in order' "$("$WEFT" dump "$tmp/kinds.weft" | cut -d ' ' -f 3)" \
        "$(LC_ALL=C sed -E 's/^[^{]*\) ([a-z_]+): .*/\1/' "$tmp/out")"
    LC_ALL=C says "$tmp/out" 'suspend: .* \{ reason = \( "wait_for_work" : container = 0 \) \}'
    # An empty text is left out: babeltrace2 might show another event's instead of it.
    says "$tmp/out" 'fails: .* \{ resolver = 18446744073709551614, p = 13 \}'
    equal 'creations with a label' 1 "$(grep -a creates: "$tmp/out" | grep -ac 'label = ')"
    says "$tmp/out" 'increase: .* \{ p = [0-9]+, amount = -5, counter = "odd .*", value = -5 \}'
fi

# No second export into the same folder
run 1 "$WEFT" export --to ctf -o "$tmp/back.folder" "$tmp/back.ctf"
run 0 babeltrace2 "$tmp/back.folder"
equal 'after a refused export' 4 "$(wc -l <"$tmp/out")"
finish
