# SPDX-License-Identifier: ISC
# Two tasks that lock in opposite order, and two that wait for a semaphore that a third has. What follows "see" must be in
# the graph, and nothing else that matters to the reader (../e2e/now_python.py).
#
# see task first → locks → asyncio.Lock store.cache_lock
# see asyncio.Lock store.cache_lock → is held by → task second
# see task second → locks → asyncio.Lock db_lock
# see asyncio.Lock db_lock → is held by → task first
# see task worker-0 → awaits → asyncio.Future Holder.answer
# see task worker-1 → locks → asyncio.Semaphore limit
# see task taker → locks → asyncio.Semaphore limit
# see asyncio.Semaphore limit ⇢ is held by ⇢ task worker-0
# see task main → awaits → asyncio.gather of 5
# see asyncio.gather of 5 → awaits → task first
# see asyncio.gather of 5 → awaits → task second
# see asyncio.gather of 5 → awaits → task worker-0
# see asyncio.gather of 5 → awaits → task worker-1
# see asyncio.gather of 5 → awaits → task taker
# cycles 1
import asyncio

db_lock = limit = None


class Store:
    def __init__(self):
        self.cache_lock = asyncio.Lock()


class Holder:
    async def work(self):
        async with limit:
            self.answer = asyncio.get_running_loop().create_future()
            await self.answer  # at task worker-0


async def first(store):
    async with db_lock:
        await asyncio.sleep(0)
        async with store.cache_lock:  # at task first
            pass


async def second(store):
    async with store.cache_lock:
        async with asyncio.Lock():  # nobody waits for it
            pass
        await asyncio.sleep(0)
        async with db_lock:  # at task second
            pass


async def worker():
    async with limit:
        pass


async def taker():
    await limit.acquire()


async def main():
    global db_lock, limit
    db_lock, limit = asyncio.Lock(), asyncio.Semaphore(1)
    asyncio.current_task().set_name("main")
    store = Store()
    start = asyncio.create_task
    tasks = [start(first(store), name="first"), start(second(store), name="second"),
             start(Holder().work(), name="worker-0"), start(worker(), name="worker-1"), start(taker(), name="taker")]
    print("ready", flush=True)
    await asyncio.gather(*tasks)  # at task main


asyncio.run(main())
