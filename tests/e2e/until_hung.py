# SPDX-License-Identifier: ISC
"""until_hung.py PROGRAM [ARGUMENT...]: runs a Python program, and interrupts it as Ctrl-C does when its loop would sleep
without a time limit: then nothing can come any more. With the argument "good" it sleeps. --trio before it: it is trio's loop."""

import runpy
import selectors
import signal
import sys


LONG = 3600  # trio has a limit of a day


class Selector(selectors.DefaultSelector):
    def select(self, timeout=None):
        if timeout is None and "good" not in sys.argv:
            signal.raise_signal(signal.SIGINT)
            timeout = 0
        return super().select(timeout)


def hook_trio():
    from trio._core._run import TheIOManager

    get_events = TheIOManager.get_events

    def get_events_or_hang(self, timeout):
        if timeout > LONG and "good" not in sys.argv:
            signal.raise_signal(signal.SIGINT)
            timeout = 0
        return get_events(self, timeout)

    TheIOManager.get_events = get_events_or_hang


selectors.DefaultSelector = Selector
del sys.argv[0]
if sys.argv[0] == "--trio":
    del sys.argv[0]
    hook_trio()
runpy.run_path(sys.argv[0], run_name="__main__")
