# SPDX-License-Identifier: ISC
# A pool of two connections is a queue. A query that fails takes its connection with it.
import asyncio
import sys

good = "good" in sys.argv


class Connection:
    async def query(self, number):
        await asyncio.sleep(0.002)
        if number < 2:
            raise ValueError(f"bad row {number}")
        return number


async def handle(pool, number):
    connection = await pool.get()
    if good:
        try:
            return await connection.query(number)
        finally:
            pool.put_nowait(connection)
    row = await connection.query(number)
    pool.put_nowait(connection)
    return row


async def main():
    pool = asyncio.Queue()
    for _ in range(2):
        pool.put_nowait(Connection())
    tasks = [asyncio.create_task(handle(pool, number)) for number in range(12)]
    print(await asyncio.gather(*tasks, return_exceptions=True))


asyncio.run(main())
