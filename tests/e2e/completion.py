# SPDX-License-Identifier: ISC
"""A bash, and a zsh, on a terminal of its own: what TAB makes of hostile names. A program called weft keeps its arguments."""

import os
import pty
import select
import shutil
import subprocess
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


ZSHRC = """PATH=$PWD/bin:$PATH
PS1= PS2=
unsetopt zle_bracketed_paste prompt_sp prompt_cr bang_hist
unset zle_bracketed_paste
setopt no_list_beep no_auto_menu
autoload -Uz compinit
compinit -u -D
fpath=($PWD/functions $fpath)
autoload -Uz _weft
compdef _weft weft
"""


class Shell:
    def __init__(self, *words):
        self.words = words
        environment = {"PATH": os.environ["PATH"], "HOME": os.getcwd(), "TERM": "dumb", "LC_ALL": "C.UTF-8", "INPUTRC": "/dev/null",
                       "COMPLETION": os.path.abspath(sys.argv[1] + "/weft.bash"), "REAL": os.environ["WEFT"],
                       "ZDOTDIR": os.getcwd()}
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execve(shutil.which(words[0]), words, environment)

    def arguments(self, line):
        """What weft is given by a line that is typed; None if that does not come."""
        if os.path.exists("found"):
            os.remove("found")
        os.write(self.terminal, line.encode() + b"\n")
        said, end = b"", time.monotonic() + 300
        while not os.path.exists("found"):
            if select.select([self.terminal], [], [], 0.01)[0]:
                said += os.read(self.terminal, 4096)
            if time.monotonic() > end:
                os.write(self.terminal, b"\x03")
                print(self.words[0], "said", said)
                return None
        with open("found", "rb") as f:
            return f.read().decode().split("\0")[:-1]

    def close(self):
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


def check(shell, line, wanted):
    found = shell.arguments(line)
    if found != wanted:
        fail(f"{shell.words[0]}: {line!r} gives {found}, not {wanted}")
    if os.path.exists("ran"):
        fail(f"{line!r} ran something")
        os.remove("ran")


def try_zsh():
    os.mkdir("functions")
    shutil.copy(sys.argv[1] + "/weft.zsh", "functions/_weft")
    zsh = Shell("zsh", "-i")
    for i, name in enumerate(NASTY):
        file, folder = f"{i:02}{name}.weft", f"{i:02}{name}.d"
        os.rename(folder, "folder")
        check(zsh, f"weft info {i:02}\t", ["info", file])
        check(zsh, f"weft record -- ./{i:02}\t", ["record", "--", "./" + file])
        os.rename("folder", folder)
        check(zsh, f"weft info xen:{i:02}\t", ["info", f"xen:{i:02}{name}"])
    check(zsh, "weft expl\t--chec\t=ce\tx", ["explain", "--check=certain", "x"])
    check(zsh, "weft stats --sor\tp5\t--no-p\tx", ["stats", "--sort", "p50", "--no-pager", "x"])
    zsh.close()


def try_fish():
    def completed(line):
        found = subprocess.run(["fish", "--no-config", "-c", "source $argv[1]; complete -C $argv[2]", sys.argv[1] + "/weft.fish", line],
                               env=os.environ | {"PATH": os.getcwd() + "/bin:" + os.environ["PATH"], "HOME": os.getcwd(),
                                                 "REAL": os.environ["WEFT"]}, capture_output=True, text=True).stdout
        return [word.split("\t")[0] for word in found.splitlines()]

    os.mkdir("plain")
    os.chdir("plain")
    os.symlink("../bin", "bin")
    for name in ("one.weft", "two words.weft", "$(touch ran).weft", "other.txt"):
        write(name, "")
    for line, wanted in (("weft expl", ["explain"]), ("weft explain --check=ce", ["--check=certain"]), ("weft stats --sort p5", ["p50"]),
                         ("weft info ", ["$(touch ran).weft", "bin/", "one.weft", "two words.weft"]), ("weft record -- cat oth", ["other.txt"])):
        found = completed(line)
        if sorted(found) != sorted(wanted):
            fail(f"fish: {line!r} gives {found}, not {wanted}")
    if os.path.exists("ran"):
        fail("fish ran something")
    os.chdir("..")


def main():
    os.mkdir("bin")
    write("bin/weft", WEFT, 0o755)
    write("domains", "".join(f"wxen:{i:02}{name}\0" for i, name in enumerate(NASTY)))
    for i, name in enumerate(NASTY):
        write(f"{i:02}{name}.weft", "")
        os.mkdir(f"{i:02}{name}.d")
        write(f"{i:02}{name}.d/in{name}.weft", "")
    write("-rf.weft", "")
    write("rc", RC)
    write(".zshrc", ZSHRC)
    bash = Shell("bash", "--noprofile", "--rcfile", "rc", "-i")
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
    check(bash, "weft expl\t--chec\t=ce\tx", ["explain", "--check=certain", "x"])
    check(bash, "weft stats --sor\tp5\t--no-p\tx", ["stats", "--sort", "p50", "--no-pager", "x"])
    bash.close()
    if shutil.which("zsh"):
        try_zsh()
    if shutil.which("fish"):
        try_fish()
    sys.exit(failures > 0)


main()
