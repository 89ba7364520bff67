# SPDX-License-Identifier: ISC
# A heartbeat sets its timer again once it has sent something, which fails one time.
import asyncio
import sys

good = "good" in sys.argv


class Heart:
    def __init__(self, loop):
        self.loop = loop
        self.beats = 0
        self.set_timer()

    def set_timer(self):
        self.loop.call_later(0.005, self.beat)

    def send(self):
        self.beats += 1
        if self.beats == 15:
            raise ConnectionResetError("connection lost")

    def beat(self):
        if good:
            self.set_timer()
        self.send()
        if not good:
            self.set_timer()


async def main():
    heart = Heart(asyncio.get_running_loop())
    await asyncio.sleep(1.5)
    print(heart.beats, "beats")


asyncio.run(main())
