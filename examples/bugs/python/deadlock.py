# SPDX-License-Identifier: ISC
# Two transfers between the same accounts take the locks in different order.
import asyncio
import sys

good = "good" in sys.argv


class Account:
    def __init__(self, name):
        self.name = name
        self.lock = asyncio.Lock()


async def transfer(source, target):
    first, second = (source, target)
    if good:
        first, second = sorted((source, target), key=lambda account: account.name)
    async with first.lock:
        await asyncio.sleep(0.005)
        async with second.lock:
            print(source.name, "to", target.name)


async def main():
    a, b = Account("a"), Account("b")
    await asyncio.gather(transfer(a, b), transfer(b, a))


asyncio.run(main())
