#!/bin/bash
# SPDX-License-Identifier: ISC
# Python programs that nobody changed: weft record tells of them what it would of others, and they notice nothing.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/python_lib.sh"

# ---- What hangs is explained ----
cat >pool.py <<'END'
import asyncio


async def query(n):
    await asyncio.sleep(0)
    if n == 3:
        raise ValueError(f"bad row {n}")


async def handle(pool, n):
    await pool.acquire()
    await query(n)
    pool.release()


async def main():
    pool = asyncio.Semaphore(1)
    tasks = [asyncio.create_task(handle(pool, n)) for n in range(6)]
    await tasks[5]


asyncio.run(main())
END
run 130 record pool.weft "$SOURCE_ROOT/tests/e2e/until_hung.py" pool.py
says "$tmp/err" '^weft: pool.weft: [0-9]+ events, .*; killed by signal 2 .*$'
says "$tmp/err" '^KeyboardInterrupt$'
equal 'the only finding' 'swallowed-failure certain handle' "$(findings pool.weft)"
run 0 "$WEFT" explain --json pool.weft
if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    says "$tmp/out" "'handle' .* has waited ever since for 'Semaphore pool.py:17' .*, which it still holds, since [0-9.]+ .s"
else
    says "$tmp/out" "has waited ever since for 'Semaphore pool.py:17' .*, which it was to resolve"
fi
says "$tmp/out" "ValueError\('bad row 3'\)"

# ---- A main task may wait on purpose, while others work ----
cat >forever.py <<'END'
import asyncio, os, signal, sys

async def work():
    for n in range(20):
        await asyncio.sleep(0.001)
    os.kill(os.getpid(), signal.SIGINT)

async def main():
    working = asyncio.create_task(work()) if "alone" not in sys.argv else None
    await asyncio.Event().wait()

asyncio.run(main())
END
# confidence ARGUMENT...: how sure it is that the main task of what is recorded so hangs
confidence() {
    run 130 record forever.weft "$@"
    run 0 "$WEFT" explain --all --json forever.weft
    json "$tmp/out" '" ".join(f["confidence"] for f in d["findings"] if f["name"] == "hang-root")'
}
equal 'it is meant to' possible "$(confidence forever.py)"
equal 'it hangs' certain "$(confidence "$SOURCE_ROOT/tests/e2e/until_hung.py" forever.py alone)"

# ---- The program is the same ----
cat >same.py <<'END'
import asyncio, sys, gc, weakref, inspect, traceback

async def fail():
    await asyncio.sleep(0)
    raise KeyError("no")

async def never():
    pass

class Loud(Exception):
    def __repr__(self):
        print("somebody wants to know")
        return "Loud()"
    __str__ = __repr__

class Key:
    def __repr__(self):
        print("somebody wants to know")
        return "Key()"

async def fail_loudly(*args):
    await asyncio.sleep(0)
    raise Loud(*args)

async def main():
    loop = asyncio.get_running_loop()
    order = []
    f = loop.create_future()
    f.add_done_callback(lambda f: order.append("done"))
    loop.call_soon(order.append, "soon")
    f.set_result(1)
    r = weakref.ref(f)
    del f
    await asyncio.sleep(0.001)
    print(order, r() is None, type(loop.create_future()), asyncio.current_task().get_name())
    try:
        await asyncio.gather(fail(), asyncio.sleep(0))
    except KeyError:
        traceback.print_exc()
    try:
        loop.create_future().set_result()
    except TypeError as e:
        print(e)
    t = asyncio.create_task(fail())
    await asyncio.sleep(0.001)
    del t
    gc.collect()
    never()
    print(inspect.signature(loop.create_task), inspect.signature(asyncio.Future.cancel))
    print(asyncio.Future.set_result, [p for p in sys.path if "adapters" in p],
          [m for m in sys.modules if "weft" in m], sys.meta_path[0])
    await asyncio.gather(fail_loudly(7), fail_loudly(Key(), "x"), return_exceptions=True)
    lock = asyncio.Lock()
    async with lock:
        w = asyncio.create_task(lock.acquire())
        await asyncio.sleep(0)
        w.cancel("enough")
        try:
            await w
        except asyncio.CancelledError as e:
            print("cancelled", e.args)
    print([inspect.iscoroutinefunction(f) for f in (lock.acquire, asyncio.Lock.acquire,
          asyncio.Semaphore(1).acquire, loop.create_server)], asyncio.Lock.acquire, sys.path)
    sys.exit(3)

asyncio.run(main())
END
alike 3 same.weft same.py
equal 'why loud ones failed' "['\"Loud(7)\"', '\"Loud(<Key>, \'x\')\"']" \
    "$(facts same.weft 'sorted(f["exception"] for k, f in events if k == "fails" and name(f, "p") == "fail_loudly")')"
equal 'failures of tasks' 2 "$(facts same.weft 'len([r for r in p if r == ("task", "fail", "fails")])')"

# ---- Its own sitecustomize ----
mkdir own
echo 'import sys; sys.ours = "custom"' >own/sitecustomize.py
run 0 env PYTHONPATH="$tmp/own" "$WEFT" record --force -o c.weft -- "$python" -c \
    'import sys, asyncio; print(sys.ours, sys.modules["sitecustomize"].__file__); asyncio.run(asyncio.sleep(0))'
equal 'its sitecustomize' "custom $tmp/own/sitecustomize.py" "$(cat "$tmp/out")"
says "$tmp/err" '^weft: c.weft: [0-9]+ events'

# ---- Processes ----
cat >children.py <<'END'
import asyncio, os, subprocess, sys
async def child(n):
    await asyncio.sleep(0)
if len(sys.argv) == 1:
    subprocess.run([sys.executable, __file__, "exec"], check=True)
    if os.fork() == 0:
        asyncio.run(child(2))
        os._exit(0)
    os.wait()
asyncio.run(child(1))
END
run 0 record f.weft children.py
equal 'traces of children' 2 "$(find . -name 'f-*.weft' | wc -l)"
equal 'lines about them' 2 "$(grep -Ec '^weft: f-[0-9]+.weft: [0-9]+ events, 1 promise, of process [0-9]+' "$tmp/err")"
printf '#!/bin/sh\n"%s" "%s" exec\ntrue\n' "$python" "$tmp/children.py" >script
chmod +x script
run 0 "$WEFT" record --force --size 1M -o script.weft -- ./script
says "$tmp/err" '^weft: script.weft: [0-9]+ events, 1 promise'
equal 'traces of a script' script.weft "$(echo script*.weft)"

# ---- On and off: while it is off, asyncio is as it was ----
cat >switched.py <<'END'
import asyncio, os

methods = "asyncio.Handle._run", "asyncio.Future.set_result", "asyncio.BaseEventLoop.create_task"

def tell(name):
    with open(name + ".tmp", "w") as file:
        print(os.getpid(), *(eval(m) for m in methods), file=file)
    os.rename(name + ".tmp", name)

async def tick():
    await asyncio.sleep(0.001)

async def until(there):
    is_there = isinstance(asyncio.Handle.__dict__["_run"], type(tick))
    while is_there != there:
        await tick()
        is_there = isinstance(asyncio.Handle.__dict__["_run"], type(tick))

async def last():
    await asyncio.sleep(0)

async def main():
    gate = asyncio.Event()
    waiting = [asyncio.create_task(gate.wait()) for _ in range(20)]
    await tick()
    tell("first")
    await until(True)
    gate.set()
    await asyncio.gather(*waiting)
    tell("off")
    await until(False)
    tell("on")
    await asyncio.create_task(last())

asyncio.run(main())
END
record switched.weft switched.py 2>err &
wait_for test -e first
read -r pid _ <first
run 0 "$WEFT" ctl "$pid" off
wait_for test -e off
run 0 "$WEFT" ctl "$pid" on
wait
equal 'what is there while it is off' 2 "$(grep -o '<function ' off | wc -l)"
same 'what is there when it goes on' first on
equal 'a task after that' "[('task', 'last', 'fulfills')]" "$(facts switched.weft '[r for r in p if r[1] == "last"]')"
equal 'what ended while it was off is no hang' '' "$(findings switched.weft)"
equal 'though the trace does not say that it ended' 20 "$(facts switched.weft 'p.count(("task", "Event.wait", "forgets"))')"

# ---- What cannot be recorded, and what shall not ----
run 0 record n.weft -c 'pass'
says "$tmp/err" 'nothing was recorded: it is a Python program that has imported neither asyncio nor trio'
for how in -I -E -S -uE; do
    run 0 record n.weft "$how" -c 'import asyncio'
    says "$tmp/err" "nothing was recorded: it is a Python program that is run with -${how: -1}:"
done
run 0 "$WEFT" record --runtimes none -o n.weft -- "$python" -c 'import asyncio, os; print(os.environ.get("PYTHONPATH"))'
equal 'PYTHONPATH without runtimes' None "$(cat "$tmp/out")"
says "$tmp/err" 'nothing was recorded: it is a Python program, and --runtimes leaves Python out$'
run 2 "$WEFT" record --runtimes cobol -- true
says "$tmp/err" '^weft record: --runtimes: "cobol" is neither none nor'
run 0 "$WEFT" record --list-runtimes
says "$tmp/out" '^python  CPython 3.9'
says "$tmp/out" "^        $adapter\$"
# ---- What is waited for of a queue is not what it said before anybody used it ----
cat >join.py <<'END'
import asyncio

async def worker(queue):
    while True:
        if await queue.get() != 3:
            queue.task_done()

async def main():
    queue = asyncio.Queue()
    task = asyncio.create_task(worker(queue))
    for n in range(5):
        queue.put_nowait(n)
    await queue.join()
    task.cancel()

asyncio.run(main())
END
"$WEFT" record --force -o join.weft -- "$python" "$SOURCE_ROOT/tests/e2e/until_hung.py" join.py >"$tmp/out" 2>&1 || :
equal 'of a queue that is never done' 'hang-root certain Event of Queue join.py:9' "$(findings join.weft | head -n 1)"
finish
