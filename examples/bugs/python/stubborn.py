# SPDX-License-Identifier: ISC
# A worker is to survive whatever a job does, and so it survives that it is cancelled: whoever ends it waits for ever.
import asyncio
import sys

good = "good" in sys.argv
survives = ValueError if good else (ValueError, asyncio.CancelledError)


async def work(jobs):
    while True:
        try:
            number = await jobs.get()
            if number == 3:
                raise ValueError(f"bad job {number}")
            print("job", number)
        except survives as e:
            print("went on after", repr(e))


async def stop(worker):
    worker.cancel()
    try:
        await worker
    except asyncio.CancelledError:
        print("stopped")


async def main():
    jobs = asyncio.Queue()
    worker = asyncio.create_task(work(jobs))
    for number in range(6):
        jobs.put_nowait(number)
        await asyncio.sleep(0.001)
    await stop(worker)


asyncio.run(main())
