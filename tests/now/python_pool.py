# SPDX-License-Identifier: ISC
# A job that waits for another job of the same pool, which has no other thread for it, and one whose pool has a thread that might; a
# task that reads what a process never writes, and one that writes what a process never reads (../e2e/now_python.py).
#
# see thread 'pool_0' → awaits → concurrent.futures.Future second
# see concurrent.futures.Future second → is to be computed by → thread 'pool_0'
# state concurrent.futures.Future second; pending: nobody has begun with it
# see thread 'pair_0' → waits for → threading.Event never
# see thread 'pair_1' → awaits → concurrent.futures.Future third
# see concurrent.futures.Future third ⇢ is to be computed by ⇢ thread 'pair_0'
# see concurrent.futures.Future third ⇢ is to be computed by ⇢ thread 'pair_1'
# see thread 'asks' → awaits → concurrent.futures.Future first
# see concurrent.futures.Future first → is computed by → thread 'pool_0'
# state concurrent.futures.Future first; running
# see task reader → reads → descriptor
# see task writer → writes to → descriptor
# cycles 1
import asyncio
import concurrent.futures
import threading

pool = concurrent.futures.ThreadPoolExecutor(1, "pool")
pair = concurrent.futures.ThreadPoolExecutor(2, "pair")
begun, never = threading.Event(), threading.Event()
second = third = None


def outer():
    global second
    second = pool.submit(len, "")
    second.result()  # at thread 'pool_0'


def rests():
    begun.set()
    never.wait()  # at thread 'pair_0'


def waits():
    global third
    begun.wait()
    third = pair.submit(len, "")
    third.result()  # at thread 'pair_1'


async def reader(process):
    await process.stdout.readline()  # at task reader


async def writer(process):
    while True:
        process.stdin.write(bytes(1 << 20))
        await process.stdin.drain()  # at task writer


async def main():
    global first
    first = pool.submit(outer)
    pair.submit(rests)
    pair.submit(waits)
    threading.Thread(target=first.result, name="asks", daemon=True).start()
    process = await asyncio.create_subprocess_exec("sleep", "100000", stdin=asyncio.subprocess.PIPE,
                                                   stdout=asyncio.subprocess.PIPE)
    keep = asyncio.create_task(writer(process), name="writer")
    asyncio.current_task().set_name("reader")
    print("ready", flush=True)
    await reader(process)
    await keep


asyncio.run(main())
