# SPDX-License-Identifier: ISC
# A pool of three connections. A report keeps its connection while it sends what it has found.
import asyncio
import sys

good = "good" in sys.argv


async def query():
    await asyncio.sleep(0.002)


async def send():
    await asyncio.sleep(0.6)


async def handle(pool):
    async with pool:
        await query()


async def report(pool):
    async with pool:
        await query()
        if not good:
            await send()
    if good:
        await send()


async def main():
    pool = asyncio.Semaphore(3)
    await asyncio.gather(*(handle(pool) for _ in range(30)))
    reports = [asyncio.create_task(report(pool)) for _ in range(3)]
    await asyncio.sleep(0)
    await asyncio.gather(*(handle(pool) for _ in range(9)), *reports)
    print("all sent")


asyncio.run(main())
