# SPDX-License-Identifier: ISC
# A task that waits for a lock of threads, so that all others of its loop wait for it (python_locks.py says how this is read).
#
# see thread 'MainThread' → locks → threading.Lock guard
# see threading.Lock guard → is held by → thread 'keeper'
# see thread 'keeper' → waits for → threading.Event never
# see task greedy → runs on → thread 'MainThread'
# see task patient → comes after → task greedy
# see task late → comes after → task greedy
# see task main → awaits → task greedy
# state task greedy; runs
# state task patient; is ready to go on
# state task late; has not begun
# cycles 0
import asyncio
import threading

guard, never, kept = threading.Lock(), threading.Event(), threading.Event()


async def greedy():
    with guard:  # at task greedy
        pass


async def patient():
    await asyncio.sleep(0)


def keep():
    with guard:
        kept.set()
        never.wait()


async def main():
    asyncio.current_task().set_name("main")
    start = asyncio.create_task
    tasks = [start(patient(), name="patient"), start(greedy(), name="greedy"), start(patient(), name="late")]
    await tasks[1]


threading.Thread(target=keep, name="keeper").start()
kept.wait()
print("ready", flush=True)
asyncio.run(main())
