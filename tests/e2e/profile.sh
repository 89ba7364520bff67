#!/bin/bash
# SPDX-License-Identifier: ISC
# weft profile: real recordings, profiles of others, files that go together or do not, the command line. What reports
# look like is ../golden/profiles' affair.
. "$(dirname "$0")/lib.sh"
: "${PROFILES:?the folder of the programs to be sampled}" "${MKSAMPLES:?the program mksamples}"
need_mktrace
unset WEFT_TRACE
cd "$tmp"
made=$SOURCE_ROOT/tests/golden/profile
d=$tmp/out

# near WHAT EXPECTED FOUND MISSING: percentages, 5 points at most apart: of 2500 samples that is five standard deviations
# and more. A virtual machine that stands still charges its programs for that, and takes no samples: so many are missing.
near() {
    equal "$1: $3 instead of $2, $4 missing" True "$(python3 -c "print(abs($2 - $3) <= 5 + max(0, $4))")"
}

# row NAME: that row of $tmp/out
row() {
    echo "([r for r in d['rows'] if r['name'] == '$1'] or [{'self': 0, 'total': 0, 'samples': 0}])[0]"
}

# ---- Sums: whatever the rows are, they make up the total ----

"$MKSAMPLES" server.weft <"$made/server.samples"
"$MKSAMPLES" later.weft <"$made/later.samples"
for by in function promise label root thread core; do
    run 0 "$WEFT" profile --json --by "$by" server.weft
    equal "by $by" '11000000 11' "$(json "$d" 'sum(r["self"] for r in d["rows"]), sum(r["samples"] for r in d["rows"])' | tr -d '(),')"
    equal "by $by: total" "11000000 11 1000000" "$(json "$d" '"%d %d %d" % (d["shown"]["total"], d["shown"]["samples"], d["shown"]["without_promise"])')"
    [ "$by" != function ] || continue
    run 0 "$WEFT" profile --by "$by" --limit 1 server.weft
    says "$d" ' 11 ms  100\.0 %  100\.0 %          11  total$'
    run 0 "$WEFT" profile --json --off-cpu --by "$by" server.weft
    equal "off-CPU by $by" 2900000 "$(json "$d" 'sum(r["self"] for r in d["rows"])')"
done
run 0 "$WEFT" profile --json --lines server.weft
equal 'lines' 11000000 "$(json "$d" 'sum(r["self"] for r in d["rows"])')"
run 0 "$WEFT" profile --json --tree server.weft
equal 'tree' 11000000 "$(json "$d" 'sum(c["self"] for c in d["calls"])')"
equal 'parents come first' True "$(json "$d" 'all(not c["parent"] or c["parent"] < c["call"] for c in d["calls"])')"
run 0 "$WEFT" profile --json --off-cpu server.weft
equal 'places' '2900000 3' "$(json "$d" '"%d %d" % (sum(p["ns"] for p in d["places"]), sum(p["times"] for p in d["places"]))')"
run 0 "$WEFT" profile --json --diff later.weft server.weft
equal 'diff' '0.0' "$(json "$d" 'abs(round(sum(r["points"] for r in d["rows"]), 6))')"
run 0 "$WEFT" profile --json --diff server.weft server.weft
equal 'the same' '0' "$(json "$d" 'sum(r["points"] != 0 for r in d["rows"])')"
run 0 "$WEFT" profile --json --from 3ms --to 6ms server.weft
equal 'a part' 4 "$(json "$d" 'd["shown"]["samples"]')"

# ---- Whatever labels are folded to, sums are the same ----

"$MKSAMPLES" many.weft <"$made/many.samples"
for how in '--by label --fold' '--by label --fold=no' '--by family' '--by root --fold' '--tree --by label --fold'; do
    # Options are words.
    # shellcheck disable=SC2086
    run 0 "$WEFT" profile --json $how many.weft
    equal "$how" '20500000 20500000 500000' "$(json "$d" '"%d %d %d" % (sum(r["self"] for r in d.get("rows", d.get("calls"))), d["shown"]["total"], d["shown"]["not_recorded"])')"
done
run 0 "$WEFT" profile --json --by label many.weft
equal 'programs get labels' '32 False' "$(json "$d" '"%d %s" % (len(d["rows"]), d["folded"])')"
run 0 "$WEFT" profile --json --promise 'GET /x' server.weft
equal 'a promise by a label that several have' 4 "$(json "$d" 'd["shown"]["samples"]')"
run 0 "$WEFT" profile --json --thread zipper server.weft
equal 'without a name: only what was asked for' '[]' "$(json "$d" 'd["without_name"]')"
run 0 "$WEFT" info --json many.weft
equal 'lost: others' '0 9' "$(json "$d" '"%d %d" % (d["samples"]["lost"], d["samples"]["lost_other"])')"
run 0 "$WEFT" info many.weft
says "$d" '^    lost +9 records of other things: switches'
says "$d" '^    switches +for [0-9.]+ ms of [0-9.]+ ms only: there were too many$'

# ---- What there is of the source is shown, and nothing else ----

mkdir src
printf 'one\n  two\t\nthree\n' >src/zip.c
ln -s zip.c src/link.c
for where in zip.c link.c passwd; do
    cp src/zip.c src/passwd
    sed "s|/src/zip.c 100 120|$tmp/src/$where 1 2|; s|/src/parse.c 5 9|$tmp/src/zip.c 1 40|" "$made/server.samples" |
        "$MKSAMPLES" lines.weft
    run 0 "$WEFT" profile --lines lines.weft
    if [ $where = zip.c ]; then says "$d" ' zip.c:2 +compress  (~ )?two$'; else says "$d" " $where:2 +compress$"; fi
    says "$d" ' zip.c:40 +parse$'
done

# ---- Names that are missing, and why ----

run 0 "$WEFT" profile server.weft
says "$d" '^ +9\.1 %  /opt/demo/server: the file is not there; --sysroot'
mkdir -p root/opt/demo
cp "$WEFT" root/opt/demo/server
run 0 "$WEFT" profile --sysroot root server.weft
says "$d" '/opt/demo/server: the file is another one by now'
run 0 "$WEFT" profile --no-symbols server.weft
says "$d" '/opt/demo/server: --no-symbols'

# ---- Files that do not go together ----

run 0 "$WEFT" info --json server.weft
equal 'info' '11 2 3' "$(json "$d" '"%d %d %d" % (d["samples"]["count"], d["samples"]["lost"], d["samples"]["away"])')"
equal 'info: events' "['cpu-clock', 11, 1000]" "$(json "$d" '[d["samples"]["events"][0][k] for k in ("name", "count", "frequency")]')"
equal 'info: threads' "[7, 4]" "$(json "$d" '[t["count"] for t in d["samples"]["threads"]]')"
run 0 "$WEFT" info server.weft
says "$d" '^  samples +11 of cpu-clock \(1,000 a second\)$'
says "$d" '^ +70 +1  zipper +4 +1$'
python3 - <<'PYTHON'
boot = bytes.fromhex(open('/proc/sys/kernel/random/boot_id').read().strip().replace('-', ''))
later = open('later.weft', 'rb').read()
open('boot.weft', 'wb').write(later.replace(boot, b'another boot id!'))
PYTHON
run 0 "$WEFT" profile --json boot.weft later.weft
equal 'two boots add up' 8 "$(json "$d" 'd["shown"]["samples"]')"
says "$tmp/err" 'of different boots'
run 0 "$WEFT" profile --json server.weft server.weft
equal 'twice' 22 "$(json "$d" 'd["shown"]["samples"]')"
says "$tmp/err" 'its events are left out'

# ---- Akaros's streams ----

python3 - <<'PYTHON'
import struct
def sample(time, core, *pcs):
    return struct.pack('<QQ', 0xEE << 56 | 1 << 48 | core << 16 | len(pcs), time) + struct.pack(f'<{len(pcs)}Q', *pcs)
kernel = 0xffffffffc2000000
open('kpoprofile', 'wb').write(b''.join(sample(1000000 * (i + 1), i % 2, kernel + 16 * (i % 4), kernel + 4096) for i in range(40)) + sample(41000000, 0, 0x401000))
open('cut', 'wb').write(open('kpoprofile', 'rb').read()[:-4])
PYTHON
run 0 "$WEFT" profile --json kpoprofile
equal 'akaros' '41 2' "$(json "$d" '"%d %d" % (d["shown"]["samples"], d["rows"][0]["self"] * 10 // d["shown"]["total"])')"
equal 'akaros: kind' "stream of Akaros's kpoprofile" "$(json "$d" 'd["files"][0]["kind"]')"
equal 'akaros: unit' 'count None' "$(json "$d" '"%s %s" % (d["shown"]["unit"], d["measured"]["event"]["rate"])')"
run 0 "$WEFT" profile --by core kpoprofile
says "$d" ' 20  core 1$'
says "$d" '^  samples   41 on 2 cores: core 0 21, core 1 20; how much CPU time'
! grep -qE ' a second got|busy|^  rate' "$d"
equal 'akaros: nothing is made up' 0 $?
echo 'ffffffffc2000000 T of_akaros' >symbols
run 0 "$WEFT" profile --kallsyms symbols kpoprofile
says "$d" '  of_akaros'
"$WEFT" profile - <kpoprofile >piped
says piped '^standard input$'
"$WEFT" profile <(cat kpoprofile) >piped
says piped '^  samples +41 on '
run 0 "$WEFT" profile cut
says "$tmp/err" 'damaged at offset'

# ---- Mistakes ----

run 2 "$WEFT" profile
says "$tmp/err" '^weft profile: no FILE is given'
for wrong in --top\ --tree --by\ colour --min\ 101 --min\ x --limit\ x --async-stacks=x --from\ x --from\ 2s\ --to\ 1s \
    --lines\ --by\ label --lines\ --off-cpu --tree\ --diff\ x --promise\ 1\ --label\ x --diff; do
    # Options are words.
    # shellcheck disable=SC2086
    run 2 "$WEFT" profile server.weft $wrong
    says "$tmp/err" '^weft profile: .*; see weft profile --help$'
done
run 0 "$WEFT" profile --help
run 1 "$WEFT" profile none.weft
says "$tmp/err" '^weft: none.weft: cannot be opened'
run 1 "$WEFT" profile server.weft --diff none.weft
echo 'no profile' >text
run 1 "$WEFT" profile text
says "$tmp/err" '^weft: text: is not a trace'
run 1 "$WEFT" profile .
: >empty
run 1 "$WEFT" profile empty
echo '0 0 creates parent=-1 child=1 type=bind' | "$MKTRACE" events.ctf
run 1 "$WEFT" profile events.ctf
says "$tmp/err" '^weft: events.ctf: there are no samples in it; record some: weft record --sample -- PROGRAM'
silent "$d"
run 1 "$WEFT" profile --by label later.weft
says "$tmp/err" 'weft record --sample'
run 1 "$WEFT" profile --off-cpu later.weft
run 1 "$WEFT" profile --async-stacks later.weft
run 1 "$WEFT" profile --promise 4711 server.weft
run 1 "$WEFT" profile --promise nobody server.weft
says "$tmp/err" 'no promise has the number or the label "nobody"'
run 2 "$WEFT" profile --kallsyms nowhere server.weft
says "$tmp/err" '^weft profile: --kallsyms: nowhere cannot be read'
run 1 "$WEFT" profile --event cycles server.weft

# ---- Real ones ----

"$WEFT" sample -F 5000 -o burn.weft -- "$PROFILES/burn" 1000 2 >truth 2>said || {
    cat said
    skip "samples cannot be taken here"
}
total=$(awk '{ sum += $2 } END { print sum }' truth)
heavy=$(awk -v total="$total" '$1 == "heavy" { print 100 * $2 / total }' truth)
run 0 "$WEFT" profile --json burn.weft
missing="100 * (1 - d['measured']['total'] / $total)"
near 'heavy' "$heavy" "$(json "$d" "100 * $(row heavy)['total'] / ($(row heavy)['total'] + $(row light)['total'])")" \
    "$(json "$d" "$missing")"
equal 'where it is' burn.c "$(json "$d" "$(row heavy)['file'].split('/')[-1]")"
equal 'is no part of a trace with promises' False "$(json "$d" 'd["measured"]["promises"]')"
run 0 "$WEFT" profile burn.weft
says "$d" '^ .* heavy  burn\.c:[0-9]+$'
says "$d" '^  promises  none known'
run 0 "$WEFT" profile --tree burn.weft
says "$d" '[├└]─ heavy'
run 0 "$WEFT" profile --lines burn.weft
says "$d" 'burn\.c:[0-9]+ .*BURNER\(ALONE, heavy\)'
run 0 "$WEFT" profile --thread burner-1 burn.weft
says "$d" "^  shown     only thread [0-9]+ 'burner-1'"
run 0 "$WEFT" profile --json --by thread burn.weft
for thread in burner-1 burner-2; do
    near "$thread" 50 "$(json "$d" "sum(100 * r['self'] / d['shown']['total'] for r in d['rows'] if r['name'].startswith('$thread '))")" \
        "$(json "$d" "$missing")"
done

run 0 "$WEFT" sample -o blocks.weft -- "$PROFILES/blocks" 500
cp "$d" truth
run 0 "$WEFT" profile --json --off-cpu blocks.weft
for what in wait_for_pipe:ppoll take_a_nap:nanosleep; do
    read -r least most < <(awk -F '\t' -v name="${what%:*}" '{ told[$1] = $2 } END { print told[name " at least"], told[name] }' truth)
    found=$(json "$d" "sum(p['ns'] for p in d['places'] if p['why'] == 'waits' and '${what#*:}' in ' '.join(p['stack'][:1]))")
    # The clock of a sleep runs a little before the thread is away; four fifths of it are enough.
    equal "${what%:*}: $found ns, between $least and $most" True \
        "$(python3 -c "print(0.8 * $least <= $found <= $most)")"
done
run 0 "$WEFT" profile --off-cpu blocks.weft
says "$d" ' waits .*poll ← '

# The promises in the same file, and in another one.
run 0 "$WEFT" record --sample=5000 -o promises.weft -- "$PROFILES/promises" 500
cp "$d" truth
"$WEFT" sample -F 5000 -o alone.weft -- env WEFT_TRACE="$tmp/events.weft" "$PROFILES/promises" 500 >truth2 2>said
for how in promises.weft:truth "events.weft alone.weft:truth2" "alone.weft events.weft:truth2"; do
    # shellcheck disable=SC2086
    run 0 "$WEFT" profile --json --by label ${how%:*}
    silent "$tmp/err"
    # Of what ran for promises: the recorder's own start, for none, takes a while.
    read -r wanted both < <(awk '/^PUT \/x/ { put = $NF } /^GET \/y/ { get = $NF }
        END { printf "%f %.0f\n", 100 * put / (put + get), put + get }' "${how#*:}")
    sum="($(row 'PUT /x')['self'] + $(row 'GET /y')['self'])"
    near "$how: PUT /x" "$wanted" "$(json "$d" "100 * $(row 'PUT /x')['self'] / $sum")" \
        "$(json "$d" "100 * (1 - $sum / $both)")"
    equal "$how: adds up" True "$(json "$d" 'sum(r["self"] for r in d["rows"]) == d["shown"]["total"] == d["measured"]["total"]')"
done

# Of what was overwritten it is not said that it was for none.
run 0 "$WEFT" record --sample --size 64K -o wrapped.weft -- "$PROFILES/promises" 500
run 0 "$WEFT" profile wrapped.weft
tr -s ' \n' ' ' <"$d" >line
says line 'before the oldest event that is kept: a larger --size keeps more'
says "$d" '\(events overwritten\)$'
for by in label root promise; do
    run 0 "$WEFT" profile --json --by "$by" wrapped.weft
    equal "overwritten, by $by" True "$(json "$d" "d['shown']['overwritten'] == $(row '(events overwritten)')['self'] > 0 and sum(r['self'] for r in d['rows']) == d['shown']['total'] == d['measured']['total']")"
done
run 0 "$WEFT" profile --json --tree --async-stacks wrapped.weft
equal 'overwritten, in stacks' True "$(json "$d" 'd["shown"]["overwritten"] == [c["total"] for c in d["calls"] if c["name"] == "(events overwritten)"][0]')"

run 0 "$WEFT" profile --tree --async-stacks promises.weft
says "$d" 'PUT /x'
run 0 "$WEFT" profile promises.weft
says "$d" '\(no promise\)$'

# perf's own.
if command -v perf >/dev/null && perf record -q -e cpu-clock -F 5000 -g -o perf.data "$PROFILES/burn" 500 >truth 2>said; then
    run 0 "$WEFT" profile --json perf.data
    equal 'perf.data' 'perf.data file' "$(json "$d" 'd["files"][0]["kind"]')"
    heavy=$(awk '{ sum += $2 } $1 == "heavy" { heavy = $2 } END { print 100 * heavy / sum }' truth)
    near 'perf.data: heavy' "$heavy" "$(json "$d" "100 * $(row heavy)['total'] / ($(row heavy)['total'] + $(row light)['total'])")" \
        "$(json "$d" "$missing")"
    run 0 "$WEFT" profile --diff perf.data --limit 0 burn.weft # the change may be small
    says "$d" ' heavy  burn\.c'
fi
finish
