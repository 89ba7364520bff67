# SPDX-License-Identifier: ISC
# Two tasks that lock in opposite order, but give up after an hour: this is no deadlock (../e2e/now_python.py).
#
# see task first → locks → asyncio.Lock right
# see asyncio.Lock right → is held by → task second
# see task second → awaits → task inner
# see task inner → locks → asyncio.Lock left
# see asyncio.Lock left → is held by → task first
# see task main → awaits → asyncio.gather of 2
# see asyncio.gather of 2 → awaits → task first
# see asyncio.gather of 2 → awaits → task second
# state task second; waits in wait_for, at most LONG
# cycles 0
import asyncio

left = right = None


async def take(lock):
    await lock.acquire()  # at task inner


async def first():
    async with left:
        await asyncio.sleep(0)
        async with right:  # at task first
            pass


async def second():
    async with right:
        await asyncio.sleep(0)
        await asyncio.wait_for(asyncio.create_task(take(left), name="inner"), 3600)  # at task second


async def main():
    global left, right
    left, right = asyncio.Lock(), asyncio.Lock()
    asyncio.current_task().set_name("main")
    tasks = [asyncio.create_task(f(), name=f.__name__) for f in (first, second)]
    print("ready", flush=True)
    await asyncio.gather(*tasks)  # at task main


asyncio.run(main())
