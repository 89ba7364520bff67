# SPDX-License-Identifier: ISC
# A job that waits for another job of the same pool, which has no thread for it; a task that reads what a process never
# writes, and one that writes what a process never reads (../e2e/now_python.py).
#
# see thread 'pool_0' → awaits → concurrent.futures.Future second
# state concurrent.futures.Future second; pending: nobody has begun with it
# see thread 'asks' → awaits → concurrent.futures.Future first
# see concurrent.futures.Future first → is computed by → thread 'pool_0'
# state concurrent.futures.Future first; running
# see task reader → reads → descriptor
# see task writer → writes to → descriptor
# cycles 0
import asyncio
import concurrent.futures
import threading

pool = concurrent.futures.ThreadPoolExecutor(1, "pool")
second = None


def outer():
    global second
    second = pool.submit(len, "")
    second.result()  # at thread 'pool_0'


async def reader(process):
    await process.stdout.readline()  # at task reader


async def writer(process):
    while True:
        process.stdin.write(bytes(1 << 20))
        await process.stdin.drain()  # at task writer


async def main():
    global first
    first = pool.submit(outer)
    threading.Thread(target=first.result, name="asks", daemon=True).start()
    process = await asyncio.create_subprocess_exec("sleep", "100000", stdin=asyncio.subprocess.PIPE,
                                                   stdout=asyncio.subprocess.PIPE)
    keep = asyncio.create_task(writer(process), name="writer")
    asyncio.current_task().set_name("reader")
    print("ready", flush=True)
    await reader(process)
    await keep


asyncio.run(main())
