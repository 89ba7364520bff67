# SPDX-License-Identifier: ISC
# The server refuses for a while, and the client tries again at once.
import asyncio
import sys

good = "good" in sys.argv
refusals = 5 if good else 300


async def connect():
    global refusals
    await asyncio.sleep(0)
    refusals -= 1
    if refusals >= 0:
        raise ConnectionError("refused")


async def session():
    pause = 0.002
    while True:
        try:
            return await asyncio.create_task(connect())
        except ConnectionError:
            if good:
                await asyncio.sleep(pause)
                pause *= 2


async def main():
    await asyncio.create_task(session())
    print("connected")


asyncio.run(main())
