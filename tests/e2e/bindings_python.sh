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
run 0 "$WEFT" explain --json app.weft
equal 'what was marked' "never-resolved certain lose:30" \
    "$(json "$tmp/out" '" ".join("{name} {confidence} {label}".format(**f) for f in d["findings"])')"

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
finish
