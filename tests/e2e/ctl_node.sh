#!/bin/bash
# SPDX-License-Identifier: ISC
# weft ctl begins to record in Node.js programs that were started without weft (../now/late.js), and lists what they wait
# for already; and which of them are left alone.
. "$(dirname "$0")/lib.sh"

# In a network of our own: the inspector's port belongs to nobody else there.
up='import fcntl, os, socket, struct, sys
fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh14x", b"lo", 1))  # SIOCSIFFLAGS, IFF_UP
os.execvp(sys.argv[1], sys.argv[1:])'
if [ -z "${OWN_NETWORK:-}" ]; then
    for words in 'unshare -n' 'unshare -rn'; do
        $words python3 -c "$up" true 2>/dev/null &&
            OWN_NETWORK=1 exec $words python3 -c "$up" "$0" "$@"
    done
    skip 'there can be no network of our own'
fi
. "$(dirname "$0")/node_lib.sh"
program=$SOURCE_ROOT/tests/now/late.js
mkfifo said typed
exec {said}<>said {typed}<>typed

pid=
begin() { # WHAT [OPTIONS OF NODE...]
    local what=$1
    shift
    "$node" "$@" "$program" "$what" >said 2>complaints <typed &
    pid=$!
    hear
}
hear() {
    read -r -t 300 -u "$said" -a words || fail "late.js says nothing"
}
end() {
    kill -9 "$pid"
    wait "$pid" 2>/dev/null || :
    rm -f ./*.weft
}

ctl() { # STATUS ARGUMENTS...
    local wanted=$1
    shift
    run "$wanted" "$WEFT" ctl -w 100s "$pid" "$@"
}
closed() { # nothing listens but the program itself
    equal 'the inspector' '' "$(awk '$4 == "0A" && $2 ~ /:240D$/' "/proc/$pid/net/tcp")"
}
get() { # PATH
    local connection
    exec {connection}<>"/dev/tcp/127.0.0.1/${words[1]}"
    printf 'GET %s HTTP/1.0\r\n\r\n' "$1" >&"$connection"
    cat <&"$connection" >/dev/null
    exec {connection}>&-
}
# What is known of promises from before: a line each, "type outcome label"; lines of late.js as "line NAME".
promises() {
    "$WEFT" promises "${1:-a.weft}" | awk -F '\t' -v program="$program" '
        BEGIN {
            while ((getline text < program) > 0) {
                number++
                if (match(text, /\/\/ [a-zA-Z]+$/))
                    name[number] = substr(text, RSTART + 3)
            }
        }
        $8 ~ /before the recording/ {
            sub(/ \(before the recording\)/, "", $8)
            gsub(/[^ (]*late\.js/, "late.js", $8)
            while (match($8, /late\.js:[0-9]+/)) {
                at = substr($8, RSTART + 8, RLENGTH - 8)
                $8 = substr($8, 1, RSTART - 1) "line " (at in name ? name[at] : "?") substr($8, RSTART + RLENGTH)
            }
            gsub(/:[0-9]+$/, ":PORT", $8)
            print $2, $6, $8
        }' | LC_ALL=C sort | uniq -c | sed 's/^ *//' | LC_ALL=C sort
}
looks_like() { # WHAT
    LC_ALL=C sort >wanted
    promises >seen
    same "$1" wanted seen
}

# ---- An idle server: what is pending, and that its end is seen ----
begin idle
exec {held}<>"/dev/tcp/127.0.0.1/${words[1]}"
printf 'GET /held HTTP/1.0\r\n\r\n' >&"$held"
# The request is there when a later one has been answered.
get /
ctl 0 on -o a.weft
says out "^process $pid: records into $tmp/a.weft, .* and has 10 promises that began before$"
closed
looks_like 'an idle server' <<'EOF'
1 promise pending promise
1 request pending GET /held
1 server pending server :PORT
1 socket pending socket 127.0.0.1:PORT
1 timer pending 100000000 ms later
2 call pending query line query
3 promise pending promise, waits for a call of kept[…].resolve, which acquire (line acquire) knows
EOF
ctl 0 status
says out '^  state    recording$'
says out "^  into     $tmp/a.weft$"
run 0 "$WEFT" explain "$pid"
get /resolve
get /reject
get /end
cat <&"$held" >/dev/null
exec {held}>&-
# Its event loop has gone on after all of that, and looks for what weft ctl asks.
get /
"$WEFT" ctl -w 0 "$pid" stop >/dev/null
get /
ctl 0 status
says out '^  state    not recording$'
looks_like 'what has ended' <<'EOF'
1 call fulfilled query line query
1 call pending query line query
1 promise failed promise, waits for a call of kept[…].resolve, which acquire (line acquire) knows
1 promise fulfilled promise
1 promise fulfilled promise, waits for a call of kept[…].resolve, which acquire (line acquire) knows
1 promise pending promise, waits for a call of kept[…].resolve, which acquire (line acquire) knows
1 request fulfilled GET /held
1 server pending server :PORT
1 socket pending socket 127.0.0.1:PORT
1 timer pending 100000000 ms later
EOF
equal 'a request that came later' 1 "$("$WEFT" promises a.weft | grep -c 'GET /resolve$')"
# It is one that can be switched on by its next call now, into a file of the usual name.
"$WEFT" ctl -w 0 "$pid" on >/dev/null
get /
ctl 0 status
says out "^  into     $tmp/weft-$pid.trace$"
equal 'what it prints' 'Debugger listening on ws:;For help, see: https:;Debugger attached.' \
    "$(sed 's|//.*||' complaints | paste -sd ';')"
end

# ---- A program that never gets back to its loop ----
begin busy
ctl 0 on -o a.weft
closed
looks_like 'a busy program' <<'EOF'
1 call pending query line query
1 promise pending promise, waits for a call of kept[…].resolve, which acquire (line acquire) knows
1 timer pending 1 ms
EOF
end

# ---- What nobody can resolve is garbage, and is recorded all the same ----
begin hang
ctl 0 on -o a.weft
looks_like 'a program that hangs' <<'EOF'
1 call pending forgotten line forgotten
1 call pending handle line handle
1 promise pending promise, nobody has its resolve function
1 timer pending 1000000000 ms stay
EOF
# It is asked at once, so what hangs has not been seen for long.
equal 'what is found' 'hang-root likely promise, nobody has its resolve function (before the recording)' "$(findings a.weft --hang 1us)"
end

# The heap of a worker thread is another one: of that, nothing is said.
begin worker
ctl 0 on -o a.weft
equal 'calls with a worker thread' '' "$(promises | grep ' call ')"
end

# ---- An inspector that is open already stays open ----
begin idle --inspect
ctl 0 on -o a.weft
equal 'the inspector of --inspect' 1 "$(awk '$4 == "0A" && $2 ~ /:240D$/' "/proc/$pid/net/tcp" | wc -l)"
equal 'the server' 1 "$(promises | grep -c ' server ')"
end
begin idle --inspect=0
ctl 0 on -o a.weft
equal 'inspector and server' 2 "$(awk '$4 == "0A"' "/proc/$pid/net/tcp" | wc -l)"
end
begin idle --inspect-port=0
ctl 0 on -o a.weft
equal 'the server alone' 1 "$(awk '$4 == "0A"' "/proc/$pid/net/tcp" | wc -l)"
end

# ---- What is left alone ----
begin handles
ctl 1 on -o a.weft
says err 'handles SIGUSR1 itself'
kill -USR1 "$pid"
hear
equal 'its own signal' 'ready signal' "${words[*]}"
end

if "$node" --disable-sigusr1 -e 0 2>/dev/null; then
    begin idle --disable-sigusr1
    ctl 1 on -o a.weft
    says err 'opens no inspector when it gets SIGUSR1'
    end
fi

begin taken
other=$pid
begin idle
ctl 1 on -o a.weft
says err 'another server listens on port 9229 already'
kill -9 "$other"
wait "$other" 2>/dev/null || :
ctl 0 on -o a.weft
end

begin blocked
run 1 "$WEFT" ctl -w 1s "$pid" on -o a.weft
says err 'its main thread does not go on'
echo >&"$typed"
hear
closed
ctl 0 on -o a.weft
end

begin idle
kill -STOP "$pid"
run 1 "$WEFT" ctl -w 1s "$pid" on -o a.weft
says err 'its main thread does not go on: it is stopped'
kill -CONT "$pid"
get /
closed
equal 'no trace' '' "$(ls ./*.weft 2>/dev/null)"
: >there.weft
ctl 1 on -o there.weft
says err 'is there already'
ctl 1 on -o none/a.weft
says err 'there is no such folder'
closed
if [ "$(id -u)" = 0 ] && setpriv --reuid 65534 --clear-groups test -x "$WEFT" 2>/dev/null; then
    run 1 setpriv --reuid 65534 --clear-groups "$WEFT" ctl "$pid" on
    says err 'belongs to another user'
    closed
fi
end

# A program of another user, and in another network
if [ "$(id -u)" = 0 ] && setpriv --reuid 65534 --clear-groups test -r "$BUILD_ROOT/adapters/node/late.js" 2>/dev/null; then
    chmod 777 "$tmp"
    cp "$program" "$tmp/late.js"
    program=$tmp/late.js
    node_as_before=$node
    node=$tmp/as_nobody
    printf '#!/bin/sh\nexec unshare -n python3 -c "$UP" setpriv --reuid 65534 --clear-groups "%s" "$@"\n' "$node_as_before" >"$node"
    chmod +x "$node"
    UP=$up begin hang
    ctl 0 on -o b.weft
    equal 'whose trace it is' 65534 "$(stat -c %u b.weft)"
    equal 'calls of another user' 2 "$(promises b.weft | grep -c ' call ')"
    closed
    end
fi
finish
