# SPDX-License-Identifier: ISC
# A loop that waits for what it would have to do itself, and one that waits for it, too, but not for ever (python_locks.py says how
# this is read).
#
# see task main → runs on → thread 'MainThread'
# see thread 'MainThread' → awaits → concurrent.futures.Future wanted
# see concurrent.futures.Future wanted → comes after → task main
# see task patient → runs on → thread 'limited'
# see thread 'limited' → awaits → concurrent.futures.Future hoped
# see concurrent.futures.Future hoped → comes after → task patient
# cycles 1
import asyncio
import concurrent.futures
import threading


async def answer():
    return 42


async def patient():
    loop = asyncio.get_running_loop()
    asyncio.current_task().set_name("patient")
    other = concurrent.futures.Future()

    def callback():  # it has a future, too, but need not be the one to end it
        return other

    for _ in range(100):
        loop.call_soon(callback)
    hoped = asyncio.run_coroutine_threadsafe(answer(), loop)
    begun.set()
    hoped.result(100000)


async def main():
    asyncio.current_task().set_name("main")
    wanted = asyncio.run_coroutine_threadsafe(answer(), asyncio.get_running_loop())
    print("ready", flush=True)
    wanted.result()  # at thread 'MainThread'


begun = threading.Event()
threading.Thread(target=asyncio.run, args=[patient()], name="limited", daemon=True).start()
begun.wait()
asyncio.run(main())
