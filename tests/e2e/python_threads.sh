#!/bin/bash
# SPDX-License-Identifier: ISC
# What asyncio programs have done in threads.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/python_lib.sh"

cat >threads.py <<'END'
import asyncio, concurrent.futures, functools, threading, time

def work(n):
    if n == 2:
        raise ValueError(f"bad row {n}")
    return n

class Thing:
    def method(self, n):
        assert open('/proc/thread-self/comm').read() == comm
        return threading.current_thread().name, n

comm = open('/proc/thread-self/comm').read()

async def nested():
    await asyncio.sleep(0.001)

async def later(asked):
    while not asked or not asked[0]._condition._waiters:
        await asyncio.sleep(0.001)
    return 7

async def main():
    loop = asyncio.get_running_loop()
    loop.set_default_executor(concurrent.futures.ThreadPoolExecutor(1, "asyncio"))
    print(await asyncio.to_thread(work, 1))
    try:
        await loop.run_in_executor(None, work, 2)
    except ValueError as e:
        print(e)
    print(await loop.run_in_executor(None, functools.partial(Thing().method, 4)))
    await asyncio.to_thread(time.sleep, 0)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        gate = threading.Event()
        first = pool.submit(gate.wait)
        cancelled = pool.submit(work, 6)
        while not first.running():
            time.sleep(0.001)
        print(cancelled.cancel(), first.cancel() and "while it waits")
        gate.set()
        print(first.result(), pool.submit(work, 2).exception())
        pool.submit(work, 2)
    asked = []
    def ask():
        asked.append(asyncio.run_coroutine_threadsafe(later(asked), loop))
        return asked[0].result()
    print(await asyncio.to_thread(ask))
    own = threading.Thread(target=lambda: asyncio.run(nested()), name="a loop of its own")
    own.start()
    own.join()
    print([t.name for t in threading.enumerate()])

asyncio.run(main())
END
alike 0 threads.weft threads.py
equal 'jobs' "[('Thing.method', 'fulfills'), ('gate.wait', 'fulfills'), ('main.<locals>.ask', 'fulfills'), ('time.sleep', 'fulfills'), ('work', 'cancels'), ('work', 'fails'), ('work', 'fails'), ('work', 'fails'), ('work', 'fulfills')]" \
    "$(facts threads.weft 'sorted((r[1] if "Event" not in r[1] else "gate.wait", r[2]) for r in p if r[0] == "job")')"
equal 'who waits for jobs' "[('main', 'Thing.method'), ('main', 'main.<locals>.ask'), ('main', 'time.sleep'), ('main', 'work'), ('main', 'work'), ('main', 'work')]" \
    "$(facts threads.weft 'sorted(w for w in waits if w[0] == "main" and w[1] in ("work", "Thing.method", "time.sleep", "main.<locals>.ask"))')"
equal 'a thread waits for a task' 1 \
    "$(facts threads.weft 'sum(w[1] == "later" and "ask" in w[0] for w in waits)')"
equal 'threads of the jobs' True "$(facts threads.weft \
    'all(f["resolver"] == f["p"] for k, f in events if k in ("fulfills", "fails") and rows[f["p"]][0] == "job")')"
for name in asyncio_0 'pool-0_0' 'a loop ..ts own'; do
    checks=$((checks + 1))
    grep -aq "$name" threads.weft || fail "no thread is called $name"
done
equal 'nobody looked at' "swallowed-failure likely work" "$(findings threads.weft)"

# ---- A pool that waits for itself ----
cat >full.py <<'END'
import asyncio, concurrent.futures, os, signal, threading, time

pool = concurrent.futures.ThreadPoolExecutor(1)

def inner():
    return 1

def watch(job):
    while not job._condition._waiters:
        time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGKILL)

def outer():
    job = pool.submit(inner)
    threading.Thread(target=watch, args=(job,)).start()
    return job.result()

async def main():
    await asyncio.get_running_loop().run_in_executor(pool, outer)

asyncio.run(main())
END
run 137 record full.weft full.py
run 0 "$WEFT" explain --all --json full.weft
equal 'the first finding' 'hang-root inner' "$(json "$tmp/out" '"{name} {label}".format(**d["findings"][0])')"
finish
