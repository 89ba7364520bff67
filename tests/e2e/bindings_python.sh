#!/bin/bash
# SPDX-License-Identifier: ISC
# bindings/python: what a program says by it stands in the trace; without a recording it does nothing.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/python_lib.sh"
package=$SOURCE_ROOT/bindings/python
export PYTHONPATH=$package/src

run 0 "$python" -m unittest discover -s "$package/tests"
says "$tmp/err" '^Ran [1-9][0-9]* tests'
says "$tmp/err" '^OK$'

cat >app.py <<'END'
import asyncio
from concurrent.futures import ThreadPoolExecutor

import weft

jobs = weft.counter("jobs")


class Odd:
    def __getattr__(self, name):
        print("asked for", name)
        raise AttributeError(name)


def work():
    weft.label("in a thread")


async def job(n):
    jobs.add()
    weft.label(f"number {n}")
    await asyncio.sleep(0)
    weft.counter("jobs").set(10 * n)
    jobs.add(2.9)
    jobs.add("many")
    jobs.add(1 << 64)


async def lose(loop):
    lost = loop.create_future()
    weft.mark(lost)
    weft.label("nobody's", lost)
    weft.traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
    weft.traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-b7ad6b7169203331-01", lost, sent=True)
    weft.traceparent("something else", lost)
    weft.snapshot("by night")
    kept.append(lost)


async def main():
    loop = asyncio.get_running_loop()
    done = loop.create_future()
    done.set_result(1)
    pending, other = loop.create_future(), asyncio.create_task(job(2), name="other")
    weft.label("named \udc80", other)
    for what in (done, asyncio.Lock(), Odd(), 5, job):
        weft.mark(what)
        weft.label("nothing", what)
    await job(1)
    await other
    await lose(loop)
    with ThreadPoolExecutor(1) as pool:
        await loop.run_in_executor(pool, work)
    print(weft.recording())


kept = []
weft.label("no task")
weft.mark()
asyncio.run(main())
END
run 0 "$python" app.py
equal 'alone' 'False' "$(cat "$tmp/out")"
run 0 record app.weft app.py
equal 'recorded' 'True' "$(cat "$tmp/out")"
equal 'labels' "[('job', 'named \\\\\\\\udc80'), ('main', 'number 1'), ('job', 'number 2'), ('lose:30', \"nobody's\"), ('work', 'in a thread')]" \
    "$(facts app.weft '[(name(f, "p"), f["text"].strip("\"")) for k, f in events if k == "label"]')"
equal 'counters' "['1', '2', '10', '12', '20', '22']" \
    "$(facts app.weft '[f["value"] for k, f in events if f.get("counter") == "\"jobs\""]')"
equal 'spans' "[('span_parent', 'main', '00f067aa0ba902b7'), ('span', 'lose:30', 'b7ad6b7169203331')]" \
    "$(facts app.weft '[(k, name(f, "p"), f["ids"].strip(chr(34))[33:]) for k, f in events if k.startswith("span")]')"
equal 'snapshots' "[('main', '\"by night\"')]" "$(facts app.weft '[(name(f, "p"), f["reason"]) for k, f in events if k == "snapshot"]')"
equal 'what was marked' "never-resolved certain lose:30" "$(findings app.weft)"

# ---- Who holds what ----
cat >held.py <<'END'
import asyncio

import weft

pool = weft.resource("connections")
free, queue = 1, []


async def get():
    global free
    if free == 0:
        place = asyncio.get_running_loop().create_future()
        queue.append(place)
        pool.wait(place)
        await place
    free -= 1
    pool.acquire()


async def importer():
    await get()
    raise ValueError("bad record")


async def reader():
    await get()


async def main():
    print(await asyncio.gather(importer(), reader(), return_exceptions=True))


asyncio.run(main())
END
run 130 record held.weft "$SOURCE_ROOT/tests/e2e/until_hung.py" held.py
run 0 "$WEFT" explain held.weft
tr -s ' \n' ' ' <"$tmp/out" >"$tmp/text"
says "$tmp/text" "'connections' \(resource [0-9]+\) was never given back; "
says "$tmp/text" "'importer' \(task [0-9]+\), which failed at [0-9.]+ .?s \('ValueError\('bad record'\)'\), still holds it, since"

# ---- pip ----
if "$python" -c 'import ensurepip, pip, setuptools, wheel' 2>/dev/null; then
    cp -r "$package" package
    (
        unset PYTHONPATH
        "$python" -m venv --system-site-packages env
        env/bin/python -m pip install -q --no-build-isolation --no-index --disable-pip-version-check ./package
    ) >"$tmp/out" 2>&1 || fail "pip install: $(cat "$tmp/out")"
    equal 'what pip installs' "$(realpath env)" "$(cd / && PYTHONPATH='' "$tmp/env/bin/python" -c '
import os, sys, weft
print(os.path.realpath(weft.__file__.split("/lib/")[0]))')"
else
    echo "pip install is not tried: $python has no pip, setuptools, wheel or ensurepip (python3-pip, python3-venv)"
fi

# Whichever is imported first; and another module of that name is left alone.
for first in 'import weft, asyncio' 'import asyncio, weft'; do
    run 0 record o.weft -c "$first"'
async def main():
    weft.counter("n").set(7)
    print(weft.recording())
asyncio.run(main())'
    equal "$first" True "$(cat "$tmp/out")"
done
mkdir other
echo 'x = 1' >other/weft.py
export PYTHONPATH=$tmp/other
run 0 record n.weft -c 'import asyncio, weft
asyncio.run(asyncio.sleep(0))
print([n for n in vars(weft) if not n.startswith("__")])'
equal 'another weft' "['x']" "$(cat "$tmp/out")"

# ---- Requests: what is done for one hangs under it ----
export PYTHONPATH=$package/src
cat >requests.py <<'END'
import asyncio

import weft


async def query(n):
    await asyncio.sleep(0)
    return n


async def job(n):
    started = asyncio.create_task(query(n))
    await asyncio.sleep(0)
    later = asyncio.create_task(query(n))
    return await query(n) + await started + await later


async def nightly():
    await job(1)
    await weft.request("inner", lambda: job(2))
    await asyncio.create_task(query(3))


async def bad():
    raise ValueError("oops")


async def at_once():
    return 5


async def hang():
    await asyncio.get_running_loop().create_future()


async def main():
    await weft.request("nightly", nightly)
    print(await weft.request("at once", at_once))
    try:
        await weft.request("bad", bad)
    except ValueError as e:
        print(e)
    await asyncio.create_task(query(4))
    task = asyncio.create_task(weft.request("cancelled", hang))
    await asyncio.sleep(0)
    task.cancel()
    both = weft.request("one", lambda: job(5)), weft.request("two", lambda: job(6))
    print(await asyncio.gather(task, *both, return_exceptions=True))
    asyncio.create_task(weft.request("lost", hang))
    await asyncio.sleep(0)


asyncio.run(main())
END
alike 0 requests.weft requests.py
run 0 "$WEFT" promises requests.weft
equal 'requests' 'nightly fulfilled;inner fulfilled;at once fulfilled;bad failed;cancelled cancelled;one fulfilled;two fulfilled;lost pending;' \
    "$(awk -F '\t' '$2 == "request" { printf "%s %s;", $8, $6 }' "$tmp/out")"
# Each task and call of query, and each sleep, by the innermost request.
equal 'what is done for each' '1 -,3 inner,4 nightly,3 one,3 two,' "$(awk -F '\t' '
    { type[$1] = $2; parent[$1] = $3; label[$1] = $8 }
    $8 == "query" { for (p = $3; type[p] && type[p] != "request"; p = parent[p]); print type[p] ? label[p] : "-" }' "$tmp/out" |
    LC_ALL=C sort | uniq -c | sort -k2 | awk '{ printf "%s %s,", $1, $2 }')"
equal 'what job was called for' 'inner nightly one two' "$(awk -F '\t' '
    { type[$1] = $2; parent[$1] = $3; label[$1] = $8 }
    $8 == "job" { for (p = $3; type[p] && type[p] != "request"; p = parent[p]); print label[p] }' "$tmp/out" | sort | xargs)"
run 0 "$WEFT" explain --json requests.weft
says "$tmp/out" '"lost"'
finish
