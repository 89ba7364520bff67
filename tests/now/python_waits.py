# SPDX-License-Identifier: ISC
# A task for each kind of thing that one can wait for (python_locks.py says how this is read).
#
# see task main → awaits → asyncio.gather of 3
# see asyncio.gather of 3 → awaits → task napper
# see task napper → waits for → timer
# see task consumer → gets from → asyncio.Queue Server.jobs
# see task producer → puts into → asyncio.Queue Server.full
# see task starter → waits for → asyncio.Event Server.started
# see task changer → waits for → asyncio.Condition Server.changed
# see task forever → awaits → asyncio.Future reply
# see task shielded → awaits → asyncio.Future at 0x
# see asyncio.Future at 0x → awaits → asyncio.Future reply
# see task threaded → awaits → asyncio.Future at 0x
# see asyncio.Future at 0x → awaits → concurrent.futures.Future at 0x
# see concurrent.futures.Future at 0x → is computed by → thread 'pool_0'
# see thread 'pool_0' → waits for → threading.Event at 0x
# see task generating → waits for → timer
# see task awaiter → awaits → task napper
# see task first-of ⇢ awaits ⇢ task napper
# see task first-of ⇢ awaits ⇢ task forever
# see task all-of → awaits → task napper
# see task all-of → awaits → task forever
# see task listed → locks → asyncio.Lock locks[1]
# see task named → locks → asyncio.Lock locks['b']
# see task child → waits for the end of → process
# see task reader → reads → descriptor
# see task connection → reads → descriptor
# see task queued → waits for all items of → asyncio.Queue Server.full
# state task begun; waits in Awaitable.__await__
# state task napper; sleeps for 1 h
# state asyncio.Queue Server.jobs; empty
# state asyncio.Queue Server.full; 1 of at most 1 items
# state asyncio.Event Server.started; not set
# state asyncio.gather of 3; 1 of 3 not done
# see task begun → awaits → asyncio.Future Awaitable.inner
# cycles 0
import asyncio
import concurrent.futures
import socket
import threading


class Server:
    def __init__(self):
        self.jobs = asyncio.Queue()
        self.full = asyncio.Queue(maxsize=1)
        self.started = asyncio.Event()
        self.changed = asyncio.Condition()

    async def consume(self):
        while True:
            await self.jobs.get()  # at task consumer

    async def produce(self):
        await self.full.put(1)
        await self.full.put(2)

    async def drain(self):
        await self.full.join()

    async def start(self):
        await self.started.wait()  # at task starter

    async def change(self):
        async with self.changed:
            await self.changed.wait()  # at task changer


async def nap():
    await asyncio.sleep(3600)


async def forever(reply):
    await reply  # at task forever


async def shielded(reply):
    await asyncio.shield(reply)


async def threaded(pool, event):
    await asyncio.get_running_loop().run_in_executor(pool, event.wait)


async def numbers():
    while True:
        await asyncio.sleep(3600)  # at task generating
        yield 1


async def generating():
    async for _ in numbers():
        pass


async def awaiter(task):
    await task


async def first_of(tasks):
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)


async def all_of(tasks):
    await asyncio.wait(tasks)


async def locked(locks, key):
    await locks[key].acquire()


async def child():
    process = await asyncio.create_subprocess_exec("cat", stdin=asyncio.subprocess.PIPE)
    await process.wait()


async def reader(stream):
    await stream.readline()


async def connection(sock):
    await asyncio.get_running_loop().sock_recv(sock, 1)


class Awaitable:
    def __init__(self, inner):
        self.inner = inner

    def __await__(self):
        inner = self.inner
        return (yield from inner)  # at task begun


async def begun(inner):
    await Awaitable(inner)


async def done():
    pass


async def main():
    asyncio.current_task().set_name("main")
    server, loop = Server(), asyncio.get_running_loop()
    kept = []
    reply, inner, event = loop.create_future(), loop.create_future(), threading.Event()
    pool = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="pool")
    ends, listener = socket.socketpair(), await asyncio.start_server(lambda r, w: kept.append(w), "127.0.0.1", 0)
    stream, writer = await asyncio.open_connection(*listener.sockets[0].getsockname())
    locks = [asyncio.Lock(), asyncio.Lock()]
    others = {"a": asyncio.Lock(), "b": asyncio.Lock()}
    ends[0].setblocking(False)
    await locks[1].acquire()
    await others["b"].acquire()

    def start(coroutine, name):
        kept.append(asyncio.create_task(coroutine, name=name))
        return kept[-1]

    napper, never = start(nap(), "napper"), start(forever(reply), "forever")
    start(server.consume(), "consumer"), start(server.produce(), "producer"), start(server.start(), "starter")
    start(server.change(), "changer"), start(shielded(reply), "shielded"), start(threaded(pool, event), "threaded")
    start(generating(), "generating"), start(awaiter(napper), "awaiter"), start(first_of([napper, never]), "first-of")
    start(all_of([napper, never]), "all-of"), start(locked(locks, 1), "listed"), start(locked(others, "b"), "named")
    start(child(), "child"), start(reader(stream), "reader"), start(connection(ends[0]), "connection")
    start(server.drain(), "queued"), start(begun(inner), "begun")
    tasks = [start(done(), "one"), start(done(), "two"), napper]
    print("ready", flush=True)
    await asyncio.gather(*tasks)


asyncio.run(main())
