# SPDX-License-Identifier: ISC
# Eight pictures that have nothing to do with each other are fetched one after the other.
import asyncio
import sys

good = "good" in sys.argv


async def fetch(name):
    await asyncio.sleep(0.01)
    return name


async def page():
    names = [f"{n}.jpg" for n in range(8)]
    if good:
        return await asyncio.gather(*(fetch(name) for name in names))
    return [await fetch(name) for name in names]


async def main():
    print(len(await page()), "pictures")


asyncio.run(main())
