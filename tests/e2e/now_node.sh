#!/bin/bash
# SPDX-License-Identifier: ISC
# What waits for what in Node.js programs that hang and that nobody has prepared: ../now/hang.js.
. "$(dirname "$0")/lib.sh"
: "${NOW:?the folder of tests/now}"
node=${NODE:-node}
command -v "$node" >/dev/null || skip 'there is no node'
[ "$(uname -m)" = x86_64 ] || skip "not tried on $(uname -m)"
program=$SOURCE_ROOT/tests/now/hang.js
cd "$tmp"
mkfifo said
exec {said}<>said

pid=
hang() {
    "$node" "$program" "$@" >said 2>complaints &
    pid=$!
    read -r -t 300 -u "$said" -a words || fail "hang.js $* says nothing"
}
end() {
    silent complaints
    kill -9 "$pid"
    wait "$pid" 2>/dev/null || :
}

# What the graph says of tasks, promises and timers, in the order of the alphabet; a line as "line NAME".
seen() {
    run 0 "$NOW/graph" "$pid"
    awk -v program="$program" '
        BEGIN {
            while ((getline text < program) > 0)
                if (match(text, /\/\/ [a-zA-Z]+$/))
                    name[++number] = substr(text, RSTART + 3)
                else
                    number++
        }
        function lines(text,    at, out) {
            while (match(text, /hang\.js:[0-9]+/)) {
                at = substr(text, RSTART + 8, RLENGTH - 8)
                out = out substr(text, 1, RSTART - 1) "hang.js:" (at in name ? name[at] : at)
                text = substr(text, RSTART + RLENGTH)
            }
            return out text
        }
        /^thing [0-9]+ (async|promise|Promise|next value|module|timer)/ { ours[$2] = 1; $1 = $2 = ""; print lines(substr($0, 3)) }
        /^frame/ && ours[$2] { $1 = $2 = ""; print "at " lines(substr($0, 3)) }
        /^link (async|promise|Promise|next value|module|timer)/ { print lines($0) }
        /^remark/' out |
        sed -e "s|$SOURCE_ROOT/tests/now/||g" -e 's/0x[0-9a-f]*/0x/g' -e 's/[; ]*$//' | LC_ALL=C sort -u >seen
}
looks_like() {
    LC_ALL=C sort -u >wanted
    seen
    same "$1" wanted seen
}

hang nested
for again in first second; do
    looks_like "nested, looked at for the $again time" <<'EOF'
async function handle
async function loadUser
async function nested
at handle hang.js:handle
at loadUser hang.js:loadUser
at nested hang.js:nested
link async function handle → awaits → promise of async function loadUser
link async function loadUser → awaits → promise 0x
link async function nested → awaits → promise of async function handle
link promise of async function handle → is resolved by → async function handle
link promise of async function loadUser → is resolved by → async function loadUser
promise 0x; nobody has its resolve function: it is never resolved
promise of async function handle
promise of async function loadUser
EOF
done
says out '^stopped 0$'
end
mv wanted nested

hang worker
wait_for "$NOW/graph" "$pid"
seen
same 'a worker thread' nested seen
end

hang cycle
looks_like cycle <<'EOF'
async function takeLeft; ; cycle 1
async function takeRight; ; cycle 1
at takeLeft hang.js:takeLeft
at takeRight hang.js:takeRight
link async function takeLeft → awaits → promise 0x
link async function takeRight → awaits → promise 0x
link promise 0x → is resolved by → async function takeLeft
link promise 0x → is resolved by → async function takeRight
promise 0x; waits for a call of left.resolve, which takeLeft (hang.js:29) knows; cycle 1
promise 0x; waits for a call of right.resolve, which takeRight (hang.js:33) knows; cycle 1
EOF
says out '^cycles 1$'
end

hang all
looks_like all <<'EOF'
Promise.all 0x
async function gather
at gather hang.js:gather
at report hang.js:report
link Promise.all 0x → needs → promise 0x
link async function gather → awaits → Promise.all 0x
link promise of async function gather → is resolved by → async function gather
link promise of then(report) → follows → promise of async function gather
promise 0x; waits for a call of kept[…], which part (hang.js:44) knows
promise of async function gather
promise of then(report)
EOF
end

hang mutex
seen
says seen '^link promise 0x ⇢ may be resolved by ⇢ async function keeper$'
says seen '^promise 0x; waits for a call of this.queue\[…\] of Mutex, which a function \(hang.js:acquire\) knows$'
says seen '^promise 0x; waits for a call of resolve, which resolver \(node:events:[0-9]+\) knows$'
says seen '^link async function visitor → awaits → promise of async function acquire$'
says seen '^at keeper hang.js:keeper$'
says seen '^at acquire hang.js:acquire$'
end

hang sleeper
looks_like sleeper <<'EOF'
async function sleeper
at sleeper hang.js:sleeper
link async function sleeper → awaits → promise 0x
link promise 0x → is resolved by → timer of 1234567 ms
promise 0x
timer of 1234567 ms
EOF
end

hang sum
looks_like sum <<'EOF'
async function sum
async generator numbers
at numbers hang.js:numbers
at sum hang.js:sum
link async function sum → awaits → next value of async generator numbers
link async generator numbers → awaits → promise 0x
link next value of async generator numbers → is resolved by → async generator numbers
next value of async generator numbers
promise 0x; nobody has its resolve function: it is never resolved
EOF
end

mkfifo never
hang reader never
seen
says seen '^promise 0x; native code resolves it, that of FSReqPromise$'
says seen '^at reader hang.js:reader$'
end

# The loop does not go on.
# Compiled code does not say in which line it is: then it is that in which the function begins.
place() {
    echo "$1 .*hang\\.js:($(grep -nE "function $1\(|// $1\$" "$program" | cut -d : -f 1 | paste -sd '|'))"
}
on_stack() {
    "$NOW/graph" "$pid" >look
    grep -Eq "^frame 0 $(place "$1")\$" look
}
hang busy
wait_for on_stack spin
says look "^frame 0 $(place turn)\$"
says look "^thing 0 thread $pid '[A-Za-z]+'; runs spin \\(.*hang.js:[0-9]+\\)\$"
end
hang deploy
deploys() {
    on_stack start && grep -Eq '^frame 0 epoll_p?wait' look
}
wait_for deploys
kill "$(cat "/proc/$pid/task/$pid/children")"
wait "$pid" || :
: >complaints

# What an earlier call has left on the stack is not on it: nothing is further out than where the program begins.
cat >waits.mjs <<'END'
setInterval(() => {}, 1e9);
console.log("waits");
await new Promise((resolve) => { globalThis.resolve = resolve; });
END
hang_program=$program program=$tmp/waits.mjs
hang
outermost() { "$NOW/graph" "$pid" | sed -n 's/^frame 0 //p' | tail -n 1; }
begins() { [[ "$(outermost)" == _start* ]]; }
wait_for begins
end
program=$hang_program

# Nothing waits, and the program serves as before.
hang served
looks_like served </dev/null
exec {connection}<>"/dev/tcp/127.0.0.1/${words[1]}"
printf 'GET / HTTP/1.0\r\n\r\n' >&"$connection"
cat <&"$connection" >answer
exec {connection}>&-
says answer '^answered$'
looks_like 'served after a request' </dev/null
end
finish
