# SPDX-License-Identifier: ISC
# A buffer for one thing has one condition, at which both sides wait. Whoever is told of a change may be of the wrong side.
import asyncio
import sys

good = "good" in sys.argv


class Buffer:
    def __init__(self):
        self.items = []
        self.changed = asyncio.Condition()

    def tell(self):
        if good:
            self.changed.notify_all()
        else:
            self.changed.notify()

    async def put(self, item):
        async with self.changed:
            while self.items:
                await self.changed.wait()
            self.items.append(item)
            self.tell()

    async def get(self):
        async with self.changed:
            while not self.items:
                await self.changed.wait()
            self.tell()
            return self.items.pop()


async def produce(buffer, number):
    await buffer.put(number)


async def consume(buffer):
    print("got", await buffer.get())


async def main():
    buffer = Buffer()
    consumers = [asyncio.create_task(consume(buffer)) for _ in range(3)]
    producers = [asyncio.create_task(produce(buffer, n)) for n in range(3)]
    await asyncio.gather(*consumers, *producers)


asyncio.run(main())
