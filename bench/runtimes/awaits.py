# SPDX-License-Identifier: ISC
# For bench/run-runtimes: 100 000 awaits, of each sort. Prints the CPU time of one, in ns. Waits for a line first.
import asyncio
import select
import sys
import time

COUNT = 100_000


async def nothing():
    pass


async def turn():
    await asyncio.sleep(0)


async def future():
    loop = asyncio.get_running_loop()
    f = loop.create_future()
    loop.call_soon(f.set_result, None)
    await f


async def task():
    await asyncio.create_task(nothing())


async def main():
    while not select.select([sys.stdin], [], [], 0.001)[0]:  # weft switches in a call of the program's
        await turn()
    for what in (turn, future, task):
        begun = time.process_time_ns()
        for _ in range(COUNT):
            await what()
        print(what.__name__, (time.process_time_ns() - begun) / COUNT)


print("ready", flush=True)
asyncio.run(main())
