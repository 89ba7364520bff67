#!/bin/bash
# SPDX-License-Identifier: ISC
# `make` with SETUP=, also where the build directory exists already; and what `meson setup` says of what is built.
. "$(dirname "$0")/lib.sh"

# Not what the `make test` around this was called with.
unset MAKEFLAGS MAKELEVEL MFLAGS BUILD SETUP TESTS DESTDIR
cd "$tmp"

option() { meson introspect "$1" --buildoptions | python3 -c '
import json, sys
print(next(o["value"] for o in json.load(sys.stdin) if o["name"] == sys.argv[1]))' "$2"; }

# ---- Options reach a build directory that is there ----
made() { run 0 make -s -C "$SOURCE_ROOT" -o packages BUILD="$tmp/again" "$@"; }
if command -v make >/dev/null; then
    made configured SETUP='-Dparts=recorder --prefix=/opt/one'
    says out 'weft, the program *: no: -Dparts=recorder'
    equal 'the first prefix' /opt/one "$(option again prefix)"
    made install SETUP=--prefix=/opt/two DESTDIR="$tmp/staged"
    equal 'the second prefix' /opt/two "$(option again prefix)"
    equal 'other options' recorder "$(option again parts)"
    equal 'where it is installed' "$tmp/staged/opt/two/include/weft/weft.h" "$(find staged -name weft.h | sed "s|^|$tmp/|")"
    made configured
    equal 'without options' /opt/two "$(option again prefix)"
    made uninstall DESTDIR="$tmp/staged"
    equal 'what is left' '' "$(find staged ! -type d)"
fi

# ---- What is built is said, and why not ----
mkdir bin
cat >bin/pkg-config <<'END'
#!/bin/sh
case $* in *fuse3* | *libuv* | *ncursesw*) exit 1 ;; esac
exec /usr/bin/pkg-config "$@"
END
chmod +x bin/pkg-config
if [ -x /usr/bin/pkg-config ]; then
    run 0 env PKG_CONFIG="$tmp/bin/pkg-config" meson setup "$tmp/less" "$SOURCE_ROOT" -Dxen=disabled -Dtests=disabled
    says out 'weft kprof *: no: libfuse 3 not found'
    says out 'weft top, the screen *: no: ncursesw not found'
    says out 'libweft-xen *: no: -Dxen=disabled'
    says out 'unit tests *: no: -Dtests=disabled'
    says out 'examples/kv, .*: no: libuv not found'
fi
finish
