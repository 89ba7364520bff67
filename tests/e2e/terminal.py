# SPDX-License-Identifier: ISC
"""terminal.py COLUMNS [NAME=VALUE…] COMMAND…: what a command writes to a terminal that is so wide; exits as it does."""

import fcntl
import os
import pty
import struct
import sys
import termios
import threading

END = b"\0end\0"


def on_terminal(words, columns=80, **environment):
    """What a command writes to a terminal of ten lines, and its exit status."""
    terminal, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 10, columns, 0, 0))
    pid = os.fork()
    if pid == 0:
        os.login_tty(inner)
        for name in ("PAGER", "WEFT_PAGER", "LESS", "NO_COLOR", "COLUMNS"):
            os.environ.pop(name, None)
        os.execve(words[0], words, {**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8", **environment})
    # A terminal that nobody has open any more may lose what was written last, so it stays open here.
    status = []

    def wait():
        status.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        os.write(inner, END)

    waiting = threading.Thread(target=wait)
    waiting.start()
    said = b""
    while not said.endswith(END):
        said += os.read(terminal, 65536)
    waiting.join()
    os.close(inner)
    os.close(terminal)
    return said.removesuffix(END).decode(errors="surrogateescape").replace("\r\n", "\n"), status[0]


if __name__ == "__main__":
    words, given = sys.argv[2:], {}
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        given[name] = value
    text, status = on_terminal(words, int(sys.argv[1]), **given)
    sys.stdout.buffer.write(text.encode(errors="surrogateescape"))
    sys.exit(status)
