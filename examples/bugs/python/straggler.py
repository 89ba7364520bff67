# SPDX-License-Identifier: ISC
# A search asks four shards. One of them is slow each time.
import asyncio
import sys

good = "good" in sys.argv


class Shard:
    def __init__(self, number):
        self.number = number

    async def find(self):
        await asyncio.sleep(0.2 if self.number == 2 and not good else 0.005)


async def search(shards):
    await asyncio.gather(*(shard.find() for shard in shards))


async def main():
    shards = [Shard(number) for number in range(4)]
    for _ in range(6):
        await search(shards)
    print("all found")


asyncio.run(main())
