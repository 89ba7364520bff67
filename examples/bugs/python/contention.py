# SPDX-License-Identifier: ISC
# One lock for all accounts is held while the database is asked.
import asyncio
import sys

good = "good" in sys.argv


async def read_balance():
    await asyncio.sleep(0.01)
    return 1


async def deposit(lock):
    async with lock:
        await read_balance()


async def client(lock):
    for _ in range(6):
        await deposit(lock)
        await asyncio.sleep(0.005)


async def main():
    common = asyncio.Lock()
    await asyncio.gather(*(client(asyncio.Lock() if good else common) for _ in range(8)))
    print("all booked")


asyncio.run(main())
