# SPDX-License-Identifier: ISC
# A client with callbacks, made into one to be awaited. When the answer is empty, the callback is not called.
import asyncio
import sys

good = "good" in sys.argv


def fetch(key, callback):
    def answered():
        rows = {"a": [1], "b": [2], "c": []}[key]
        if rows or good:
            callback(rows)

    asyncio.get_running_loop().call_later(0.005, answered)


async def lookup(key):
    answer = asyncio.get_running_loop().create_future()
    fetch(key, answer.set_result)
    return await answer


async def main():
    for key in "abc":
        print(key, await lookup(key))


asyncio.run(main())
