# SPDX-License-Identifier: ISC
# The worker is told that there is work before it listens.
import asyncio
import sys

good = "good" in sys.argv
jobs = []


async def worker(filled):
    await asyncio.sleep(0.01)
    async with filled:
        if good:
            await filled.wait_for(lambda: jobs)
        else:
            await filled.wait()
        print("job", jobs.pop())


async def main():
    filled = asyncio.Condition()
    task = asyncio.create_task(worker(filled))
    async with filled:
        jobs.append(1)
        filled.notify()
    await task


asyncio.run(main())
