# SPDX-License-Identifier: ISC
# Tasks of trio: two that lock in opposite order, and one for each other kind of thing to wait for (python_locks.py says how this is
# read). Which of the children a nursery has begun first differs, so names are given.
#
# see task first → locks → trio.Lock right
# see trio.Lock right → is held by → task second
# see task second → locks → trio.Lock left
# see trio.Lock left → is held by → task first
# see task taker → gets from → trio.MemoryReceiveChannel channel
# see task reader → reads → descriptor
# see task waiter → waits for → trio.Event never
# see task patient → waits for → trio.Event never
# see task __main__.main → awaits → task first
# see task __main__.main → awaits → task second
# see task __main__.main → awaits → task taker
# see task __main__.main → awaits → task reader
# see task __main__.main → awaits → task waiter
# see task __main__.main → awaits → task patient
# see task __main__.main → awaits → task napper
# state trio.Event never; not set
# state task napper; sleeps for 1 h, with a timeout
# state task patient; waits in Event.wait, with a timeout
# cycles 1
try:
    import trio
except ImportError:
    print("lacks a module", flush=True)
    raise SystemExit(0)


async def first(left, right, mine, other):
    async with left:
        mine.set()
        await other.wait()
        async with right:  # at task first
            pass


async def second(left, right, mine, other):
    async with right:
        mine.set()
        await other.wait()
        async with left:  # at task second
            pass


async def take(channel):
    await channel.receive()  # at task taker


async def read(end):
    await end.recv(1)  # at task reader


async def wait(never):
    await never.wait()  # at task waiter


async def give_up(never):
    with trio.move_on_after(3600):
        await never.wait()  # at task patient


async def main():
    left, right, one, other, never = trio.Lock(), trio.Lock(), trio.Event(), trio.Event(), trio.Event()
    sender, receiver = trio.open_memory_channel(0)
    end, opposite = trio.socket.socketpair()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(first, left, right, one, other, name="first")
        nursery.start_soon(second, left, right, other, one, name="second")
        nursery.start_soon(take, receiver, name="taker")
        nursery.start_soon(read, end, name="reader")
        nursery.start_soon(wait, never, name="waiter")
        nursery.start_soon(give_up, never, name="patient")
        nursery.start_soon(trio.sleep, 3600, name="napper")
        await trio.testing.wait_all_tasks_blocked()
        print("ready", flush=True)


import trio.testing

trio.run(main)
