#!/bin/bash
# SPDX-License-Identifier: ISC
# weft record --sample of programs in JavaScript and Python: their functions by name, and the CPU for the promise that ran.
# What the runtimes wrote for that is gone afterwards.
. "$(dirname "$0")/lib.sh"
unset WEFT_TRACE WEFT_TRACE_SIZE WEFT_TRACE_FOR WEFT_TRACE_FORK NODE_OPTIONS PYTHONPATH PYTHONPERFSUPPORT
export PYTHONDONTWRITEBYTECODE=1
cd "$tmp"
if ! "$WEFT" sample -o probe.weft -- true >"$tmp/out" 2>"$tmp/err"; then
    grep -qi 'perf_event' "$tmp/err" && skip "$(head -n 1 "$tmp/err")"
    fail "weft sample: $(cat "$tmp/err")"
    finish
fi

# maps: what says where a process that we started has its functions
maps() {
    find /tmp -maxdepth 1 -name 'perf-*.map' -newer begin -exec grep -l 'spin' {} + 2>/dev/null
}

# named TRACE FUNCTION: whether samples have that name. work TRACE LABEL: whether its promises have the most of the CPU.
named() {
    "$WEFT" profile --limit 0 --json "$1" >profile
    json profile "any(r['name'] == '$2' and r['total'] > 0 for r in d['rows'])"
}
work() {
    "$WEFT" profile --by label --json "$1" >profile
    json profile "max((r for r in d['rows'] if not r['name'].startswith('(')), key=lambda r: r['total'])['name']"
}

node=${NODE:-$(command -v node || :)}
python=${PYTHON:-/usr/bin/python3}
tried=
if [ -e "$BUILD_ROOT/adapters/node/weft.node" ] && [ -n "$node" ] &&
    [ "$("$node" -p 'process.versions.node.split(".")[0] >= 18')" = true ]; then
    tried=node
    cat >app.js <<'END'
// As much work as takes half a second of CPU time, by the process's own clock.
function spinLittle() {
  let x = 1;
  for (let i = 0; i < 1e5; i++) x = (x * 31 + i) % 1000003;
  return x;
}
async function handle() {
  await new Promise((resolve) => setTimeout(resolve, 1));
  const begun = process.cpuUsage().user;
  while (process.cpuUsage().user - begun < 5e5) spinLittle();
}
handle();
END
    touch begin
    run 0 "$WEFT" record --sample -o js.weft -- "$node" app.js
    equal 'a function of JavaScript' True "$(named js.weft 'spinLittle app.js:2')"
    equal 'for which call' 'handle app.js:7' "$(work js.weft)"
    equal 'what it left' '' "$(maps)"
    # Who asked for it keeps it.
    touch begin
    run 0 env NODE_OPTIONS='--perf-basic-prof --interpreted-frames-native-stack' "$WEFT" record --sample --force -o js.weft -- "$node" app.js
    equal 'what was asked for' 1 "$(maps | wc -l)"
    maps | xargs -r rm -f
fi
if [ -e "$BUILD_ROOT/adapters/python/_weft.abi3.so" ] && [ -x "$python" ]; then
    tried=$tried.python
    cat >app.py <<'END'
import asyncio
import time

def spin_little():
    return sum(i * i for i in range(20000))

async def handle():
    await asyncio.sleep(0.001)
    begun = time.process_time()
    while time.process_time() - begun < 0.5:
        spin_little()

asyncio.run(handle())
END
    touch begin
    run 0 "$WEFT" record --sample -o py.weft -- "$python" app.py
    equal 'for which task' handle "$(work py.weft)"
    equal 'what it left' '' "$(maps)"
    if [ "$("$python" -c 'import sys; print(hasattr(sys, "activate_stack_trampoline"))')" = True ]; then
        equal 'a function of Python' True "$(named py.weft 'spin_little app.py')"
    fi
fi
[ -n "$tried" ] || skip 'neither Node.js nor Python programs are recorded by this build'
finish
