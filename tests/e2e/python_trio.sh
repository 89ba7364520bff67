#!/bin/bash
# SPDX-License-Identifier: ISC
# Tasks of trio, what they wait for and how they end, and the program notices nothing.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/python_lib.sh"
"$python" -c 'import trio' 2>/dev/null || skip "$python has no trio"

cat >same.py <<'END'
import inspect, sys
from importlib.util import find_spec

print(find_spec("trio") is not None, "asyncio" in sys.modules)
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

order = []

async def child(n, lock, send, all_sent):
    async with lock, send:
        await trio.sleep(0)
        await send.send(n)
    await all_sent.wait()
    order.append("set")

async def take(receive):
    async for n in receive:
        order.append(n)

async def listen(condition):
    async with condition:
        await condition.wait()

async def never(scope):
    with scope:
        await trio.sleep_forever()

async def fail():
    await trio.sleep(0)
    raise KeyError("no")

async def echo(stream):
    async for data in stream:
        await wait_all_tasks_blocked()
        await stream.send_all(data)

async def serve():
    async with trio.open_nursery() as nursery:
        listeners = await nursery.start(trio.serve_tcp, echo, 0)
        stream = await trio.open_tcp_stream("127.0.0.1", listeners[0].socket.getsockname()[1])
        await stream.send_all(b"hello")
        print(await stream.receive_some(10))
        nursery.cancel_scope.cancel()

async def numbers():
    for n in range(2):
        await wait_all_tasks_blocked()
        yield n

async def main():
    lock, condition, all_sent, scope = trio.Lock(), trio.Condition(), trio.Event(), trio.CancelScope()
    send, receive = trio.open_memory_channel(0)
    async with trio.open_nursery() as nursery:
        for n in range(3):
            nursery.start_soon(child, n, lock, send.clone(), all_sent)
        send.close()
        nursery.start_soon(take, receive)
        nursery.start_soon(listen, condition)
        nursery.start_soon(never, scope)
        print(await trio.to_thread.run_sync(int, "7"))
        await wait_all_tasks_blocked()
        async with condition:
            condition.notify()
        scope.cancel()
        await wait_all_tasks_blocked()
        all_sent.set()
    print(sorted(order, key=str))
    print([n async for n in numbers()])
    await serve()
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(fail)
            nursery.start_soon(trio.sleep, 10)
    except BaseException as e:
        print(type(e))
    with trio.move_on_after(0.001) as scope:
        await trio.Event().wait()
    print(scope.cancelled_caught, trio.Event.set.__name__, list(inspect.signature(trio.Condition().notify).parameters.items())[0][1].default)
    print(inspect.iscoroutinefunction(trio.Lock.acquire), [m for m in sys.modules if "weft" in m])

trio.run(main)
trio.run(trio.sleep, 5, clock=MockClock(autojump_threshold=0))
END
alike 0 same.weft same.py
# outcomes TYPE LABEL: how promises of these ended
outcomes() {
    facts same.weft "sorted(r[2] for r in p if r[0] == '$1' and r[1].startswith('$2'))"
}
equal 'tasks' "['fulfills', 'fulfills', 'fulfills']" "$(outcomes task child)"
equal 'one whose wait is cancelled, and goes on' "['fulfills']" "$(outcomes task never)"
equal 'what that waited for' "['cancels']" "$(outcomes wait sleep_forever)"
equal 'one that fails, and the other one of its nursery, and a main one' "['fails'] ['cancels', 'fulfills']" "$(outcomes task fail) $(outcomes task sleep)"
equal 'sleeps' "['fulfills'] ['cancels']" "$(outcomes sleep 'sleep 5 s') $(outcomes sleep 'sleep 10 s')"
equal 'a thread' "[('int', 'fulfills')]" "$(facts same.weft '[r[1:] for r in p if r[0] == "job"]')"
equal 'a nursery waits for its tasks' "[('nursery same.py:54', 'child')]" \
    "$(facts same.weft 'sorted(set(w for w in waits if w[1] in ("child", "listen", "never")))')"
equal 'who waits for a channel' True "$(facts same.weft '("take", "channel same.py:53") in waits')"
equal 'who waits for an event' 3 "$(facts same.weft 'waits.count(("child", "Event same.py:52 #3"))')"
equal 'who waits for a condition, and then its lock' 2 \
    "$(facts same.weft 'sum(w[0] == "listen" and ("Condition same.py" in w[1] or "Lock of Condition same.py" in w[1]) for w in waits)')"
equal 'through an asynchronous generator' 2 "$(facts same.weft 'waits.count(("numbers", "wait_all_tasks_blocked"))')"
equal 'what a connection waits for' True "$(facts same.weft 'any(w[1] == "SocketStream.receive_some" for w in waits)')"
equal 'what is left' "[]" "$(facts same.weft '[r for r in p if r[2] == "pending" and r[0] not in ("condition", "event") and not r[0].endswith(".acquire")]')"
equal 'the loop sleeps' True "$(facts same.weft 'any(k == "suspend" for k, f in events)')"
equal 'what is wrong with same' '' "$(findings same.weft)"

# ---- A server, killed ----
cat >serve.py <<'END'
import os, signal, trio

async def answer(stream):
    await stream.send_all(b"hello")

async def ask(listener):
    stream = await trio.open_tcp_stream("127.0.0.1", listener.socket.getsockname()[1])
    await stream.receive_some(10)
    os.kill(os.getpid(), signal.SIGKILL)

async def main():
    async with trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(0)
        nursery.start_soon(ask, listeners[0])
        await trio.serve_listeners(answer, listeners)

trio.run(main)
END
run 137 record serve.weft serve.py
equal 'what is wrong with serve' '' "$(findings serve.weft)"

# ---- trio and asyncio, one after the other ----
cat >both.py <<'END'
import trio
trio.run(trio.sleep, 0.001)
import asyncio
asyncio.run(asyncio.sleep(0.001))
END
sed '1,2d' both.py >first.py
sed '3,4d' both.py >>first.py
for program in both first; do
    alike 0 $program.weft $program.py
    equal "tasks of $program" 2 "$(facts $program.weft 'p.count(("task", "sleep", "fulfills"))')"
done
finish
