# SPDX-License-Identifier: ISC
import asyncio
import unittest

import weft


class Heard:
    def __init__(self):
        self.said = []

    def begin(self, text):
        self.said.append(("begin", text))
        return 9

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
            weft.traceparent("00-1-2-01")
            weft.snapshot("why")
            weft.counter("n").add()
            weft.counter("n").set("no number")
            weft.resource("pool").acquire()
            weft.resource("pool").wait(asyncio.current_task())
            weft.resource("pool").release()
            return weft.recording()

        self.assertIs(asyncio.run(main()), False)

    def test_a_request_ends_as_its_work(self):
        async def work():
            await asyncio.sleep(0)
            return 7

        async def fail():
            raise ValueError("later")

        def fail_at_once():
            raise ValueError("at once")

        self.assertEqual(asyncio.run(weft.request("GET /", work)), 7)
        for wrong, why in (fail, "later"), (fail_at_once, "at once"):
            with self.assertRaisesRegex(ValueError, why):
                asyncio.run(weft.request("GET /", wrong))


class Recorded(unittest.TestCase):
    def setUp(self):
        self.addCleanup(setattr, weft, "_recorder", weft._recorder)
        weft._recorder = self.heard = Heard()

    def test_what_is_said_is_heard(self):
        future = object()
        weft.label(5, future)
        weft.mark()
        weft.traceparent("00-1-2-01")
        weft.traceparent(5, future, sent=True)
        weft.snapshot(7)
        queued = weft.counter("queued")
        queued.add()
        queued.set(3)
        pool = weft.resource("pool")
        pool.acquire()
        pool.wait(future)
        pool.release(future)
        self.assertIs(weft.recording(), True)
        self.assertEqual(
            self.heard.said,
            [
                ("label", "5", future),
                ("mark", None),
                ("traceparent", "00-1-2-01", None, False),
                ("traceparent", "5", future, True),
                ("snapshot", "7"),
                ("count", "queued", 1, True),
                ("count", "queued", 3, False),
                ("hold", "pool", "acquire", None),
                ("hold", "pool", "wait", future),
                ("hold", "pool", "release", future),
            ],
        )

    def test_a_request_is_heard(self):
        async def work():
            self.heard.said.append("work")

        async def fail():
            raise error

        error = ValueError("x")
        asyncio.run(weft.request(5, work))
        with self.assertRaises(ValueError):
            asyncio.run(weft.request("bad", fail))
        self.assertEqual(
            self.heard.said,
            [("begin", "5"), "work", ("end", 9, None), ("begin", "bad"), ("end", 9, error)],
        )


if __name__ == "__main__":
    unittest.main()
