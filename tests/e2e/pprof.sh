#!/bin/bash
# SPDX-License-Identifier: ISC
# weft export --to pprof and pprof-legacy: streams made by pprof.py, which has no code of weft's, and recordings of
# perf; what comes out is read by go tool pprof, google-pprof and pprof.py, and compared with what was put in.
. "$(dirname "$0")/lib.sh"
: "${PROFILES:?the folder of the programs to be sampled}" "${MKSAMPLES:?the program mksamples}"
unset WEFT_TRACE
for tool in go google-pprof dot; do
    command -v "$tool" >/dev/null || missing "$tool is not there"
done
cd "$tmp"
export HOME=$tmp PPROF_TMPDIR=$tmp GOTOOLCHAIN=local PPROF_BINARY_PATH=$tmp
here=$SOURCE_ROOT/tests/e2e

# ours COMMAND ARGUMENT...: pprof.py compares
ours() {
    run 0 env PYTHONDONTWRITEBYTECODE=1 python3 "$here/pprof.py" "$@"
}

# go_pprof ARGUMENT...
go_pprof() {
    run 0 go tool pprof "$@"
}

ours make .

# ---- Akaros's streams ----

for stream in v1 one cut unordered kpdata; do
    status=0
    [ "$stream" != cut ] || status=1
    run $status "$WEFT" export --to pprof -o $stream.pb.gz $stream
    run $status "$WEFT" export --to pprof-legacy -o $stream.prof $stream
    ours check $stream.json $stream.pb.gz
    ours legacy $stream.json $stream.prof
    go_pprof -raw $stream.pb.gz
    cp out raw
    ours raw $stream.json raw
done
# A record that is not all there is told, with the place, and what stands before it is used.
run 1 "$WEFT" export --to pprof -o cut2.pb.gz cut
says err "^weft: cut: .* offset $(wc -c <v1): the file ends within a record: of its [0-9]+ bytes, [0-9]+ are there"
same 'what is before the cut' v1.pb.gz cut2.pb.gz
run 1 "$WEFT" export --to pprof -o garbage.pb.gz garbage
says err '^weft: garbage: .* at offset [0-9]+: expected a record of kpoprofile'
for to in pprof pprof-legacy; do
    run 1 "$WEFT" export --to $to -o nothing empty
    says err '^weft: empty: .*empty'
    run 1 "$WEFT" export --to $to --from akaros -o nothing empty
    says err '^weft: empty: there are no samples'
    equal 'no file' no "$([ -e nothing ] && echo yes || echo no)"
done
run 0 "$WEFT" export --to pprof --period 10ms -o period.pb.gz v1
go_pprof -top period.pb.gz
says out 'Total samples = 50s '
checks=$((checks + 2))
"$WEFT" export --to pprof-legacy -o - - <v1 2>/dev/null | cmp -s - v1.prof || fail 'from standard input to standard output'
# shellcheck disable=SC2002
cat v1 | "$WEFT" export --to pprof-legacy -o - - 2>/dev/null | cmp -s - v1.prof || fail 'through a pipe'

# The histogram of July 2015 has names.
run 0 "$WEFT" export --to pprof -o ticks.pb.gz ticks
go_pprof -top -nodefraction 0 ticks.pb.gz
says out '^ +500 .* schedule$'
says out '^ +40 .* \(outside the kernel\)$'
says out '^8589934592 '

# gperftools' own reader: as many samples, and whole addresses; it takes one off callers.
run 0 google-pprof --text --stacks /bin/true v1.prof
says out '^Total: 5000 samples'
says out '\(ffffffff81001234\)'
says out '\(0004000081001234\)'
says out '\(0000000081001234\)'
run 0 google-pprof --raw /bin/true v1.prof
run 0 google-pprof --text /bin/true kpdata.prof
says out '^Total: 1000 samples'
go_pprof -raw v1.prof
says out '^Period: 1000000$'

# Names of the kernel, if one says whose.
printf '%s T schedule_it\n%s t another\n' ffffffff80000000 ffffffff81001200 >symbols
run 0 "$WEFT" export --to pprof --kallsyms symbols -o named.pb.gz v1
go_pprof -top -nodefraction 0 named.pb.gz
says out ' another$'
says out ' schedule_it$'
run 0 "$WEFT" export --to pprof -o v1.pb.gz v1
says err 'of the kernel have no names: .*--kallsyms'

# ---- perf.data of another writer, as a file and through a pipe ----

env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$here" python3 - <<'END'
import perfdata as perf
K = 0xFFFFFFFF81000000
who = dict(pid=5, tid=5)
records = [
    perf.mmap(b"[kernel.kallsyms]_text", K, 0x1000000, K, pid=2**32 - 1, misc=perf.KERNEL),
    perf.mmap(b"/opt/a", 0x400000, 0x1000, 0x1000, **who), perf.comm(b"worker", **who),
    perf.mmap2(b"/opt/lib/b.so", 0x7F0000000000, 0x2000, pid=5, build_id=bytes.fromhex("0123456789abcdef")),
]
for i in range(300):
    records.append(perf.sample(0x400100, [perf.IN_USER, 0x400100, 0x7F0000000101], time=1000 * i, period=1000000 + i % 2, cpu=i % 3, **who))
for i in range(100):
    records.append(perf.sample(K + 8, [perf.IN_KERNEL, K + 8, K + 99, perf.IN_USER, 0x400300], time=1000 * i + 500, misc=perf.KERNEL, **who))
records += [perf.switch(True, time=400000, **who), perf.switch(False, time=410000, **who), perf.lost(12), perf.record(68)]
features = {"build_id": perf.build_id(b"/opt/a", b"\xaa" * 20), "hostname": perf.string(b"elsewhere")}
open("made.data", "wb").write(perf.file(records, features=features))
open("piped.data", "wb").write(perf.pipe(records, features=features))
deep = perf.sample(0x400100, [perf.IN_USER] + [0x400100 + i for i in range(1025)], time=1000, **who)
open("deep.data", "wb").write(perf.file(records[:4] + [deep] * 3, features=features))
open("torn.data", "wb").write(perf.file(records, features=features)[:-2000])
END
for how in made piped; do
    run 0 "$WEFT" export --to pprof --off-cpu -o $how.pb.gz $how.data
    says err '12 samples were lost'
    go_pprof -raw $how.pb.gz
    says out '^samples/count cpu/nanoseconds(\[dflt\])? off_cpu/nanoseconds$'
    says out '^ +100 +100000000 +0: [0-9]+ [0-9]+ [0-9]+ '
    says out '^ +0 +0 +10000: [0-9]+'
    says out '\(waiting\) :0'
    says out '0x7f0000000100 M='
    says out '0xffffffff81000062 M='
    says out '0x400300 M='
    says out '/opt/a a{40}'
    says out '/opt/lib/b.so 0123456789abcdef'
    says out 'thread:\[worker\]'
    go_pprof -top -sample_index=samples $how.pb.gz
    says out 'of 400 total'
done
same 'the same from a pipe' made.pb.gz piped.pb.gz
run 1 "$WEFT" export --to pprof -o torn.pb.gz torn.data
says err '^weft: torn.data: .* at offset [0-9]+: '
go_pprof -raw torn.pb.gz

# Deep stacks are cut, and that is said.
for to in pprof pprof-legacy; do
    run 0 "$WEFT" export --to $to -o deep.$to deep.data
    says err '^weft: deep\.'$to': warning: the stacks of 3 samples are too deep to be written whole; .*, at most 1024$'
done
go_pprof -raw deep.pprof
says out ' … :0'

# ---- weft's own, with promises ----

"$MKSAMPLES" server.weft <"$SOURCE_ROOT/tests/golden/profile/server.samples"
run 0 "$WEFT" export --to pprof --off-cpu -o server.pb.gz server.weft
says err '2 samples were lost'
ours stacks server.pb.gz
equal 'samples' 11 "$(awk -F'\t' '{n += $1} END {print n}' out)"
equal 'time' 11000000 "$(awk -F'\t' '{n += $2} END {print n}' out)"
equal 'away' 2900000 "$(awk -F'\t' '{n += $3} END {print n}' out)"
says out 'parse;serve;loop;main	\{"core": "0", "label": "GET /x", "pid": "70", "promise": "[0-9]+", "root": "GET /x", "thread": "server", "tid": "0", "type": "request"\}'
says out '"label": "zip".*"root": "PUT /x".*"thread": "zipper"'
says out 'schedule;compress;start_thread.*"state": "preempted"'
equal 'without a promise' 1 "$(awk -F'\t' '$1 && !/"promise"/ {n += $1} END {print n}' out)"
go_pprof -top -tagfocus 'label=PUT /x' server.pb.gz
says out ' 1ms .* \(label|of 11ms total|9\.09% of 11ms'
go_pprof -tags server.pb.gz
says out 'label: Total'
says out 'root: Total'
go_pprof -svg -output server.svg server.pb.gz
says server.svg '<svg'
says server.svg 'compress'
go_pprof -traces server.pb.gz
says out 'tcp_sendmsg'
go_pprof -list 'compress' server.pb.gz
says out 'zip.c|compress'

for how in creators waits; do
    run 0 "$WEFT" export --to pprof --async-stacks=$how -o $how.pb.gz server.weft
    ours stacks $how.pb.gz
    equal "$how: time" 11000000 "$(awk -F'\t' '{n += $2} END {print n}' out)"
done
run 0 "$WEFT" export --to pprof --async-stacks -o async.pb.gz server.weft
same 'creators, if nothing is said' creators.pb.gz async.pb.gz
ours stacks async.pb.gz
says out '^4	4000000	compress;zip;PUT /x	'
run 0 "$WEFT" export --to pprof-legacy -o server.prof server.weft
go_pprof -raw server.prof
says out '^Period: 1000000$'

# Several files are one profile; what the same numbers mean in each is kept apart.
run 0 "$WEFT" export --to pprof -o both.pb.gz server.weft made.data server.weft
ours stacks both.pb.gz
equal 'samples of all' $((11 + 400 + 11)) "$(awk -F'\t' '{n += $1} END {print n}' out)"
says out 'parse;serve;loop;main.*"promise"'
run 0 "$WEFT" export --to pprof --pid 5 -o five.pb.gz server.weft made.data
ours stacks five.pb.gz
equal 'of one process' 400 "$(awk -F'\t' '{n += $1} END {print n}' out)"
run 1 "$WEFT" export --to pprof --pid 6 -o six.pb.gz server.weft made.data
says err 'no samples of process 6'
run 1 "$WEFT" export --to pprof-legacy -o both.prof server.weft kpdata made.data
says err 'both.prof: .*cannot tell apart'
equal 'no file' no "$([ -e both.prof ] && echo yes || echo no)"

# ---- What is wrong with the command line, or the file ----

run 2 "$WEFT" export --to pprof server.weft
says err '-o OUT is missing'
run 2 "$WEFT" export --to ppro -o x server.weft
says err 'there is no "ppro" \(did you mean "pprof"\?\)'
run 2 "$WEFT" export --to pprof -o x
says err 'no FILE'
run 2 "$WEFT" export --to pprof --from linux -o x server.weft
says err 'akaros, kpdata and perf'
run 2 "$WEFT" export --to pprof --async-stacks=all -o x server.weft
says err 'there are creators, waits'
run 2 "$WEFT" export --to pprof --pid -1 -o x server.weft
run 2 "$WEFT" export --to pprof --period 0 -o x server.weft
run 2 "$WEFT" export --to pprof --kallsyms nowhere -o x server.weft
says err 'nowhere cannot be read'
run 2 "$WEFT" export --to pprof-legacy --off-cpu -o x server.weft
says err 'need --to pprof'
run 2 "$WEFT" export --to ctf --off-cpu -o x server.weft
says err '--off-cpu is about samples'
run 1 "$WEFT" export --to pprof -o x nowhere
says err '^weft: nowhere: cannot be opened'
run 1 "$WEFT" export --to pprof -o x "$here"
says err 'directory'
run 1 "$WEFT" export --to pprof --from perf -o x v1
says err 'PERFILE2'
printf 'thread 0 70 0 server\n0 create 1 task main\n0 run 1 on 0\n9 run 0 on 0\n' | "$MKSAMPLES" none.weft
run 1 "$WEFT" export --to pprof -o x none.weft
says err 'no samples in it; record some: weft record --sample'
run 1 "$WEFT" export --to pprof -o nowhere/x server.weft
says err 'nowhere/x'
equal 'nothing left behind' no "$([ -e x ] && echo yes || echo no)"
run 1 "$WEFT" export --to pprof -o /dev/full server.weft
says err '/dev/full: cannot be written'

# ---- Recordings of perf ----

if ! command -v perf >/dev/null; then
    missing 'perf is not there'
fi

# perf_record NAME [-] ARGUMENT...: makes NAME.data (-: through a pipe), and what perf script and report say of it. Without
# build ids, since perf 6.1 aborts now and then as it looks for them; and some of its files it cannot read itself. To
# perf 6.12 the function May is a mangled name.
perf_record() {
    local name=$1 to=$1.data
    shift
    if [ "$1" = - ]; then
        to=-
        shift
    fi
    for _ in 1 2 3 4 5; do
        env -u MALLOC_PERTURB_ perf record -q -B -N -F 997 -o "$to" "$@" >piped 2>said || continue
        [ "$to" != - ] || mv piped "$name.data"
        env -u MALLOC_PERTURB_ perf script --no-inline -i "$name.data" -F tid,period,ip >"$name.script" 2>said || continue
        env -u MALLOC_PERTURB_ perf report -i "$name.data" --stdio --no-children --call-graph none --no-inline \
            --no-demangle -F sample,sym >"$name.report" 2>said && return 0
    done
    echo "perf cannot record here: $(head -n 1 said)"
    finish
}

# compare NAME [dwarf]: NAME.data against perf script and perf report; all samples are of the program. What
# was met a few times only may have several names; and in the vdso, perf names what lies behind a function after it.
compare() {
    run 0 "$WEFT" export --to pprof -o "$1.pb.gz" "$1.data"
    ours perf "$1.script" "$1.pb.gz" "${2:-}"
    ours hottest "$1.pb.gz"
    awk '$1 >= 10 && $2 != "-" && $2 !~ /vdso/' out | head -n 5 >"$1.weft"
    awk '!/^#/ && NF >= 3 && $1 >= 10 && !/vdso/ {print $1, $NF}' "$1.report" | sort -k1,1nr -k2 | head -n 5 >"$1.perf"
    same "$1: what is hottest" "$1.perf" "$1.weft"
    checks=$((checks + 1))
    [ -s "$1.perf" ] || fail "$1: perf report says nothing"
    go_pprof -top "$1.pb.gz"
}

perf_record frames -g -e cpu-clock:u "$PROFILES/dozen" 1000
compare frames
perf_record dwarf --call-graph dwarf,4096 -e cpu-clock:u "$PROFILES/burn_no_fp" 1000
compare dwarf dwarf
perf_record through - -g -e cpu-clock:u "$PROFILES/burn" 500
compare through
if perf record -h 2>&1 | grep -q compression-level; then
    perf_record packed -z -g -e cpu-clock:u "$PROFILES/burn" 500
    compare packed
fi
run 0 "$WEFT" export --to pprof-legacy -o frames.prof frames.data
run 0 google-pprof --text "$PROFILES/dozen" frames.prof
samples=$(grep -c '^[ 0-9]' frames.script || :)
says out "^Total: $samples samples"
says out ' January$'
go_pprof -top frames.prof
says out ' January$'
finish
