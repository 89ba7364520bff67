#!/bin/bash
# SPDX-License-Identifier: ISC
# An installation: what it says, what is in it, that the first example of README.md works with it as it is, by pkg-config
# and by CMake, and that what is removed is all of it and nothing else.
. "$(dirname "$0")/lib.sh"

[ "$(uname -s)" = Linux ] || skip 'this is not Linux'
build=$BUILD_ROOT
# Not what the `make test` around this was called with.
unset MAKEFLAGS MAKELEVEL MFLAGS BUILD SETUP TESTS DESTDIR WEFT_TRACE LD_LIBRARY_PATH PKG_CONFIG_PATH CMAKE_PREFIX_PATH
export LC_ALL=C.UTF-8 PATH=$PATH:/usr/sbin:/sbin
cd "$tmp"

option() { meson introspect "$1" --buildoptions | python3 -c '
import json, sys
print(next(o["value"] for o in json.load(sys.stdin) if o["name"] == sys.argv[1]))' "$2"; }
prefix=$(option "$build" prefix)
libdir=$prefix/$(option "$build" libdir)
sanitized=$(option "$build" b_sanitize)

# ---- Staged ----
tree=$tmp/tree
run 0 env DESTDIR="$tree" meson install -C "$build" --no-rebuild
doc=$tree$prefix/share/doc/weft

# Each link of a document leads to something that is installed: a file, and in it a heading.
python3 - "$doc" >links <<'END'
import os, re, sys

def anchors(path):
    with open(path, encoding="utf-8") as lines:
        heads = re.findall(r"^#+ (.*)$", lines.read(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}

count = 0
for name in sorted(os.listdir(sys.argv[1])):
    if not name.endswith(".md"):
        continue
    path = os.path.join(sys.argv[1], name)
    with open(path, encoding="utf-8") as document:
        text = document.read()
    for target in re.findall(r"\[[^][]*\]\(([^()\s]+)\)", text):
        file, _, anchor = target.partition("#")
        count += 1
        if "://" in target:
            continue
        there = os.path.join(sys.argv[1], file) if file else path
        if not os.path.exists(there):
            print(f"{name}: {target} leads nowhere")
        elif anchor and anchor not in anchors(there):
            print(f"{name}: {target} has no such heading")
print(f"{count} links")
END
equal 'links of documents' "$(tail -n 1 links)" "$(cat links)"
says links '^[1-9][0-9]+ links$'
for document in README guide python node diagnoses model format xen; do
    checks=$((checks + 1))
    [ -s "$doc/$document.md" ] || fail "$document.md is not installed"
done
if [ -e "$build/docs/weft.h.3" ]; then
    pages=$tree$prefix/share/man/man3
    checks=$((checks + 1))
    [ "$(find "$pages" -name 'weft_*.3' -type l | wc -l)" -gt 25 ] || fail 'weft.h(3) has no other names'
    equal 'names without a page' '' "$(find "$pages" -xtype l)"
fi

# By CMake, in a tree that was moved; under both spellings; with a component; and of versions that do not fit.
if command -v cmake >/dev/null && [ "$sanitized" = none ]; then
    mkdir cmake
    sed -n '/^<!-- hello.c -->$/,/^```$/p' "$SOURCE_ROOT/README.md" | sed '1,2d; $d' >cmake/hello.c
    cat >cmake/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.13)
project(hello C CXX)
find_package(${SPELLING} ${WANTED} REQUIRED COMPONENTS ${PART})
add_executable(hello hello.c)
target_link_libraries(hello PRIVATE weft::${TARGET})
END
    cmake_with() { # SPELLING WANTED TARGET [PART]
        rm -rf cmake/build
        cmake -S cmake -B cmake/build -DCMAKE_PREFIX_PATH="$tree$prefix" -DSPELLING="$1" -DWANTED="$2" -DTARGET="$3" -DPART="${4:-}"
    }
    version=$(meson introspect "$build" --projectinfo | python3 -c 'import json, sys; print(json.load(sys.stdin)["version"])')
    for target in weft weft-static; do
        for spelling in Weft weft; do
            run 0 cmake_with $spelling "$version" $target
        done
        run 0 cmake --build cmake/build
        run 0 env WEFT_TRACE="$tmp/$target.weft" cmake/build/hello
        run 0 "$WEFT" promises "$target.weft"
        says out 'no such user|GET /users/7'
    done
    ldd cmake/build/hello >needs
    checks=$((checks + 1))
    ! grep -q libweft needs || fail 'weft::weft-static needs libweft.so'
    run 0 cmake_with Weft 0.1 weft static
    run 0 cmake_with Weft 0.0.1...0.9 weft
    run 1 cmake_with Weft 99.0 weft
    run 1 cmake_with Weft "$version" weft nonsense
    says err 'without nonsense'
    if [ -n "${XEN_LIBRARY:-}" ]; then
        run 0 cmake_with Weft '' weft-xen xen
    fi
else
    echo 'not tried: CMake is not installed, or the library needs a sanitizer'
fi

# ---- Removed ----
mkdir -p "$tree$prefix/bin" "$tree$prefix/share/applications"
touch "$tree$prefix/bin/other" "$tree$prefix/share/applications/other.desktop"
run 0 env DESTDIR="$tree" "$SOURCE_ROOT/tools/uninstall" "$build"
says out '^weft is removed from .*: [0-9]+ files$'
equal 'what is left' "$tree$prefix/bin/other
$tree$prefix/share/applications/other.desktop" "$(find "$tree" ! -type d | sort)"
equal 'folders that are left' '' "$(find "$tree" -type d -empty)"
run 1 env DESTDIR="$tree" "$SOURCE_ROOT/tools/uninstall" "$build"
says err '^uninstall: nothing of weft is installed below '
rm -r "$tree"
run 1 "$SOURCE_ROOT/tools/uninstall" "$tmp/none"
says err '^uninstall: .*/none is no build directory'

# ---- What is to be set ----
mkdir -p bin opt/bin opt/lib/pkgconfig
touch opt/bin/weft opt/lib/libweft.so.1
chmod +x opt/bin/weft
cat >bin/ldconfig <<'END'
#!/bin/sh
case $* in
-p) cat "$KNOWN" ;;
*-v*) echo "$LOOKS: (from /etc/ld.so.conf:1)" ;;
*) echo run >>"$RAN" ;;
esac
END
cat >bin/pkg-config <<'END'
#!/bin/sh
echo "$PC"
END
chmod +x bin/*
export KNOWN=$tmp/known RAN=$tmp/ran LOOKS=/lib PC=/nowhere
: >known
hints() { run 0 env PATH="$tmp/bin:$PATH" "$@" "$SOURCE_ROOT/tools/after-install" "$tmp/opt" "$tmp/opt/lib" "$tmp/opt/bin"; }
hints env
silent err
says out "^    export LD_LIBRARY_PATH=\"$tmp/opt/lib\\$"
says out "^    export PKG_CONFIG_PATH=\"$tmp/opt/lib/pkgconfig\\$"
says out "^    export PATH=\"$tmp/opt/bin:"
says out "^    export CMAKE_PREFIX_PATH=\"$tmp/opt\\$"
says out "^    echo $tmp/opt/lib >/etc/ld.so.conf.d/weft.conf && ldconfig\$"
[ "$(id -u)" -ne 0 ] || equal 'ldconfig was run' run "$(cat ran)"
# They are what helps: when they are set, nothing is to be said.
grep '^    export' out >profile
(
    . ./profile
    env | grep -E '^(LD_LIBRARY_PATH|CMAKE_PREFIX_PATH)=' >said
)
hints env LD_LIBRARY_PATH="$tmp/opt/lib" CMAKE_PREFIX_PATH="$tmp/opt" PC="$tmp/opt/lib/pkgconfig" \
    PATH="$tmp/opt/bin:$tmp/bin:$PATH"
silent out
says said "^LD_LIBRARY_PATH=$tmp/opt/lib\$"
# Known to the linker, by a link; and of a folder where it looks, but no longer knows it.
ln -s opt/lib lib
printf '\tlibweft.so.1 (libc6,x86-64) => %s\n' "$tmp/lib/libweft.so.1" >known
hints env
says out 'export PATH='
equal 'LD_LIBRARY_PATH' 0 "$(grep -c LD_LIBRARY_PATH out)"
: >known
hints env LOOKS="$tmp/lib"
says out '^    ldconfig$'
equal 'LD_LIBRARY_PATH' 0 "$(grep -c LD_LIBRARY_PATH out)"

# ---- For real, in a private view of the file system ----
block() {
    sed -n "/^<!-- $1 -->\$/,/^\`\`\`\$/p" "$SOURCE_ROOT/README.md" | sed '1,2d; $d'
}
mkdir hello
block hello.c >hello/hello.c
block shell >hello/hello.sh
block promises | tr -s '\t ' ' ' >hello/expected
cat >private <<'END'
set -eu
layers=$1 prefix=$2 build=$3 uninstall=$4 hello=$5
mount -t tmpfs tmpfs "$layers" || exit 99
for folder in /etc /var/cache "$prefix"; do
    mkdir -p "$layers/upper$folder" "$layers/work$folder"
    mount -t overlay -o "lowerdir=$folder,upperdir=$layers/upper$folder,workdir=$layers/work$folder" overlay "$folder" || exit 99
done
meson install -C "$build" --no-rebuild >installed 2>&1 || { cat installed; exit 1; }
sed -n '/^weft is installed\|^Programs that are linked/,$p' installed >hints
cd "$hello"
env -i PATH="$prefix/bin:/usr/bin:/bin" LC_ALL=C.UTF-8 HOME="$hello" bash -e -o pipefail hello.sh >found || { cat found; exit 1; }
cd - >/dev/null
"$uninstall" "$build" >removed
find "$layers/upper$prefix" ! -type d ! -type c >left
ldconfig -p | grep -c "$prefix/.*libweft" >known || :
END
user=
[ "$(id -u)" -eq 0 ] || user=-r
mkdir layers
status=99
if [ "$prefix" = /usr/local ] && [ ! -e "$libdir/libweft.so.1" ] && [ "$sanitized" = none ] &&
    command -v ldconfig >/dev/null && command -v pkg-config >/dev/null; then
    status=0
    unshare $user -m bash private "$tmp/layers" "$prefix" "$build" "$SOURCE_ROOT/tools/uninstall" \
        "$tmp/hello" >said 2>&1 || status=$?
    [ $status -ne 1 ] || grep -q . said || status=99 # unshare is not allowed
fi
# In a chroot, and where user namespaces are switched off, unshare says so.
if [ $status -eq 99 ] || grep -q '^unshare: ' said; then
    echo 'not tried: no private view of /usr/local, or weft is there already, or this build goes elsewhere'
else
    equal 'installation, first example, removal' 0 "$status"
    [ $status -eq 0 ] || cat said
    same 'what is to be set' /dev/null hints
    tr -s '\t ' ' ' <hello/found >found
    same 'the promises of README.md' hello/expected found
    says removed '^weft is removed from /usr/local: '
    same 'what is left' /dev/null left
    equal 'what the linker still knows' 0 "$(cat known)"
fi

finish
