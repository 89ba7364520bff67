# SPDX-License-Identifier: ISC
# The disk is full once, and the lock is not given back. Who waits for it gives up after a while, and others come.
import asyncio
import sys

good = "good" in sys.argv
LIMIT = 0.4


async def write(number):
    await asyncio.sleep(0.002)
    if number == 12:
        raise OSError("disk full")


async def save(lock, number):
    if good:
        async with lock:
            await write(number)
        return
    await lock.acquire()
    await write(number)
    lock.release()


async def handle(lock, number):
    try:
        await asyncio.wait_for(save(lock, number), LIMIT)
    except (OSError, asyncio.TimeoutError) as e:
        print(number, repr(e))


async def main():
    lock = asyncio.Lock()
    await asyncio.gather(*(handle(lock, number) for number in range(12)))
    await asyncio.gather(*(handle(lock, number) for number in range(12, 18)))


asyncio.run(main())
