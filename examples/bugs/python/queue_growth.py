# SPDX-License-Identifier: ISC
# Orders come faster than one worker can ship them, and nobody refuses any.
import asyncio
import sys

good = "good" in sys.argv


async def ship(orders):
    while True:
        shipped = await orders.get()
        await asyncio.sleep(0.015)
        shipped.set_result(True)


async def order(orders):
    shipped = asyncio.get_running_loop().create_future()
    orders.put_nowait(shipped)
    await shipped


async def main():
    orders = asyncio.Queue()
    workers = [asyncio.create_task(ship(orders)) for _ in range(12 if good else 1)]
    coming = []
    for _ in range(64):
        coming.append(asyncio.create_task(order(orders)))
        await asyncio.sleep(0.006)
    await asyncio.gather(*coming)
    for worker in workers:
        worker.cancel()
    print("all shipped")


asyncio.run(main())
