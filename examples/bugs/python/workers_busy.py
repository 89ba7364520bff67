# SPDX-License-Identifier: ISC
# Thumbnails and films are made by the same two threads.
import asyncio
import sys
import time
from concurrent.futures import ThreadPoolExecutor

good = "good" in sys.argv


def thumbnail():
    time.sleep(0.001)


def film():
    time.sleep(0.4)


async def main():
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(2) as pictures, ThreadPoolExecutor(2) as others:
        films = pictures if not good else others
        await asyncio.gather(*(loop.run_in_executor(pictures, thumbnail) for _ in range(20)))
        jobs = [loop.run_in_executor(films, film) for _ in range(2)]
        for _ in range(6):
            jobs.append(loop.run_in_executor(pictures, thumbnail))
            await asyncio.sleep(0.02)
        await asyncio.gather(*jobs)
    print("all made")


asyncio.run(main())
