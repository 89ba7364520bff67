# SPDX-License-Identifier: ISC
"""until_hung.py PROGRAM [ARGUMENT...]: runs a Python program, and interrupts it as Ctrl-C does when its loop would sleep
without a time limit: then nothing can come any more. With the argument "good" it sleeps."""

import runpy
import selectors
import signal
import sys


class Selector(selectors.DefaultSelector):
    def select(self, timeout=None):
        if timeout is None and "good" not in sys.argv:
            signal.raise_signal(signal.SIGINT)
            timeout = 0
        return super().select(timeout)


selectors.DefaultSelector = Selector
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
