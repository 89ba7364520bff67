# SPDX-License-Identifier: ISC
# A pool of two connections. A query that fails does not give its connection back.
import asyncio
import sys

good = "good" in sys.argv


async def query(n):
    await asyncio.sleep(0.005)
    if n in (3, 6):
        raise ValueError(f"bad row {n}")
    return n


async def handle(pool, n):
    if good:
        async with pool:
            return await query(n)
    await pool.acquire()
    row = await query(n)
    pool.release()
    return row


async def main():
    pool = asyncio.Semaphore(2)
    rows = await asyncio.gather(*(handle(pool, n) for n in range(12)), return_exceptions=True)
    print(sum(isinstance(row, int) for row in rows), "rows")


asyncio.run(main())
