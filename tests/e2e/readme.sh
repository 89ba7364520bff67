#!/bin/bash
# SPDX-License-Identifier: ISC
# README.md shows what is so. "Record your C program" does what it says: the program is compiled with the library of this
# build, the commands are run, and the promises are those that it shows.
. "$(dirname "$0")/lib.sh"

build=$(cd "$(dirname "$WEFT")/.." && pwd)
readme=$SOURCE_ROOT/README.md
ls "$build"/src/libweft.so.* >/dev/null 2>&1 || skip "there is no libweft in $build/src"
! grep -Eaq '__([atm]|ub)san_' "$build"/src/libweft.so || skip 'this libweft needs a sanitizer in every program'
command -v pkg-config >/dev/null || skip 'pkg-config is not installed'

# block NAME: the fenced block after <!-- NAME -->
block() {
    sed -n "/^<!-- $1 -->\$/,/^\`\`\`\$/p" "$readme" | sed '1,2d; $d'
}

# What the commands find on the PATH and by pkg-config after an installation
WEFT=$build/src/weft
export PATH=$build/src:$PATH
export PKG_CONFIG_PATH=$build/meson-uninstalled
export LD_LIBRARY_PATH=$build/src
cd "${tmp:?}" || exit 1
block hello.c >hello.c
block shell >hello.sh
block promises >expected
for file in hello.c hello.sh expected; do
    checks=$((checks + 1))
    [ -s "$file" ] || fail "README.md has no block $file"
done

run 0 bash -e -o pipefail hello.sh
sed 's/\t/ /g; s/  */ /g' out >found
sed -i 's/  */ /g' expected
same 'weft promises hello.weft' expected found
says err 'hello\.weft: [0-9]+ events'
says hello.svg '^<svg'
says hello.svg 'GET /users/7'

# The environment does the same, and off is off.
run 0 env WEFT_TRACE="$tmp/other.weft" ./hello
silent err
run 0 "$WEFT" promises other.weft
cut -f 1,2,3,6,8 out | sed 's/\t/ /g' >found
same 'weft promises other.weft' expected found
run 0 ./hello
silent err
equal 'traces made' 'hello.weft other.weft' "$(echo *.weft* *.trace | sed 's/ \*.trace//')"

# What README.md shows of weft explain is what it says, but for times.
run 1 simulated bad.weft 4194304 "$EXAMPLES/arp_race" bad
run 0 "$WEFT" explain bad.weft
without_times() {
    tr -s '\n ' ' ' | sed -E 's/[0-9]+(\.[0-9]+)? (ns|µs|ms|s)\b/T/g; s/ $//'
}
block explain | without_times >expected
without_times <out >found
same 'weft explain bad.weft' expected found

# … and of a Python program, but for times and numbers, which depend on Python's version. A busy machine can add other findings.
python=${PYTHON:-/usr/bin/python3}
if [ -e "$BUILD_ROOT/adapters/python/_weft.abi3.so" ] && [ -x "$python" ]; then
    run 130 "$WEFT" record -o hang.weft -- "$python" "$SOURCE_ROOT/tests/e2e/until_hung.py" "$SOURCE_ROOT/examples/bugs/python/pool.py"
    run 0 "$WEFT" explain hang.weft
    block explain-pool | without_times | sed 's/[0-9]*//g' >expected
    sed -n '/^2\. /q; /possible only/q; /^After the recording/q; p' out | without_times | sed 's/[0-9]*//g' >found
    same 'weft explain hang.weft' expected found
fi

# So is what the manual pages show of weft diff and weft dump.
man=$SOURCE_ROOT/docs/man
run 0 simulated good.weft 4194304 "$EXAMPLES/arp_race" good
run 0 "$WEFT" diff good.weft bad.weft
sed -n '/^ *Where they part/,/^$/s/^ *//p' "$man/weft-diff.1.md" | without_times >expected
sed -n '/^ *Where they part/,/^$/p' out | without_times >found
same 'weft diff good.weft bad.weft' expected found
if [ -r "$DATA/net.ctf" ]; then
    sed -n '/^    \$ weft dump net.ctf/,/^$/s/^    //p' "$man/weft-dump.1.md" >shown
    lines=$(sed -n '1s/.*sed -n \([0-9,]*p\)$/\1/p' shown)
    run 0 "$WEFT" dump "$DATA/net.ctf"
    sed -n "$lines" out >found
    sed 1d shown >expected
    same "weft dump net.ctf | sed -n $lines" expected found
fi

# It compiles without a warning, as C and as C++; with recording left out it needs no library.
flags=$(pkg-config --cflags weft)
# shellcheck disable=SC2086 # words
for compiler in 'cc -std=gnu11' 'c++ -x c++ -std=gnu++17' 'cc -DWEFT_DISABLE'; do
    command -v ${compiler%% *} >/dev/null || continue
    run 0 $compiler -Wall -Wextra -Werror $flags -c -o some.o hello.c
    silent err
done
run 0 cc -o plain some.o
run 0 ./plain
finish
