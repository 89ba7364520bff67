# SPDX-License-Identifier: ISC
# Two transfers between the same accounts take the locks in different order.
import sys

import trio

good = "good" in sys.argv


class Account:
    def __init__(self, name):
        self.name = name
        self.lock = trio.Lock()


async def transfer(source, target):
    first, second = (source, target)
    if good:
        first, second = sorted((source, target), key=lambda account: account.name)
    async with first.lock:
        await trio.sleep(0.005)
        async with second.lock:
            print(source.name, "to", target.name)


async def main():
    a, b = Account("a"), Account("b")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(transfer, a, b)
        nursery.start_soon(transfer, b, a)


trio.run(main)
