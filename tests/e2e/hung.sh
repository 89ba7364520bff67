# SPDX-License-Identifier: ISC
# For tests of programs that hang: what they begin and end. $pid is the program.
# shellcheck shell=bash disable=SC2034
: "${NOW:?the folder of tests/now}"
[ "$(uname -m)" = x86_64 ] || skip "not tried on $(uname -m)"
[ -r /proc/self/syscall ] || skip 'this kernel does not say where threads wait'
cd "$tmp"
unset COLUMNS

# hang CASE: sets $pid; release ends it and its children.
hang() {
    "$NOW/hang" "$1" >/dev/null &
    pid=$!
}
release() {
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null || :
}
seen() { "$WEFT" explain "$pid" | tr -s ' \n' ' ' | grep -q "$1"; }

# Ten tasks want a semaphore of two.
hang_python() {
    cat >pool.py <<'END'
import asyncio

async def query(pool):
    await pool.acquire()

async def main():
    pool = asyncio.Semaphore(2)
    await asyncio.gather(*[query(pool) for _ in range(10)])

asyncio.run(main())
END
    python3 pool.py &
    pid=$!
    wait_for seen '8 of 10 not done'
}
