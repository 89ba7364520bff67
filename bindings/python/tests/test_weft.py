# SPDX-License-Identifier: ISC
import asyncio
import unittest

import weft


class Heard:
    def __init__(self):
        self.said = []

    def recording(self):
        return True

    def __getattr__(self, name):
        return lambda *args: self.said.append((name, *args))


class Alone(unittest.TestCase):
    def test_nothing_happens(self):
        async def main():
            weft.label("x")
            weft.label("x", asyncio.get_running_loop().create_future())
            weft.mark()
            weft.mark(asyncio.current_task())
            weft.counter("n").add()
            weft.counter("n").set("no number")
            return weft.recording()

        self.assertIs(asyncio.run(main()), False)


class Recorded(unittest.TestCase):
    def setUp(self):
        self.addCleanup(setattr, weft, "_recorder", weft._recorder)
        weft._recorder = self.heard = Heard()

    def test_what_is_said_is_heard(self):
        future = object()
        weft.label(5, future)
        weft.mark()
        queued = weft.counter("queued")
        queued.add()
        queued.set(3)
        self.assertIs(weft.recording(), True)
        self.assertEqual(
            self.heard.said,
            [
                ("label", "5", future),
                ("mark", None),
                ("count", "queued", 1, True),
                ("count", "queued", 3, False),
            ],
        )


if __name__ == "__main__":
    unittest.main()
