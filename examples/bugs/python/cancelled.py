# SPDX-License-Identifier: ISC
# A download is cancelled. It catches that, and whoever waits for its result is not told.
import asyncio
import sys

good = "good" in sys.argv


async def download(done):
    try:
        await asyncio.sleep(30)
        done.set_result("file")
    except asyncio.CancelledError:
        if good:
            done.cancel()
        raise


async def show(done):
    try:
        print(await done)
    except asyncio.CancelledError:
        print("no file")


async def main():
    done = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(download(done))
    shown = asyncio.create_task(show(done))
    await asyncio.sleep(0.01)
    task.cancel()
    await shown


asyncio.run(main())
