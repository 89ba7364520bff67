# SPDX-License-Identifier: ISC
# Whether an export is done is looked at now and then. It is soon after one has looked for the second time.
import asyncio
import sys

good = "good" in sys.argv
PAUSE = 0.2


async def export(asked):
    await asked.wait()


async def download():
    asked, looks = asyncio.Event(), 0
    job = asyncio.create_task(export(asked))
    if good:
        asked.set()
        await job
    while not job.done():
        looks += 1
        if looks == 2:
            asked.set()
        await asyncio.sleep(PAUSE)


async def main():
    await asyncio.gather(*(download() for _ in range(8)))
    print("all there")


asyncio.run(main())
