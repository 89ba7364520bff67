# SPDX-License-Identifier: ISC
# For bench/run-runtimes: a server of aiohttp. Prints its port; after a line the CPU time of each request since, in ns.
import asyncio
import sys
import time

from aiohttp import web

answered = 0


async def find(number):
    await asyncio.sleep(0)
    return {"id": number, "name": "somebody"}


async def user(request):
    global answered
    answered += 1
    return web.json_response(await find(int(request.match_info["number"])))


async def main():
    global answered
    app = web.Application()
    app.router.add_get("/users/{number}", user)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print("ready", runner.addresses[0][1], flush=True)
    loop = asyncio.get_running_loop()
    lines = asyncio.Queue()
    loop.add_reader(0, lambda: lines.put_nowait(sys.stdin.readline()))
    await lines.get()
    answered, begun = 0, time.process_time_ns()
    print("begun", flush=True)
    await lines.get()
    print("request", (time.process_time_ns() - begun) / max(answered, 1), flush=True)
    loop.remove_reader(0)
    await runner.cleanup()


asyncio.run(main())
