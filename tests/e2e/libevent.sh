#!/bin/bash
# SPDX-License-Identifier: ISC
# A program of libevent does the same alone and recorded, in whatever way it is linked; and its trace has what it did.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/libevent_lib.sh"

# promises TRACE: type, outcome and what the label says after the function, without ports
promises() {
    "$WEFT" promises "$1" | cut -f 2,6,8 | sed -E '1d; s/\t[^ \t]+ ?([^\t]*)$/\t\1/; s/(127\.0\.0\.1):[0-9]+/\1/; s/\t/ /g; s/ $//'
}

# alike STATUS NAME PROGRAM [ARGUMENT]...
alike() {
    local status=$1 name=$2
    shift 2
    run "$status" "$@"
    cp "$tmp/out" alone
    run "$status" "$WEFT" record --runtimes libevent --force --size 4M -o "$name.weft" -- "$@"
    same "what $name prints" alone "$tmp/out"
}

alike 0 all "$tests/libevent_everything"
promises all.weft >found
cat >expected <<'EOF'
timer fulfilled 1 ms
event fulfilled
timer fulfilled 3600 s
timer fulfilled 1 ms
timer fulfilled 1 ms
timer fulfilled 1 ms
timer fulfilled 1 ms
timer fulfilled 1 ms
timer fulfilled 1 ms
timer cancelled 1 ms
read failed unix
write fulfilled unix
timer fulfilled 1 ms
signal cancelled SIGUSR1
accept fulfilled tcp listen 127.0.0.1
connect fulfilled 127.0.0.1
connection fulfilled tcp 127.0.0.1
write fulfilled tcp 127.0.0.1
read fulfilled tcp 127.0.0.1
connection fulfilled tcp 127.0.0.1
connect fulfilled 127.0.0.1
connection fulfilled tcp 127.0.0.1
write fulfilled tcp 127.0.0.1
read fulfilled tcp 127.0.0.1
connect failed 127.0.0.1
read fulfilled
connection fulfilled
http fulfilled GET 127.0.0.1/page
request fulfilled GET /page
http fulfilled GET 127.0.0.1/chunks
request fulfilled GET /chunks
http failed GET 127.0.0.1/other
request failed GET /other
http cancelled GET 127.0.0.1/never
request cancelled GET /never
http failed GET 127.0.0.1/nobody
http cancelled GET 127.0.0.1/page
lookup fulfilled known.example
lookup failed unknown.example
lookup failed name of 127.0.0.1
lookup fulfilled known.example
lookup fulfilled 192.0.2.1
timer fulfilled 1 ms
EOF
same 'promises' expected found
"$WEFT" dump all.weft >dump
for reason in 'timed out' 'Connection refused' '404' 'name does not exist' 'no answer'; do
    says dump "fails .*exception=\"$reason\""
done
equal 'the child of a fork' 'timer fulfilled 1 ms' "$(promises all-*.weft)"
equal 'findings' '' "$(findings all.weft)"

alike 0 core "$tests/libevent_everything_core"
promises core.weft >found
same 'promises, with another of its libraries' expected found
alike 0 plugin "$tests/libevent_dlopened" "$tests/libevent_plugin.so"
promises plugin.weft >found
same 'promises, with a library that only a plugin knows' expected found

# It ends in a callback.
alike 7 ends "$tests/libevent_everything" x
equal 'what ended the program' 'timer fulfilled 1 ms' "$(promises ends.weft | tail -n 1)"
finish
