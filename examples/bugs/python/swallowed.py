# SPDX-License-Identifier: ISC
# A task writes the report. It fails, and nobody looks.
import asyncio
import sys

good = "good" in sys.argv
reports = []


async def write_report(text):
    await asyncio.sleep(0.005)
    if not good:
        raise OSError("disk full")
    print(text)


async def main():
    reports.append(asyncio.create_task(write_report("all is well")))
    await asyncio.sleep(0.1)
    print("done")


asyncio.run(main())
