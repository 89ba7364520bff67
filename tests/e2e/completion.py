# SPDX-License-Identifier: ISC
"""A bash on a terminal of its own: what TAB makes of hostile names. A program called weft keeps its arguments."""

import os
import pty
import select
import sys
import time

NASTY = ["$(touch ran)", "`touch ran`", "a b", "a'b", 'a"b', "a;touch ran;", "a&touch ran&", "a|touch ran", "$HOME", "a\\b", "*", "[a]?", "{a,b}",
         "a\nb", "a\ttouch ran", "!1", "#", "a>ran", "a<(touch ran)", "é\u202e", "a:b", "a=b", "~", "%s", "\x1b[31m", "${x:-$(touch ran)}"]
RC = """PATH=$PWD/bin:$PATH
PS1= PS2=
set +o history
bind 'set bell-style none'
bind 'set enable-bracketed-paste off'
bind 'set page-completions off'
bind 'set completion-query-items 0'
. "$COMPLETION"
"""
WEFT = """#!/bin/bash
if [ "$1" = --complete ]; then
    case ${*: -1} in
        xen:*) cat domains ;;
        *) "$REAL" "$@" ;;
    esac
else
    printf '%s\\0' "$@" >found.new
    mv found.new found
fi
"""
failures = 0


def fail(what):
    global failures
    failures += 1
    print("FAILED:", what)


def write(name, text, mode=0o644):
    with open(name, "w") as f:
        f.write(text)
    os.chmod(name, mode)


class Bash:
    def __init__(self):
        write("rc", RC)
        environment = {"PATH": os.environ["PATH"], "HOME": os.getcwd(), "TERM": "dumb", "LC_ALL": "C.UTF-8", "INPUTRC": "/dev/null",
                       "COMPLETION": os.path.abspath(sys.argv[1]), "REAL": os.environ["WEFT"]}
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execve("/bin/bash", ["bash", "--noprofile", "--rcfile", "rc", "-i"], environment)

    def arguments(self, line):
        """What weft is given by a line that is typed; None if that does not come."""
        if os.path.exists("found"):
            os.remove("found")
        os.write(self.terminal, line.encode() + b"\n")
        said, end = b"", time.monotonic() + 60
        while not os.path.exists("found"):
            if select.select([self.terminal], [], [], 0.01)[0]:
                said += os.read(self.terminal, 4096)
            if time.monotonic() > end:
                os.write(self.terminal, b"\x03")
                print("bash said", said)
                return None
        with open("found", "rb") as f:
            return f.read().decode().split("\0")[:-1]

    def close(self):
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


def check(bash, line, wanted):
    found = bash.arguments(line)
    if found != wanted:
        fail(f"{line!r} gives {found}, not {wanted}")
    if os.path.exists("ran"):
        fail(f"{line!r} ran something")
        os.remove("ran")


def main():
    os.mkdir("bin")
    write("bin/weft", WEFT, 0o755)
    write("domains", "".join(f"wxen:{i:02}{name}\0" for i, name in enumerate(NASTY)))
    for i, name in enumerate(NASTY):
        write(f"{i:02}{name}.weft", "")
        os.mkdir(f"{i:02}{name}.d")
        write(f"{i:02}{name}.d/in{name}.weft", "")
    write("-rf.weft", "")
    bash = Bash()
    for i, name in enumerate(NASTY):
        file, folder = f"{i:02}{name}.weft", f"{i:02}{name}.d"
        for quote in ("", "'", '"'):
            os.rename(folder, "folder")
            check(bash, f"weft info {quote}{i:02}\t", ["info", file])
            check(bash, f"weft explain --accept {quote}{i:02}\t", ["explain", "--accept", file])
            check(bash, f"weft record -- {quote}./{i:02}\t", ["record", "--", "./" + file])
            os.rename("folder", folder)
        os.rename(file, "file")
        check(bash, f"weft profile --sysroot {i:02}\t", ["profile", "--sysroot", folder + "/"])
        check(bash, f"weft info {i:02}\t\t", ["info", folder + "/in" + file[2:]])
        os.rename("file", file)
        check(bash, f"weft info xen:{i:02}\t", ["info", f"xen:{i:02}{name}"])
    check(bash, "weft info ./-\t", ["info", "./-rf.weft"])
    for start in ("", "xen:", "xen:1", "--accept "):
        check(bash, f"weft explain {start}\t\t\t\x15weft stats", ["stats"])
    for option in ("--label", "--promise"):
        check(bash, f"weft profile {option} \t\tx", ["profile", option, "x"])
    bash.close()
    sys.exit(failures > 0)


main()
