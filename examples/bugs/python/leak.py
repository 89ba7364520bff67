# SPDX-License-Identifier: ISC
# Each request starts a task that watches over it, and does not end it.
import asyncio
import sys

good = "good" in sys.argv
watchers = set()


async def watch(number):
    await asyncio.sleep(30)
    print("request", number, "takes long")


async def request(number):
    watcher = asyncio.create_task(watch(number))
    watchers.add(watcher)
    watcher.add_done_callback(watchers.discard)
    await asyncio.sleep(0.002)
    if good:
        watcher.cancel()


async def main():
    for number in range(60):
        await asyncio.create_task(request(number))


asyncio.run(main())
