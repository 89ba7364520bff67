#!/bin/bash
# SPDX-License-Identifier: ISC
# Loops of uvloop: their tasks, and the program notices nothing.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/python_lib.sh"
"$python" -c 'import uvloop' 2>/dev/null || skip "$python has no uvloop"

cat >same.py <<'END'
import asyncio, contextlib, gc, uvloop

class Loud:
    def __repr__(self):
        return "loud"
    def __call__(self):
        print("called")

async def query(n):
    await asyncio.sleep(0)
    if n == 2:
        raise ValueError(f"bad row {n}")
    return n

async def answer(reader, writer):
    writer.write(await reader.readline())
    writer.close()

async def lost():
    await asyncio.get_running_loop().create_future()

async def main():
    loop = asyncio.get_running_loop()
    order = []
    loop.call_soon(order.append, "soon")
    loop.call_soon(Loud())
    loop.call_soon_threadsafe(order.append, "safe")
    print(await asyncio.gather(*(query(n) for n in range(4)), return_exceptions=True), order)
    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(lost(), 0.001)
    print(await loop.run_in_executor(None, int, "7"))
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    writer.write(b"hello\n")
    print(await reader.readline())
    writer.close()
    server.close()
    task = asyncio.ensure_future(lost())
    await asyncio.sleep(0)
    del task
    gc.collect()
    asyncio.ensure_future(query(2))
    await asyncio.sleep(0.001)
    print(uvloop.Loop.call_soon.__name__, type(loop).__mro__)
    try:
        loop.call_soon()
    except TypeError as e:
        print("TypeError")

uvloop.install()
asyncio.run(main())
END
alike 0 same.weft same.py
equal 'tasks' "['fails', 'fails', 'fulfills', 'fulfills', 'fulfills']" \
    "$(facts same.weft 'sorted(r[2] for r in p if r[:2] == ("task", "query"))')"
equal 'the main task ran' True "$(facts same.weft 'sum(k == "switch" and name(f, "p") == "main" for k, f in events) > 0')"
equal 'who waits for the gathered' 4 "$(facts same.weft 'sum(w == ("gather", "query") for w in waits)')"
equal 'a job' "[('int', 'fulfills')]" "$(facts same.weft '[r[1:] for r in p if r[0] == "job" and r[1] == "int"]')"

cat >pool.py <<'END'
import asyncio, os, signal, uvloop

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
    tasks = [asyncio.ensure_future(handle(pool, n)) for n in range(6)]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    asyncio.get_running_loop().call_later(0.01, os.kill, os.getpid(), signal.SIGKILL)
    await tasks[5]

uvloop.install()
asyncio.run(main())
END
run 137 record pool.weft pool.py
equal 'what hangs' "['fails', 'fulfills', 'fulfills', 'fulfills', 'pending', 'pending']" \
    "$(facts pool.weft 'sorted(r[2] for r in p if r[:2] == ("task", "handle"))')"
equal 'for what' 5 "$(facts pool.weft 'sum(w[0] == "handle" and w[1].startswith("Semaphore pool.py:") for w in waits)')"
equal 'who has it' 4 "$(facts pool.weft 'sum(k == "signal" and name(f, "receiver") == "handle" for k, f in events) + sum(k == "fulfills" and name(f, "p").startswith("Semaphore") for k, f in events)')"
finish
