# SPDX-License-Identifier: ISC
# A pool of two connections. A query that fails does not give its connection back.
import sys

import trio

good = "good" in sys.argv
rows = []


async def query(n):
    await trio.sleep(0.005)
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


async def answer(pool, n):
    try:
        rows.append(await handle(pool, n))
    except ValueError as e:
        print(e)


async def main():
    pool = trio.Semaphore(2)
    async with trio.open_nursery() as nursery:
        for n in range(12):
            nursery.start_soon(answer, pool, n)
    print(len(rows), "rows")


trio.run(main)
