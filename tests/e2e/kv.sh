#!/bin/bash
# SPDX-License-Identifier: ISC
# The example kv_server: it serves, under load and with odd clients, and its trace tells what it did.
. "$(dirname "$0")/lib.sh"
: "${EXAMPLES:?the folder of the built examples}"
[ -x "$EXAMPLES/kv_server" ] || skip 'kv_server was not built'
unset WEFT_TRACE

mkfifo "$tmp/said"
server=
trap 'kill -9 $server 2>/dev/null || :; chmod -R u+rwx "$tmp"; rm -rf "$tmp"' EXIT

# start PROGRAM OPTION...: sets server and port
start() {
    local program=$EXAMPLES/$1
    shift
    "$program" "$@" >"$tmp/said" 2>"$tmp/complaints" </dev/null &
    server=$!
    port=
    read -r port <"$tmp/said" || :
    case $port in
    'listening on 127.0.0.1:'*) port=${port##*:} ;;
    *)
        fail "the server does not start: $(cat "$tmp/complaints")"
        finish
        ;;
    esac
    sent=0
}

# stop SIGNAL STATUS
stop() {
    local status=0
    checks=$((checks + 1))
    kill -"$1" "$server"
    wait "$server" 2>/dev/null || status=$?
    server=
    [ "$status" -eq "$2" ] || fail "signal $1: status $status instead of $2"
}

# load OPTION...: kv_load, which checks what it gets
load() {
    run 0 "$EXAMPLES/kv_load" --port "$port" "$@"
    says "$tmp/out" '^errors +0$'
    sent=$((sent + $(sed -n 's/^requests *\([0-9]*\) in .*/\1/p' "$tmp/out")))
}

# say TEXT...: each (escapes as for printf %b) in a write of its own; all that is answered, in $tmp/answer
say() {
    local text
    exec 3<>"/dev/tcp/127.0.0.1/$port"
    for text; do
        printf %b "$text" >&3 2>/dev/null || :
    done
    timeout 300 cat <&3 >"$tmp/answer" 2>/dev/null || fail "no end of the answer to $1"
    exec 3>&-
    sed -i 's/\r$//' "$tmp/answer"
}

# answers STATUSES REQUESTS TEXT...: the statuses of the answers, and how many requests these are
answers() {
    local statuses=$1
    sent=$((sent + $2))
    shift 2
    say "$@"
    equal "$1" "$statuses" "$(grep -ao 'HTTP/1\.1 [0-9]*' "$tmp/answer" | cut -d ' ' -f 2 | xargs)"
}

# repeat COUNT: so many x
repeat() {
    head -c "$1" /dev/zero | tr '\0' x
}

close='Connection: close\r\n\r\n'

requests() {
    answers 404 1 "GET /a HTTP/1.1\r\n$close"
    answers 201 1 "PUT /a HTTP/1.1\r\nContent-Length: 5\r\n${close}hello"
    answers 200 1 "PUT /a HTTP/1.1\r\nContent-Length: 6\r\n${close}hello\n"
    answers 200 1 "GET /a HTTP/1.1\r\n$close"
    says "$tmp/answer" '^Content-Length: 6$'
    equal 'the value' hello "$(tail -n 1 "$tmp/answer")"
    answers 200 1 "HEAD /a HTTP/1.1\r\n$close"
    says "$tmp/answer" '^Content-Length: 6$'
    equal 'the end of the answer to HEAD' '' "$(tail -n 1 "$tmp/answer")"
    answers 200 1 "DELETE /a HTTP/1.1\r\n$close"
    answers 404 1 "DELETE /a HTTP/1.1\r\n$close"
    answers 404 1 "GET /a HTTP/1.1\r\n$close"
    answers 201 1 "PUT /empty HTTP/1.1\r\n$close"
    answers 200 1 "GET /empty HTTP/1.1\r\n$close"

    # What is wrong is said, and with what status
    answers 405 1 "PUT / HTTP/1.1\r\nContent-Length: 1\r\n${close}x"
    answers 405 1 "POST /a HTTP/1.1\r\nContent-Length: 1\r\n${close}x"
    says "$tmp/answer" '^Allow: GET, HEAD, PUT, DELETE$'
    answers 400 1 'rubbish\r\n\r\n'
    answers 400 1 "PUT /a HTTP/1.1\r\nContent-Length: x\r\n\r\n"
    answers 400 1 "PUT /a HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"
    answers 400 1 "PUT /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nno number\r\n"
    answers 414 1 "GET /$(repeat 257) HTTP/1.1\r\n$close"
    answers 404 1 "GET /$(repeat 256) HTTP/1.1\r\n$close"
    answers 431 1 "GET /a HTTP/1.1\r\nLong: $(repeat 20000)\r\n\r\n"
    answers 413 1 "PUT /a HTTP/1.1\r\nContent-Length: 50001\r\n\r\nand no more"
    answers 413 1 "PUT /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nc351\r\n$(repeat 50001)"
    answers 413 1 "PUT /a HTTP/1.1\r\nContent-Length: 50001\r\nExpect: 100-continue\r\n\r\n"
    answers 404 1 "GET /a HTTP/1.1\r\n$close" # none of that was put

    # Bodies of other kinds
    answers 201 1 "PUT /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n${close}3\r\nhel\r\n" '3\r\nlo\n\r\n0\r\n\r\n'
    answers '200' 1 "GET /b HTTP/1.1\r\n$close"
    equal 'the value in two chunks' hello "$(tail -n 1 "$tmp/answer")"
    answers 201 1 "PUT /most HTTP/1.1\r\nContent-Length: 50000\r\n$close" "$(repeat 50000)"
    answers '100 200' 1 "PUT /b HTTP/1.1\r\nContent-Length: 1\r\nExpect: 100-continue\r\n$close" x

    # Several requests on a connection, in one write, in pieces; and clients that speak HTTP/1.0, that say at once
    # that there will be no more, or that ask for another protocol
    answers '201 200 404 200' 4 "PUT /c HTTP/1.1\r\nContent-Length: 5\r\n\r\nfirstGET /c HTTP/1.1\r\n\r\n" \
        "GET /d HTTP/1.1\r\n\r\nGET /c HTTP/1.1\r\n$close"
    answers '200 200' 2 'GE' 'T /c HT' 'TP/1.1\r' '\n\r' '\nGET /c HTTP/1.1\r\n' "$close"
    answers 200 1 'GET /c HTTP/1.0\r\n\r\n'
    answers '200 404 200' 3 'GET /c HTTP/1.1\r\n\r\nGET /d HTTP/1.1\r\nConnection: keep-alive\r\n\r\n' \
        'GET /c HTTP/1.0\r\n\r\nGET /not-read HTTP/1.1\r\n\r\n'
    answers 200 1 "GET /c HTTP/1.1\r\nUpgrade: h2c\r\nConnection: Upgrade, close\r\n\r\n"
}

# ---- Untraced, compiled without recording, and traced: it does the same

for program in kv_server_off kv_server; do
    start "$program" --max-value 50000 "$tmp/$program.kv"
    requests
    load --requests 2000 --fill --keys 100
    load --requests 500 --connections 4 --depth 16 --value 20000 --keys 20 --puts 50
    load --requests 200 --connections 100 --value 0 --puts 50
    stop TERM 0
    silent "$tmp/complaints"
done
if command -v nm >/dev/null; then
    equal 'symbols of weft in kv_server_off' 0 "$(nm "$EXAMPLES/kv_server_off" | grep -c weft || :)"
fi

export WEFT_TRACE="$tmp/kv.weft"
start kv_server --max-value 50000 --flush 5 "$tmp/kv"
unset WEFT_TRACE
requests
load --requests 3000 --fill --keys 100
load --requests 1000 --connections 4 --depth 16 --puts 50

# A client that goes away in the middle of a body: its request is cancelled.
exec 3<>"/dev/tcp/127.0.0.1/$port"
printf 'PUT /never HTTP/1.1\r\nContent-Length: 10\r\n\r\nhalf' >&3
exec 3>&-
sent=$((sent + 1))
until [ "$(say "GET / HTTP/1.1\r\n$close"; json <(tail -n 1 "$tmp/answer") 'd["connections"]')" = 1 ]; do
    sent=$((sent + 1))
done
sent=$((sent + 1))
answers 200 1 "GET / HTTP/1.1\r\n$close"
equal 'requests that the server has seen' "$sent" "$(json <(tail -n 1 "$tmp/answer") 'd["requests"]')"
keys=$(json <(tail -n 1 "$tmp/answer") 'd["keys"]')
stop INT 0
silent "$tmp/complaints"

run 0 "$WEFT" info --json --promises "$tmp/kv.weft"
silent "$tmp/err"
equal 'promises said to be resolved' "$sent" "$(json "$tmp/out" 'd["events"]["should_resolve"]')"
equal 'events lost' '0 0' "$(json "$tmp/out" '"%d %d" % (d["overwritten"], d["discarded"])')"
checks=$((checks + 1))
[ "$(json "$tmp/out" 'd["streams"] if isinstance(d["streams"], int) else len(d["streams"])')" -ge 2 ] ||
    fail 'one stream only: workers record too'

run 0 "$WEFT" promises "$tmp/kv.weft"
silent "$tmp/err"
mv "$tmp/out" "$tmp/promises"

# count TYPE [OUTCOME]: how many promises
count() {
    awk -F '\t' -v type="$1" -v outcome="${2:-}" \
        'NR > 1 && (type == "" || $2 == type) && (outcome == "" || $6 == outcome)' "$tmp/promises" | wc -l
}
equal requests "$sent" "$(count request)"
equal 'requests cancelled' 1 "$(count request cancelled)"
equal 'requests fulfilled' $((sent - 1)) "$(count request fulfilled)"
equal 'responses' $((sent - 1)) "$(count response fulfilled)"
equal 'promises that are pending after the end' 0 "$(count '' pending)"
equal 'promises that failed' 0 "$(count '' failed)"
equal 'file reads' "$(count get fulfilled)" "$(count 'file read' fulfilled)"
equal 'checksums' $(($(count get) + $(count put) + $(count remove))) "$(count checksum fulfilled)"
equal 'stores' 1 "$(count store fulfilled)"
equal 'flushes' "$(count fsync fulfilled)" "$(count flush fulfilled)"
for type in put 'file write' fsync timer connection body receive; do
    checks=$((checks + 1))
    [ "$(count "$type")" -gt 0 ] || fail "no promise of type $type"
done
run 0 grep -c $'\trequest\t.*\tPUT /never$' "$tmp/promises"
run 0 "$WEFT" export --to ctf -o "$tmp/ctf" "$tmp/kv.weft"
run 0 "$WEFT" render -o "$tmp/kv.svg" "$tmp/kv.weft"
says "$tmp/kv.svg" 'connection'

# ---- The file: a torn end is cut off, everything before it is there

printf 'half a record' >>"$tmp/kv"
start kv_server "$tmp/kv"
answers 200 1 "GET / HTTP/1.1\r\n$close"
equal 'keys after a restart' "$keys 13" "$(json <(tail -n 1 "$tmp/answer") '"%d %d" % (d["keys"], d["cut_bytes"])')"
answers 200 1 "GET /c HTTP/1.1\r\n$close"
equal 'the value after a restart' first "$(tail -n 1 "$tmp/answer")"
run 1 timeout 300 "$EXAMPLES/kv_server" "$tmp/kv"
says "$tmp/err" 'kv_server: .*/kv: resource busy or locked'

# killed under load, it has what it has answered
"$EXAMPLES/kv_load" --port "$port" --seconds 30 --puts 100 --keys 50 >/dev/null 2>&1 &
busy=$!
until [ "$(say "GET / HTTP/1.1\r\n$close"; json <(tail -n 1 "$tmp/answer") 'd["writes"]')" -gt 100 ]; do :; done
stop KILL 137
wait "$busy" || :
start kv_server "$tmp/kv"
load --requests 500 --keys 50 --puts 0
says "$tmp/out" ' 0 put, 0 not found$'
stop TERM 0

head -c 100 /dev/urandom >"$tmp/other"
cp "$tmp/other" "$tmp/other.copy"
run 1 timeout 300 "$EXAMPLES/kv_server" "$tmp/other"
says "$tmp/err" 'kv_server: .*/other: inappropriate file type'
same "somebody else's file" "$tmp/other.copy" "$tmp/other"
run 1 timeout 300 "$EXAMPLES/kv_server" "$tmp/no/where"

# ---- With --sync, a put waits for the flush; and an idle connection is closed

export WEFT_TRACE="$tmp/sync.weft"
start kv_server --sync --flush 10 --idle 500 "$tmp/kv"
unset WEFT_TRACE
load --requests 40 --puts 100 --value 100
say ''
silent "$tmp/answer"
say 'GET /half HTTP/1.1\r\n'
silent "$tmp/answer"
stop TERM 0
run 0 "$WEFT" dump "$tmp/sync.weft"
mv "$tmp/out" "$tmp/dump"
flushes=$(sed -n 's/.* creates .* child=\([0-9]*\) type=flush .*/\1/p' "$tmp/dump" | paste -sd '|')
equal 'puts that wait for a flush' 40 "$(grep -cE " read reader=[0-9]+ source=($flushes)\$" "$tmp/dump")"
equal 'timers that ended a connection' 2 \
    "$("$WEFT" promises "$tmp/sync.weft" | grep -c $'\ttimer\t.*\tfulfilled\t.*\tidle$')"

# ---- Command lines

for wrong in '' '--port 65536 x' '--flush x x' '--max-value -1 x' 'x y' '--no-such x'; do
    # shellcheck disable=SC2086 # words
    run 2 "$EXAMPLES/kv_server" $wrong
    says "$tmp/err" '^usage: kv_server'
done
for wrong in '' '--port 0' '--port 80 x' '--port 80 --address 10.0.0.1' '--port 80 --address 128.0.0.1' \
    '--port 80 --address ::1' '--port 80 --address localhost' '--port 80 --puts 101'; do
    # shellcheck disable=SC2086 # words
    run 2 "$EXAMPLES/kv_load" $wrong
    says "$tmp/err" '^usage: kv_load'
done
run 1 "$EXAMPLES/kv_load" --port "$port" --requests 1 # nobody listens there any more
says "$tmp/err" 'connection refused'
finish
