# SPDX-License-Identifier: ISC
# A password is hashed in the loop, while others wait for their turn.
import asyncio
import hashlib
import sys
import time

good = "good" in sys.argv


def make_hash(password):
    end = time.monotonic() + 0.25
    while time.monotonic() < end:
        password = hashlib.sha256(password).digest()
    return password


async def login(password):
    if good:
        return await asyncio.to_thread(make_hash, password)
    return make_hash(password)


async def beat():
    for _ in range(30):
        await asyncio.sleep(0.01)


async def main():
    await asyncio.gather(beat(), login(b"secret"))


asyncio.run(main())
