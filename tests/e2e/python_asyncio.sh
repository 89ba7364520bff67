#!/bin/bash
# SPDX-License-Identifier: ISC
# What asyncio has beside tasks and locks: groups, time limits, conditions, queues, connections, processes, cancellation; and
# what is forgotten.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/python_lib.sh"
version=$("$python" -c 'import sys; print("%d%02d" % sys.version_info[:2])')

cat >start.py <<'END'
import asyncio, contextlib, gc, sys

async def nap(seconds=0):
    await asyncio.sleep(seconds)
    return seconds

async def fails():
    await asyncio.sleep(0)
    raise ValueError("no")
END

# ---- Groups and time limits ----
cat >groups.py <<'END'
from start import *

async def groups():
    try:
        async with asyncio.timeout(0.001):
            await asyncio.sleep(900)
    except TimeoutError:
        print("timeout")
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(nap())
            group.create_task(fails())
            group.create_task(nap(900))
    except BaseExceptionGroup as e:
        print(e.exceptions)

asyncio.run(groups())
END
if [ "$version" -ge 311 ]; then
    alike 0 groups.weft groups.py
    equal 'what becomes of tasks' "[('fails', 'fails'), ('groups', 'fulfills'), ('nap', 'cancels'), ('nap', 'fulfills')]" \
        "$(facts groups.weft 'sorted(r[1:] for r in p if r[0] == "task")')"
    equal 'for whom the group waits' "['fails', 'nap', 'nap']" \
        "$(facts groups.weft 'sorted(w[1] for w in set((name(f, "reader"), name(f, "source"), f["source"]) for k, f in events if k == "try_read" and rows.get(f["source"], [0])[0] == "task") if w[0].startswith("TaskGroup"))')"
fi
cat >limits.py <<'END'
from start import *

async def limits():
    print(await asyncio.wait_for(nap(), 900))
    try:
        await asyncio.wait_for(nap(900), 0.001)
    except asyncio.TimeoutError:
        print("timeout")
    done, pending = await asyncio.wait([asyncio.ensure_future(nap())], timeout=900)
    print(len(done), len(pending))
    print(await asyncio.shield(nap()))

asyncio.run(limits())
END
alike 0 limits.weft limits.py
equal 'sleeps' "[('sleep 900 s', 'cancels')]" "$(facts limits.weft '[r[1:] for r in p if r[0] == "sleep"]')"
equal 'what is pending' '[]' "$(facts limits.weft '[r for r in p if r[2] == "pending"]')"

# ---- Conditions and queues ----
cat >shared.py <<'END'
from start import *

async def consume(condition):
    async with condition:
        await condition.wait()

async def work(queue):
    while True:
        await queue.get()
        await asyncio.sleep(0)
        queue.task_done()

async def main():
    condition, queue = asyncio.Condition(), asyncio.Queue(1)
    task = asyncio.ensure_future(consume(condition))
    await asyncio.sleep(0)
    async with condition:
        condition.notify_all()
    await task
    task = asyncio.ensure_future(work(queue))
    for n in range(3):
        await queue.put(n)
    await queue.join()
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

asyncio.run(main())
END
alike 0 shared.weft shared.py
equal 'the condition' "[('consume', 'Condition shared.py:14', 'main')]" "$(facts shared.weft \
    '[w + (name(f, "notifier"),) for w in waits if "Condition" in w[1] for k, f in events if k == "notifies" and rows[f["p"]][0] == "condition"]')"
equal 'who waits for the queue' "['Queue.get work', 'Queue.put main', 'Queue.put main', 'event main']" "$(facts shared.weft \
    'sorted(rows[f["source"]][0] + " " + name(f, "reader") for k, f in events if k == "try_read" and f["source"] in rows and rows[f["source"]][0] in ("Queue.get", "Queue.put", "event"))')"

# ---- Connections ----
cat >streams.py <<'END'
from start import *

async def answer(reader, writer):
    writer.write(await reader.readline())
    await writer.drain()
    writer.close()

async def main():
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], file=open("port", "w"))
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    await asyncio.sleep(0)
    writer.write(b"hello\n")
    print(await reader.readline())
    writer.close()
    await writer.wait_closed()
    server.close()
    await server.wait_closed()

asyncio.run(main())
END
alike 0 streams.weft streams.py
port=$(cat port)
equal 'connections' "[('main', 'connect 127.0.0.1:$port'), ('main', 'read 127.0.0.1:$port')]" \
    "$(facts streams.weft "[w for w in waits if w[1].endswith(':$port')]")"
equal 'how it is served' 1 "$(facts streams.weft 'sum(w[0] == "answer" and w[1].startswith("read 127.0.0.1:") for w in waits)')"

# ---- Processes ----
cat >processes.py <<'END'
from start import *

async def main():
    p = await asyncio.create_subprocess_exec("sh", "-c", "exit 3")
    print(await p.wait())
    p = await asyncio.create_subprocess_exec(b"cat", stdin=asyncio.subprocess.PIPE)
    p.kill()
    print(await p.wait())
    p = await asyncio.create_subprocess_shell("echo here", stdout=asyncio.subprocess.PIPE)
    print(await p.communicate())
    try:
        await asyncio.create_subprocess_exec("/nonexistent/program")
    except FileNotFoundError as e:
        print(e)

asyncio.run(main())
END
alike 0 processes.weft processes.py
equal 'processes' "[('sh -c exit 3', 'fails'), ('cat', 'fails'), ('echo here', 'fulfills')]" \
    "$(facts processes.weft '[r[1:] for r in p if r[0] == "process"]')"
equal 'their statuses' "['\"exit status 3\"', '\"signal 9\"']" \
    "$(facts processes.weft '[f["exception"] for k, f in events if k == "fails"]')"
equal 'who waits for them' "{'main'}" \
    "$(facts processes.weft '{w[0] for w in waits if w[1] in ("sh -c exit 3", "cat", "echo here")}')"

# ---- Who cancels whom ----
cat >cancels.py <<'END'
from start import *

async def victim():
    try:
        await asyncio.sleep(900)
    finally:
        print("cleaning up")

async def canceller(task):
    task.cancel()

async def main():
    task = asyncio.ensure_future(victim())
    await asyncio.sleep(0)
    await asyncio.ensure_future(canceller(task))
    with contextlib.suppress(asyncio.CancelledError):
        await task

asyncio.run(main())
END
alike 0 cancels.weft cancels.py
equal 'who cancels' "[('canceller', 'sleep 900 s'), ('canceller', 'victim')]" \
    "$(facts cancels.weft '[(name(f, "canceller"), name(f, "p")) for k, f in events if k == "cancels"]')"

# ---- What is forgotten ----
cat >forgotten.py <<'END'
from start import *

async def lost():
    await asyncio.get_running_loop().create_future()

async def main():
    nap()
    task = asyncio.ensure_future(lost())
    await asyncio.sleep(0)
    del task
    gc.collect()
    asyncio.ensure_future(fails())
    await asyncio.sleep(0.001)
    gc.collect()

asyncio.run(main())
END
alike 0 forgotten.weft forgotten.py
says recorded.err "RuntimeWarning: coroutine 'nap' was never awaited"
says recorded.err 'Task was destroyed but it is pending'
says recorded.err 'Task exception was never retrieved'
equal 'what becomes of the tasks' "[('main', 'fulfills'), ('lost', 'forgets'), ('fails', 'fails')]" \
    "$(facts forgotten.weft '[r[1:] for r in p if r[0] == "task"]')"
run 0 "$WEFT" explain --json forgotten.weft
equal 'nobody looked at' 'swallowed-failure fails' "$(json "$tmp/out" '" ".join(f["name"] + " " + f["label"] for f in d["findings"] if f["name"] == "swallowed-failure")')"

# ---- Tasks that begin before they are there ----
cat >eager.py <<'END'
import asyncio

async def nap():
    await asyncio.sleep(0.001)

async def quick(n):
    return n

async def slow(n):
    await nap()
    await asyncio.create_task(quick(n))
    return n

async def fails():
    raise KeyError("no")

async def main():
    asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
    print(await asyncio.gather(quick(1), slow(2), fails(), return_exceptions=True))
    task = asyncio.create_task(slow(3))
    await asyncio.sleep(0)
    task.cancel()
    print(await asyncio.gather(task, return_exceptions=True))

asyncio.run(main())
END
if "$python" -c 'import asyncio; asyncio.eager_task_factory' 2>/dev/null; then
    alike 0 eager.weft eager.py
    equal 'eager tasks' "[('fails', 'fails'), ('quick', 'fulfills'), ('quick', 'fulfills'), ('slow', 'cancels'), ('slow', 'fulfills')]" \
        "$(facts eager.weft 'sorted(r[1:] for r in p if r[0] == "task" and r[1] != "main")')"
    equal 'in what they wait' 2 "$(facts eager.weft 'waits.count(("slow", "nap"))')"
    equal 'what is wrong with eager' '' "$(findings eager.weft)"
fi

# ---- What may wait for ever ----
cat >serves.py <<'END'
import asyncio, signal
async def main():
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await stop.wait()
asyncio.run(main())
END
run 130 record serves.weft "$SOURCE_ROOT/tests/e2e/until_hung.py" serves.py
equal 'what is wrong with it' '' "$(findings serves.weft)"
finish
