#!/bin/bash
# SPDX-License-Identifier: ISC
# Requests of aiohttp, uvicorn and Tornado are promises, and the server notices nothing.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/python_lib.sh"

cat >get.py <<'END'
import asyncio

TRACED = {  # what comes with a request, by its path
    "/users/7": "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000007-01\r\n",
    "/users/8?x=1": "TraceParent: 01-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000008-00-more\r\n",
    "/broken": "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000009-01-more\r\n",
    "/missing": 2 * "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-000000000000000a-01\r\n",
}

async def get(port, path):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: a\r\n{TRACED[path]}Connection: close\r\n\r\n".encode())
    status = await reader.readline()
    await reader.read()
    writer.close()
    await writer.wait_closed()
    return status.split()[1].decode()

async def get_all(port):
    for path in ("/users/7", "/users/8?x=1", "/broken", "/missing"):
        print(path, await get(port, path))
END
cat >aiohttp.py.txt <<'END'
import asyncio, logging
from aiohttp import web
from get import get_all

logging.getLogger("aiohttp").disabled = True
logging.getLogger("aiohttp.server").disabled = True

async def find(request):
    await asyncio.sleep(0)

async def user(request):
    await asyncio.create_task(find(request))
    return web.json_response({"id": request.match_info["id"]})

async def broken(request):
    raise RuntimeError("no")

async def main():
    app = web.Application()
    app.router.add_get("/users/{id}", user)
    app.router.add_get("/broken", broken)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    await get_all(runner.addresses[0][1])
    await runner.cleanup()

asyncio.run(main())
END
cat >uvicorn.py.txt <<'END'
import asyncio, importlib, inspect, uvicorn
from get import get_all

for protocol in ("h11_impl", "httptools_impl"):  # each has a class of its own
    try:
        cycle = importlib.import_module(f"uvicorn.protocols.http.{protocol}").RequestResponseCycle
        print(cycle.send.__module__, cycle.send.__code__.co_filename)
    except ImportError:
        pass

async def find(scope):
    await asyncio.sleep(0)

async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    print(inspect.ismethod(send), inspect.iscoroutinefunction(send), send.__name__)
    await asyncio.create_task(find(scope))
    if scope["path"] == "/broken":
        raise RuntimeError("no")
    status = 200 if scope["path"].startswith("/users/") else 404
    await send({"type": "http.response.start", "status": status, "headers": []})
    await send({"type": "http.response.body", "body": b"text"})

async def main():
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical", http="h11"))
    serves = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0)
    await get_all(server.servers[0].sockets[0].getsockname()[1])
    server.should_exit = True
    await serves

asyncio.run(main())
END
cat >tornado.py.txt <<'END'
import asyncio, logging, tornado.httpserver, tornado.netutil, tornado.web
from get import get_all

for name in ("access", "application"):
    logging.getLogger("tornado." + name).disabled = True

async def find(id):
    await asyncio.sleep(0)

class User(tornado.web.RequestHandler):
    async def get(self, id):
        await asyncio.create_task(find(id))
        self.write({"id": id})

class Broken(tornado.web.RequestHandler):
    def get(self):
        raise RuntimeError("no")

async def main():
    app = tornado.web.Application([(r"/users/(\d+)", User), ("/broken", Broken)])
    sockets = tornado.netutil.bind_sockets(0, "127.0.0.1")
    server = tornado.httpserver.HTTPServer(app)
    server.add_sockets(sockets)
    await get_all(sockets[0].getsockname()[1])
    server.stop()
    await server.close_all_connections()

asyncio.run(main())
END

tried=0
for server in aiohttp uvicorn tornado; do
    "$python" -c "import $server" 2>/dev/null || continue
    tried=$((tried + 1))
    cp "$server.py.txt" "serve_$server.py"
    alike 0 "$server.weft" "serve_$server.py"
    equal "$server's requests" \
        "[('GET /broken', 'fails'), ('GET /missing', 'fails'), ('GET /users/7', 'fulfills'), ('GET /users/8', 'fulfills')]" \
        "$(facts "$server.weft" 'sorted(r[1:] for r in p if r[0] == "request")')"
    equal "$server's statuses" "['\"404\"', '\"500\"']" \
        "$(facts "$server.weft" 'sorted(f["exception"] for k, f in events if k == "fails" and rows[f["p"]][0] == "request")')"
    equal "what hangs under $server's requests" True \
        "$(facts "$server.weft" '{name(f, "parent") for k, f in events if k == "creates" and rows[f["child"]][1] == "find"} >= {"GET /users/7", "GET /users/8"}')"
    equal "$server's requests must end" 4 \
        "$(facts "$server.weft" 'sum(k == "should_resolve" and rows[f["p"]][0] == "request" for k, f in events)')"
    equal "spans that caused $server's requests" \
        "[('GET /users/7', '4bf92f3577b34da6a3ce929d0e0e4736-0000000000000007'), ('GET /users/8', '4bf92f3577b34da6a3ce929d0e0e4736-0000000000000008')]" \
        "$(facts "$server.weft" 'sorted((name(f, "p"), f["ids"].strip(chr(34))) for k, f in events if k == "span_parent")')"
    equal "what $server did for them" "find user" \
        "$("$WEFT" promises --trace 4bf92f "$server.weft" | awk -F '\t' '$8 == "find" { a = "find" } $2 == "request" { n++ } END { print a, n == 2 ? "user" : n }')"
    equal "what is wrong with $server" '' "$(findings "$server.weft")"
done

# ---- Another version, in which nothing is where it was ----
mkdir -p other/aiohttp
touch other/aiohttp/__init__.py
cat >other/aiohttp/web_protocol.py <<'END'
class RequestHandler:
    async def _handle_request(self, something_else):
        pass
END
run 0 env PYTHONPATH="$tmp/other" "$WEFT" record --force -o o.weft -- "$python" -c \
    'import asyncio, aiohttp.web_protocol; asyncio.run(asyncio.sleep(0))'
says "$tmp/err" '^weft: nothing is recorded of aiohttp.web_protocol, which is not as expected: AttributeError\(.*; the program runs on$'
equal 'lines about it' 1 "$(grep -c 'not as expected' "$tmp/err")"
says "$tmp/err" '^weft: o.weft: [0-9]+ events'
[ "$tried" -gt 0 ] || echo "no server is installed for $python"
finish
