#!/bin/bash
# SPDX-License-Identifier: ISC
# What weft record loads into programs that nobody changed: where that reaches, and what it says where it does not.
. "$(dirname "$0")/lib.sh"
preload=$BUILD_ROOT/adapters/preload
[ -e "$preload/libweft-adapter.so" ] || skip 'adapters are built for glibc, without a sanitizer'
command -v "${CC:=cc}" >/dev/null || missing 'a C compiler'
cd "$tmp"
unset WEFT_TRACE WEFT_TRACE_SIZE WEFT_TRACE_FOR WEFT_TRACE_FORK LD_PRELOAD
unset ASAN_OPTIONS # meson sets it
libraries=$("$WEFT" record --list-runtimes | sed -n 's/^\(libuv\|glib\|libevent\|libev\|threads\|epoll\)  .*/\1/p' |
    while read -r name; do [ ! -e "$preload/weft-$name.so" ] || echo "$name"; done | paste -sd , | sed 's/,/, /g')
[ -n "$libraries" ] || skip 'no adapter is built'

record() { # [OPTION...] PROGRAM...
    "$WEFT" record --force --size 1M -o t.weft "$@"
}

events() { # FILE
    "$WEFT" info --json "$1" >json
    json json 'd["events_total"]'
}

nothing() { # PATTERN [OPTION...] PROGRAM...: no trace, and only this line
    local pattern=$1
    shift
    run 0 record "$@"
    equal "lines about $*" 1 "$(grep -c '^' "$tmp/err")"
    says "$tmp/err" "^weft: .*: nothing was recorded: it $pattern"
    equal "traces of $*" '' "$(ls t*.weft 2>/dev/null)"
}

# ---- A library in the place of an adapter's: it makes one call when it is used, like these ----
cat >used.c <<'END_OF_C'
#include <weft/weft.h>
void use(void);
void use(void)
{
    weft_fulfill(weft_create("use", "of the library"));
}
END_OF_C
cat >program.c <<'END_OF_C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
void use(void) __attribute__((weak));
int main(int count, char **word)
{
    (void)count;
    for (word++; *word; word++) {
        if (strcmp(*word, "use") == 0 && use)
            use();
        else if (strcmp(*word, "close") == 0)
            for (int fd = 3; fd < 1024; fd++)
                close(fd);
        else if (strcmp(*word, "fork") == 0 && fork() > 0)
            return wait(NULL) < 0;
        else if (strcmp(*word, "descriptors") == 0)
            printf("%d\n", dup(0));
        else if (strcmp(*word, "exec") == 0)
            return execv(word[1], word + 1);
    }
    return 0;
}
END_OF_C
"$CC" -shared -fPIC -I"$SOURCE_ROOT/include" used.c -o libused.so -L"$BUILD_ROOT/src" -lweft ||
    missing 'a C compiler that finds libweft'
"$CC" program.c -o program
# Runs a program as weft record does, with our library among those that are loaded
printf '#!/bin/sh\nLD_PRELOAD=%s/libused.so:$LD_PRELOAD\nexec "$@"\n' "$tmp" >wrap
chmod +x wrap

run 0 record ./wrap ./program use
equal 'events of a program that uses it' 2 "$(events t.weft)"
rm t.weft
run 0 record --memory ./wrap ./program use
equal 'events in memory' 2 "$(events t.weft)"
rm t.weft
run 0 record --memory ./wrap ./program close use
equal 'events in memory, of a program that closes all descriptors' 2 "$(events t.weft)"
rm t.weft
run 0 record --memory ./wrap ./program use exec ./program use use
equal 'events in memory, until another program takes its place' 2 "$(events t.weft)"
rm t.weft
run 0 record ./wrap ./program use descriptors
equal 'the first free descriptor' 3 "$(cat "$tmp/out")"
rm t.weft

# ---- What it starts, and its children ----
run 0 record ./wrap ./program use fork use use
equal 'traces' 2 "$(find . -name 't*.weft' | wc -l)"
equal 'events of the child' 4 "$(events t-*.weft)"
rm t*.weft
run 0 record ./wrap ./program fork exec ./program use
equal 'events of what alone has used it' 2 "$(events t.weft)"
rm t*.weft
run 0 record ./wrap ./program use fork exec ./program use use
equal 'events of a program that a child has become' 4 "$(events t-*.weft)"
says "$tmp/err" '^weft: t-[0-9]+.weft: 4 events'
rm t*.weft
run 0 record ./wrap sh -c './program use; ./program; ./program use use; true'
equal 'traces of what a shell starts' 2 "$(find . -name 't*.weft' | wc -l)"
rm t*.weft
run 0 record ./wrap ./program use exec ./program use use
equal 'events before and after exec' '2 4' "$(events t.weft.1) $(events t.weft)"
rm t*.weft*

# ---- Where nothing is used ----
nothing "is not linked with weft, and neither it nor what it started uses one of: $libraries. It" true
nothing "is not linked with weft, and neither it nor what it started uses one of: ${libraries%%,*}. It" \
    --runtimes "${libraries%%,*}" true
nothing 'is not linked with weft; what it starts is not recorded, give that instead' --runtimes none true
nothing 'is not linked with weft; what it starts is not recorded, give that instead' --runtimes none ./program use
printf '#!/bin/sh\ntrue\n' >script
chmod +x script
nothing "is a script, and nothing that it started is linked with weft or uses one of: $libraries" ./script
nothing 'is a script for /bin/sh; give the program that it runs' --runtimes none ./script
nothing "is not linked with weft, and neither it" --memory true

# ---- Where nothing can be loaded ----
cannot='is not linked with weft, and nothing can be loaded into it: it'
if "$CC" -static program.c -o static 2>/dev/null; then
    nothing "$cannot is linked statically" ./static
    run 0 record ./static exec ./wrap ./program use
    equal 'events of what such a program becomes' 2 "$(events t.weft)"
    rm t.weft
else
    echo 'not tried with a static program: there is no static libc'
fi
if "$CC" -m32 program.c -o narrow 2>/dev/null; then
    nothing "$cannot is a 32-bit program" ./narrow
fi
loader=$(readelf -l program | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
cp "$loader" other-loader
ln -s "$loader" same-loader
"$CC" -Wl,--dynamic-linker="$tmp/other-loader" program.c -o other
"$CC" -Wl,--dynamic-linker="$tmp/same-loader" program.c -o same
nothing "$cannot has another loader than weft, as programs for another libc have" ./other
nothing 'is not linked with weft, and neither it' ./same
if "$CC" -fsanitize=address program.c -o sanitized 2>/dev/null && ./sanitized; then
    nothing "$cannot is built with a sanitizer, which must be loaded before anything else" ./sanitized
    run 0 record ./wrap ./program use fork exec ./sanitized
    silent "$tmp/out"
    equal 'traces of a sanitized child' 1 "$(find . -name 't*.weft' | wc -l)"
    rm t*.weft
fi
if [ "$(id -u)" -eq 0 ]; then
    chmod 777 "$tmp"
    cp program suid
    chown 65534 suid
    chmod u+s suid
    nothing "$cannot is set-user-id" ./suid
    chmod 755 "$tmp"
fi
mkdir -p 'a b/src'
cp "$WEFT" 'a b/src'
cp -R "$BUILD_ROOT/adapters" 'a b'
run 0 env LD_LIBRARY_PATH="$BUILD_ROOT/src" 'a b/src/weft' record -o t.weft true
says "$tmp/err" "is not linked with weft, and the loader cannot load what is in \"$tmp/a b/adapters/preload\", since that name"

# ---- The environment of the program ----
run 0 record env
says "$tmp/out" '^LD_PRELOAD=.*/weft-'
says "$tmp/out" '^WEFT_TRACE_BEGIN=call$'
says "$tmp/out" "^WEFT_ADAPTERS=.*${libraries%%,*}"
run 0 env LD_PRELOAD="$tmp/libused.so" "$WEFT" record --force --size 1M -o t.weft env
says "$tmp/out" "^LD_PRELOAD=.*:$tmp/libused.so\$"
run 0 record --runtimes none env
equal 'without them' '' "$(grep -E '^(LD_PRELOAD|WEFT_TRACE_BEGIN|WEFT_ADAPTERS|ASAN_OPTIONS)=' "$tmp/out")"
run 0 env ASAN_OPTIONS=detect_leaks=0 "$WEFT" record --force --size 1M -o t.weft env
says "$tmp/out" '^ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0$'

finish
