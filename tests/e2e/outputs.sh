#!/bin/bash
# SPDX-License-Identifier: ISC
# What commands write, and what they never write over: the rule of output/output.h, for every command.
. "$(dirname "$0")/lib.sh"
[ -x "${RECORDED:-}" ] && [ -x "${MKSAMPLES:-}" ] || skip 'RECORDED or MKSAMPLES is not set'
cd "$tmp"
unset WEFT_TRACE WEFT_TRACE_SIZE WEFT_TRACE_FOR
umask 022

run 0 "$WEFT" record -o t.weft --size 64K "$RECORDED" rounds 10
run 0 "$WEFT" save -o other.weft t.weft
run 0 "$WEFT" export --to mirage -o m.ctf t.weft
cp t.weft t.before
ln -s t.weft symbolic
ln t.weft hard
ln -s hard both
"$MKSAMPLES" s.weft <"$SOURCE_ROOT/tests/golden/profile/server.samples"
mkfifo ready live

# What writes a file: a name for each, and the arguments but for the target and the source.
writers=('render --format svg -o' 'render --format png -o' 'render --format pdf -o' 'export --to mirage -o' 'save -o')
"$WEFT" help html >/dev/null 2>&1 && writers+=('html -o')

# refused WHY TARGET COMMAND SOURCE...: and nothing is left or changed
refused() {
    local why=$1 before
    shift
    before=$(ls -A)
    run 1 "$WEFT" "$@"
    says "$tmp/err" "$why"
    equal "names after $*" "$before" "$(ls -A)"
}

# ---- The source, by whatever name ----
for w in "${writers[@]}"; do
    read -ra command <<<"$w"
    for name in t.weft ./t.weft symbolic hard both; do
        refused "^weft: $name: is the source itself; give another name" "${command[@]}" "$name" t.weft
    done
    refused 'symbolic: is the source itself' "${command[@]}" symbolic hard
    same 'the source' t.before t.weft
    # … of standard input, and as standard output
    for pair in '- t.weft' 't.weft -'; do
        read -r target source <<<"$pair"
        status=0
        if [ "$source" = - ]; then
            "$WEFT" "${command[@]}" "$target" - <t.weft 2>"$tmp/err" || status=$?
        else
            "$WEFT" "${command[@]}" "$target" "$target" <t.weft >>t.weft 2>"$tmp/err" || status=$?
        fi
        equal "status of $w $target, which is the source" 1 "$status"
        same 'the source' t.before t.weft
    done
done
for command in dump promises info explain stats; do
    status=0
    "$WEFT" $command t.weft 2>"$tmp/err" >>t.weft || status=$?
    equal "status of $command >> its source" 1 "$status"
    says "$tmp/err" 'is also what standard output goes to'
    same 'the source' t.before t.weft
done
# … as one of several
refused 'hard: is the source itself' render --format svg -o hard other.weft t.weft
refused 'm.ctf: is the source itself' render --format svg -o m.ctf t.weft other.weft m.ctf
for to in 'export --no-symbols --to pprof -o' 'export --no-symbols --to pprof-legacy -o' \
    'render --no-symbols --format svg --flame'; do
    read -ra command <<<"$to"
    refused 's.weft: is the source itself' "${command[@]}" s.weft s.weft
    refused 'other.weft: is a trace' "${command[@]}" other.weft s.weft
    run 0 "$WEFT" "${command[@]}" profile s.weft
    equal "mode of $to" 600 "$(stat -c %a profile)"
done
rm profile
cp s.weft r.weft
refused 'r.weft: is the source itself' render --no-symbols --format svg --flame r.weft --diff r.weft s.weft
refused 't.weft: is there, and is not a folder' export --to ctf -o t.weft other.weft

# ---- Another trace ----
for w in "${writers[@]}"; do
    [ "$w" = 'save -o' ] && continue
    read -ra command <<<"$w"
    refused 'other.weft: is a trace, which is left alone; give another name, or remove it first' \
        "${command[@]}" other.weft t.weft
    status=0
    "$WEFT" "${command[@]}" - t.weft >>other.weft 2>"$tmp/err" || status=$?
    equal "status of $w - >> a trace" 1 "$status"
done
refused 'm.ctf: is a trace' render --format svg -o m.ctf t.weft
printf 'PERFILE2 and more' >perf.data
refused 'perf.data: is a recording of perf' render --format svg -o perf.data t.weft
# What is one itself may replace one
run 0 "$WEFT" save -o other.weft t.weft
run 0 "$WEFT" export --to mirage -o m.ctf t.weft
run 0 "$WEFT" save -o m.ctf t.weft

# ---- One that is being recorded ----
WEFT_TRACE=$tmp/live.weft "$RECORDED" rounds 10 ready sleep >ready &
recorder=$!
read -r <ready
for w in "${writers[@]}"; do
    read -ra command <<<"$w"
    refused "live.weft: is being recorded by process $recorder; give another name" "${command[@]}" live.weft t.weft
    ln -sf live.weft link
    refused "link: is being recorded" "${command[@]}" link t.weft
    rm link
done
refused 'live.weft: is being recorded' sample -o live.weft true
mv live.weft u.weft.old
cp t.weft u.weft
refused 'u.weft: cannot be kept' sample -o u.weft true
kill "$recorder"
wait "$recorder" 2>/dev/null || :
equal 'its events' 40 "$("$WEFT" info --json u.weft.old >json; json json 'd["events_total"]')"

# ---- A folder ----
run 0 "$WEFT" export --to ctf -o folder/ t.weft
equal 'files of a CTF folder' 'metadata stream_0' "$(cd folder && echo *)"
equal 'their modes' '700 600 600' "$(stat -c %a folder folder/metadata folder/stream_0 | tr '\n' ' ' | sed 's/ $//')"
refused 'folder: is a folder that is not empty' export --to ctf -o folder t.weft
refused 'folder: is a folder; give the name of a file' render --format svg -o folder t.weft
mkdir -m 755 empty
inode=$(stat -c %i empty)
(cd empty && run 0 "$WEFT" export --to ctf -o . ../t.weft)
equal 'files in an empty folder' 'metadata stream_0' "$(cd empty && echo *)"
equal 'the folder' "755 $inode" "$(stat -c '%a %i' empty)"
status=0
(ulimit -f 1 && exec "$WEFT" export --to ctf -o limited t.weft 2>"$tmp/err") || status=$?
equal 'a folder that does not fit' "1 no" "$status $([ -e limited ] && echo yes || echo no)"

# ---- Modes ----
chmod 640 t.weft
chmod 644 m.ctf
for w in "${writers[@]}"; do
    read -ra command <<<"$w"
    rm -f out.x
    run 0 "$WEFT" "${command[@]}" out.x t.weft
    equal "mode of $w" 640 "$(stat -c %a out.x)"
    chmod 600 out.x
    [ "$w" = 'export --to mirage -o' ] || run 0 "$WEFT" "${command[@]}" out.x t.weft
    equal "mode of $w, again" 600 "$(stat -c %a out.x)"
    rm out.x
    "$WEFT" "${command[@]}" out.x - <t.weft 2>/dev/null
    equal "mode of $w, by <" 640 "$(stat -c %a out.x)"
    rm out.x
    # shellcheck disable=SC2002 # a pipe is wanted
    cat t.weft | "$WEFT" "${command[@]}" out.x - 2>/dev/null
    equal "mode of $w, of a pipe" 600 "$(stat -c %a out.x)"
done
run 0 "$WEFT" render -o two.svg t.weft m.ctf
equal 'mode of a picture of two' 640 "$(stat -c %a two.svg)"
if "$WEFT" help html >/dev/null 2>&1; then
    run 0 "$WEFT" html --empty -o empty.html
    equal 'mode of a page without a trace' 644 "$(stat -c %a empty.html)"
fi

# ---- What is written directly ----
run 0 "$WEFT" render --format svg -o - t.weft
cp "$tmp/out" want.svg
echo before >appended
for name in /dev/stdout /dev/fd/1 /proc/self/fd/1; do
    run 0 "$WEFT" render --format svg -o $name t.weft
    same "what went to $name" want.svg "$tmp/out"
    echo before >appended
    "$WEFT" render --format svg -o $name t.weft >>appended
    tail -n +2 appended | cmp -s - want.svg || fail "$name does not append"
done
"$WEFT" render --format svg -o /dev/fd/7 t.weft 7>seven
same 'another descriptor' want.svg seven
run 0 "$WEFT" render --format svg -o /dev/null t.weft
[ -c /dev/null ] || fail '/dev/null is replaced'
mkfifo fifo
cat fifo >from-fifo &
reader=$!
run 0 "$WEFT" render --format svg -o fifo t.weft
wait "$reader"
same 'a FIFO' want.svg from-fifo
[ -p fifo ] || fail 'a FIFO is replaced'
long=$(printf 'x%.0s' {1..255})
run 0 "$WEFT" render --format svg -o "$long" t.weft
same 'the longest name' want.svg "$long"
rm "$long"

# ---- An end by a signal, in the middle ----
if "$WEFT" help html >/dev/null 2>&1; then
    echo old >page.html
    for signal in INT TERM HUP; do
        before=$(ls -A)
        # bash starts what is in the background with SIGINT ignored
        env --default-signal=INT,HUP,TERM "$WEFT" html -o page.html live 2>/dev/null &
        page=$!
        exec 8>live
        until [ "$(ls -A)" != "$before" ]; do kill -0 "$page" || break; done
        kill -"$signal" "$page"
        status=0
        wait "$page" || status=$?
        exec 8>&-
        equal "status after SIG$signal" $((128 + $(kill -l "$signal"))) "$status"
        equal "names after SIG$signal" "$before" "$(ls -A)"
        equal 'what was there' old "$(cat page.html)"
    done
fi
finish
