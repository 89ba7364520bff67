#!/bin/bash
# SPDX-License-Identifier: ISC
# The command line itself: help, wrong usage, exit statuses, files that cannot be read or written.
. "$(dirname "$0")/lib.sh"
need_mktrace

commands='record sample ctl save top info dump promises profile render view export explain stats diff'
for command in html kprof; do # they may have been left out
    ! "$WEFT" help $command >/dev/null 2>&1 || commands+=" $command"
done
cat >"$tmp/lines" <<'EOF'
0 0 creates parent=-1 child=1 type=task
5 0 switch p=1
10 0 creates parent=1 child=2 type=bind
15 0 label p=2 text="wait for it"
1500000 0 fulfills resolver=1 p=2
2000000 0 switch p=-1
EOF
good=$tmp/good.ctf
"$MKTRACE" "$good" <"$tmp/lines"

# Help and version
run 2 "$WEFT"
says "$tmp/err" '^usage: weft COMMAND'
silent "$tmp/out"
run 0 "$WEFT" --version
says "$tmp/out" '^weft [0-9]+\.[0-9]+'
for form in --help help; do
    run 0 "$WEFT" "$form"
    says "$tmp/out" '^usage: weft COMMAND'
    silent "$tmp/err"
done
for command in $commands; do
    run 0 "$WEFT" help
    says "$tmp/out" "^  $command "
    run 0 "$WEFT" help "$command"
    says "$tmp/out" "^usage: weft $command "
    cp "$tmp/out" "$tmp/help"
    run 0 "$WEFT" "$command" --help
    same "$command --help" "$tmp/help" "$tmp/out"
    silent "$tmp/err"
    # The help names every option that there is, and the manual page does, too. What else it says may name others'.
    sed -nE '/^(usage:|       weft) /p; /^ +(-[a-zA-Z], )?--[a-z]/{s/^ +//; s/  .*//; p}' "$tmp/help" >"$tmp/options"
    page=$BUILD_ROOT/docs/weft-$command.1
    "$WEFT" --complete "$command" -- | tr '\0' '\n' | sed -nE 's/^[wd](--[a-z-]+).*/\1/p' >"$tmp/completed"
    # shellcheck disable=SC2013 # words
    for option in $(grep -oE -e '--[a-z-]+' "$tmp/options" | sort -u); do
        [ ! -s "$page" ] || grep -Fq -e "${option//-/\\-}" "$page" || fail "$command: $option is not in its manual page"
        grep -Fqx -e "$option" "$tmp/completed" || fail "$command: $option is not completed"
    done
done

# Wrong usage: one line, status 2, nothing on standard output
usage() {
    run 2 "$WEFT" "$@"
    silent "$tmp/out"
    equal "lines said by weft $*" 1 "$(wc -l <"$tmp/err")"
    says "$tmp/err" '^weft( [a-z]+)?: .*; see weft( [a-z]+)? --help$'
}
usage ifno "$good"
says "$tmp/err" '"info"'
usage frobnicate
usage --frobnicate
usage help ifno
usage ex "$good"
says "$tmp/err" '"ex" is ambiguous: it may be one of explain, export;'
usage help ex
usage ''
for short in prom promi; do
    run 0 "$WEFT" "$short" "$good"
done
usage stats --his task --top 3 --r "$good" --b type --so count --h
says "$tmp/err" '^weft stats: option --h is ambiguous: it may be --histogram or --help; see weft stats --help$'
usage record --s=1M true
says "$tmp/err" '^weft record: option --s is ambiguous: it may be --size, --sample, --sample-size or --sample-low;'
usage export -- --frobnicate
usage record --
for command in $commands; do
    usage "$command" --frobnicate "$good"
    says "$tmp/err" "--frobnicate"
    usage "$command" -z "$good"
done
for command in record info dump promises; do
    usage "$command"
done
usage save -o "$tmp/x"
usage save "$good"
usage save -o "$tmp/x" "$good" "$good"
usage record -o
usage record -o '' true
usage record -o - true
usage record --size 64 true
usage record --size '' true
usage dump - -
usage dump --from
usage dump --from 3parsecs "$good"
usage dump --from 1.5ns "$good"
usage dump --from '' "$good"
usage dump --from 99999999999999999999 "$good"
usage dump --from 2s --to 1s "$good"
usage info --json=yes "$good"
usage render "$good"
usage render -o "$tmp/x.gif" "$good"
usage render -o "$tmp/x" "$good"
usage render -o - "$good"
usage render -o "$tmp/x.svg"
usage render -o "$tmp/x.svg" --format gif "$good"
usage render -o "$tmp/x.svg" --size 0x0 "$good"
usage render -o "$tmp/x.svg" --size 800x "$good"
usage render -o "$tmp/x.svg" --size 1000000 "$good"
usage render -o "$tmp/x.svg" --theme pink "$good"
usage render -o "$tmp/x.svg" --select two "$good"
usage render -o "$tmp/x.svg" --from 2ms --to 1ms "$good"
usage render -o "$tmp/x.svg" --select 1 --path 2 "$good"
says "$tmp/err" 'only one of them'
usage render -o "$tmp/x.svg" --finding 1 --path 2 "$good"
says "$tmp/err" 'finding selects what is to blame'
usage render -o "$tmp/x.svg" --diff --select 2 "$good" "$good"
says "$tmp/err" 'diff shows two traces where they part'
usage view --select 1 --finding 1 "$good"
usage view --select 1 --diff "$good" "$good"
usage export -o "$tmp/x" "$good"
usage export --to ctf "$good"
usage export --to ctf -o - "$good"
usage export --to parquet -o "$tmp/x" "$good"
says "$tmp/err" 'ctf, mirage, otlp, pprof, pprof-legacy'
equal "files made by wrong usage" '' "$(find "$tmp" -name 'x*')"

# Every command on files that are no traces: one line that names the file, status 1
mkdir "$tmp/folder"
: >"$tmp/empty"
echo 'this is not a trace' >"$tmp/text"
head -c 100000 /dev/zero >"$tmp/zeros"
printf '\xc1\x1f\xfc\xc1 something else' >"$tmp/foreign"
head -c 10 "$good" >"$tmp/cut"
evil=$tmp/$'new\nline\x1b[31m'
: >"$evil"
each_command() { # STATUS FILE
    local command
    for command in info dump promises 'render -o x.svg' 'export --to ctf -o x' 'save -o x.weft'; do
        # shellcheck disable=SC2086 # words
        (cd "$tmp" && run "$1" "$WEFT" $command "$2" && echo "$failures" >"$tmp/failures")
        checks=$((checks + 1))
        failures=$(cat "$tmp/failures")
        if [ "$1" -ne 0 ]; then
            [ "$command" = info ] || [ ! -s "$tmp/out" ] || says "$tmp/out" '^id'
            equal "lines said by weft $command $2" 1 "$(wc -l <"$tmp/err")"
            says "$tmp/err" '^weft: .*: .'
        fi
        checks=$((checks + 1))
        [ ! -e "$tmp/x.svg" ] || [ "$1" -eq 0 ] || fail "$command $2 left a picture"
        [ ! -e "$tmp/x" ] || [ "$1" -eq 0 ] || fail "$command $2 left a folder"
        [ ! -e "$tmp/x.weft" ] || [ "$1" -eq 0 ] || fail "$command $2 left a copy"
        rm -rf "$tmp/x" "$tmp/x.svg" "$tmp/x.weft"
    done
}
for file in missing folder empty text zeros foreign cut "${evil##*/}" missing/file; do
    each_command 1 "$file"
done
run 1 "$WEFT" info "$evil"
checks=$((checks + 1))
! LC_ALL=C grep -q $'\x1b' "$tmp/err" || fail 'the name of a file was printed with its control characters'
if [ "$(id -u)" -ne 0 ]; then
    cp "$good" "$tmp/secret"
    chmod 000 "$tmp/secret"
    each_command 1 secret
fi

# Packets without events: a trace of nothing
"$MKTRACE" --unused 3 "$tmp/unused.ctf" </dev/null
each_command 0 unused.ctf
run 0 "$WEFT" dump "$tmp/unused.ctf"
silent "$tmp/out"
run 0 "$WEFT" promises "$tmp/unused.ctf"
equal 'lines of promises' 1 "$(wc -l <"$tmp/out")"
each_command 0 good.ctf

# dump: what comes out is what went in
run 0 "$WEFT" dump "$good"
same dump "$tmp/lines" "$tmp/out"
silent "$tmp/err"
run 0 "$WEFT" dump --from 1.5ms --to 2ms "$good"
equal 'dump --from --to' 2 "$(wc -l <"$tmp/out")"
run 0 "$WEFT" dump --from 5ns --to 0.015us "$good"
equal 'dump --from --to' 3 "$(wc -l <"$tmp/out")"
for time in 1500000 1500000ns 1500us 1500µs 1.5ms 0.0015s 1500.000us 0001.5000ms; do
    run 0 "$WEFT" dump --from "$time" --to "$time" "$good"
    says "$tmp/out" '^1500000 0 fulfills resolver=1 p=2$'
    equal "lines at $time" 1 "$(wc -l <"$tmp/out")"
done
run 0 "$WEFT" dump --to=-1ns "$good"
silent "$tmp/out"

# render: what the options ask for must be there
run 1 "$WEFT" render -o "$tmp/x.svg" --select 77 "$good"
says "$tmp/err" 'no promise 77'
run 1 "$WEFT" render -o "$tmp/x.svg" --from 1s "$good"
says "$tmp/err" 'outside the trace'
run 1 "$WEFT" render -o "$tmp/x.svg" --from -5s --to -1ns "$good"
says "$tmp/err" 'outside the trace'
checks=$((checks + 1))
[ ! -e "$tmp/x.svg" ] || fail 'a failure left a picture'
run 0 "$WEFT" render -o "$tmp/x.svg" --search nowhere "$good"
says "$tmp/err" '^weft: .*: "nowhere": not found$'
says "$tmp/x.svg" '<svg'
run 0 "$WEFT" render -o "$tmp/x.svg" "$good"
silent "$tmp/err"
run 0 "$WEFT" render -o - --format svg "$good"
same 'render -o -' "$tmp/x.svg" "$tmp/out"
silent "$tmp/err"
run 0 "$WEFT" render -o "$tmp/x.SVG" --select 2 --raw --no-counters --no-legend --theme dark \
    --size 800x600 --from 1us --to 1.9ms "$good"
says "$tmp/x.SVG" '<svg'
# … at a place, and several traces
run 0 "$WEFT" render -o "$tmp/at.svg" --at 'from=1000&to=1900000&select=2&search=x%20y' "$good"
says "$tmp/err" '"x y": not found'
says "$tmp/at.svg" '<svg[^>]* height="900"'
run 0 "$WEFT" render -o "$tmp/linked.svg" --at 'page.html#from=1000&to=1900000' --select 2 \
    --search 'x y' "$good"
same 'a link with options' "$tmp/at.svg" "$tmp/linked.svg"
run 0 "$WEFT" render -o "$tmp/two.svg" --size 800x500 --at 'offset.2=1000&select.2=2' "$good" "$good"
silent "$tmp/err"
equal 'titles' 2 "$(grep -c ">${good##*/}</text>" "$tmp/two.svg")"
run 0 "$WEFT" render -o "$tmp/x.svg" --at 'from=5&to=4&newer=1' "$good"
says "$tmp/err" 'not all of the place'
run 1 "$WEFT" render -o "$tmp/x.svg" --select 77 "$good" "$good"
says "$tmp/err" 'no promise 77'
usage render -o "$tmp/x.svg" --size 800x300 "$good" "$good"
# Two runs in one picture: what the counters of one need does not take the names of its rows.
if [ -d "$DATA" ]; then
    for size in '' '--size 1600x900'; do
        # shellcheck disable=SC2086 # words
        run 0 "$WEFT" render -o "$tmp/two.svg" $size "$DATA/guide-good.ctf" "$DATA/guide-bad.ctf"
        for name in netif.recv ring.write w3 choose; do
            equal "names $name in two traces $size" 2 "$(grep -c ">[^<]*$name[^<]*</text>" "$tmp/two.svg")"
        done
        says "$tmp/two.svg" '>tcp-to-ip 1<'
    done
fi
mapfile -t many < <(yes "$good" | head -n 65)
usage render -o "$tmp/x.svg" "${many[@]}"
equal 'temporary files' '' "$(find "$tmp" -name '*svg.??????')"

# Output that cannot be written
: >"$tmp/old.svg"
echo old >"$tmp/old.svg"
if [ -e /dev/full ]; then
    for command in 'info' 'info --json' dump promises 'export --to mirage -o -' \
        'save -o -' 'render -o - --format svg' --help 'help dump' 'dump --help'; do
        checks=$((checks + 1))
        file=$good
        case $command in *help*) file= ;; esac
        # shellcheck disable=SC2086 # words
        if "$WEFT" $command ${file:+"$file"} >/dev/full 2>"$tmp/err" </dev/null; then
            fail "$command did not notice a full disk"
        fi
        says "$tmp/err" 'No space left|cannot be written'
        equal "lines said by $command" 1 "$(wc -l <"$tmp/err")"
    done
    for command in 'export --to mirage' 'render --format svg' save; do
        # shellcheck disable=SC2086 # words
        run 1 "$WEFT" $command -o /dev/full "$good"
        says "$tmp/err" 'No space left|cannot be written'
    done
fi
for command in 'export --to mirage' 'export --to ctf' 'render --format svg' save; do
    # shellcheck disable=SC2086 # words
    run 1 "$WEFT" $command -o "$tmp/nowhere/out" "$good"
    says "$tmp/err" '^weft: .*nowhere/out: '
    # shellcheck disable=SC2086
    run 1 "$WEFT" $command -o "$tmp/old.svg/out" "$good"
    mkdir -p "$tmp/full"
    : >"$tmp/full/file"
    # shellcheck disable=SC2086
    run 1 "$WEFT" $command -o "$tmp/full" "$good"
    equal 'a folder in use' file "$(ls "$tmp/full")"
done
# … and through a symbolic link: the link stays
ln -s old.svg "$tmp/link.svg"
run 0 "$WEFT" render -o "$tmp/link.svg" "$good"
says "$tmp/old.svg" '<svg'
checks=$((checks + 1))
[ -L "$tmp/link.svg" ] || fail 'a symbolic link was replaced'

# A reader that goes away is nothing to talk about, and no failure, except of a copy
"$WEFT" dump "$good" >"$tmp/all"
i=0
while [ $i -lt 12 ]; do
    cat "$tmp/all" "$tmp/all" >"$tmp/twice"
    mv "$tmp/twice" "$tmp/all"
    i=$((i + 1))
done
"$MKTRACE" "$tmp/long.ctf" <"$tmp/all" # times run backwards, too
for command in dump promises 'export --to mirage -o -' 'save -o -'; do
    checks=$((checks + 1))
    # shellcheck disable=SC2086 # words
    (set +e; "$WEFT" $command "$tmp/long.ctf" 2>"$tmp/err"; echo $? >"$tmp/status") | head -c 1 >/dev/null
    case $command in save*) wanted=1 ;; *) wanted=0 ;; esac
    equal "status of $command | head" $wanted "$(cat "$tmp/status")"
    equal 'said of it' '' "$(grep -v warning "$tmp/err" || :)"
done
finish
