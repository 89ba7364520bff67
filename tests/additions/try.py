#!/usr/bin/env python3
"""try.py NAME: applies NAME.patch to a copy of the tree, builds weft of it, and tries what NAME adds.

The patches are the examples of docs/architecture.md: an input format, …, each a file and a line. Only what
depends on a file that the patch touches is compiled; the rest comes from the build directory, BUILD_ROOT.
"""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
BUILD = pathlib.Path(os.environ["BUILD_ROOT"]).resolve()
PROGRAM = "src/weft"


def ninja(*arguments):
    return subprocess.run(["ninja", *arguments], cwd=BUILD, check=True, capture_output=True, text=True).stdout


def link_command():
    """How the build links weft, as words."""
    return shlex.split(ninja("-t", "commands", PROGRAM).rstrip().splitlines()[-1])


class Copy:
    """A copy of the tree with a patch in it."""

    def __init__(self, folder, name):
        self.folder = pathlib.Path(folder)
        for part in ("src", "include"):
            shutil.copytree(SOURCE / part, self.folder / part)
        patch = HERE / f"{name}.patch"
        done = subprocess.run(["patch", "-p1", "--no-backup-if-mismatch", "-i", patch], cwd=folder, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{patch.name} does not apply any more; make it anew:\n{done.stdout}{done.stderr}")
        self.touched = re.findall(r"^\+\+\+ b/(\S+)", patch.read_text(), re.M)
        self.source = os.path.relpath(SOURCE, BUILD)  # as the build's commands name the tree

    def compile(self, command, source, number):
        """Runs a command of the build on the file of that name in the copy. Returns the object."""
        out = self.folder / f"{number}.o"
        words = [w.replace(f"{self.source}/", f"{self.folder}/") for w in shlex.split(command)]
        words[words.index("-o") + 1] = str(out)
        for option in ("-MF", "-MQ"):
            if option in words:
                words[words.index(option) + 1] = str(out) + (".d" if option == "-MF" else "")
        words[-1] = str(self.folder / source)  # meson puts the source last
        done = subprocess.run(words, cwd=BUILD, capture_output=True, text=True)
        if done.returncode or done.stderr:
            sys.exit(f"{source}: {shlex.join(words)}\n{done.stderr}")
        return str(out)

    def build(self):
        """The program with the patch. Returns its path."""
        commands = {c["output"]: c for c in json.loads((BUILD / "compile_commands.json").read_text())}
        link = link_command()
        archives = [w for w in link if w.endswith(".a") and (BUILD / w).exists()]
        parts = {w for w in link if w in commands}
        for archive in archives:
            stem = archive.removesuffix(".a")
            parts |= {o for o in commands if o.startswith(f"{stem}.a.p/")}
        depends = {}
        for line in ninja("-t", "deps").splitlines():
            if line and not line.startswith(" "):
                entry = line.split(":")[0]
            elif line.strip():
                depends.setdefault(os.path.relpath(BUILD / line.strip(), SOURCE), set()).add(entry)
        for path in self.touched:
            if (SOURCE / path).exists() and not path.endswith("meson.build") and not parts & depends.get(path, set()):
                sys.exit(f"{path}: nothing in {BUILD} was made of it")
        affected = parts & set().union(*(depends.get(t, set()) for t in self.touched))
        work = {o: (commands[o]["command"], os.path.relpath(BUILD / commands[o]["file"], SOURCE)) for o in affected}
        for path in self.touched:  # new files are compiled like their neighbours
            if path.endswith(".c") and not (SOURCE / path).exists():
                neighbours = (c for o, c in commands.items() if o in parts
                              and os.path.relpath(BUILD / c["file"], SOURCE).startswith(os.path.dirname(path) + "/"))
                work[path] = (next(neighbours)["command"], path)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            made = dict(zip(work, pool.map(self.compile, *zip(*work.values()), range(len(work)))))
        program = self.folder / "weft"
        words = [made.get(w, w) for w in link]
        words[words.index("-o") + 1] = str(program)
        first = next(i for i, w in enumerate(words) if w.endswith(".o"))
        words[first:first] = [o for name, o in made.items() if name not in link]  # before the archives that have the old ones
        done = subprocess.run(words, cwd=BUILD, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{shlex.join(words)}\n{done.stderr}")
        return program


def expect(output, *wanted):
    for text in wanted:
        if text not in output:
            sys.exit(f"expected {text!r} in:\n{output}")


def input_format(weft, folder):
    trace = folder / "trace.toy"
    trace.write_text("toy trace\n0 creates 1\n500 creates 2\nnonsense\n1500 resolves 1\n")
    expect(weft("dump", trace), "creates parent=-1 child=1", "1500 0 resolves resolver=-1 p=1")
    expect(weft("info", trace), "format        toy", "resolves", "no event: nonsense")
    expect(weft("promises", trace), "pending")
    trace.write_text("no toy\n")
    expect(weft("info", trace, status=1), "OCaml's rings, .fxt and toys, weft profile")


def exporter(weft, folder):
    trace, out = folder / "trace.ctf", folder / "out"
    subprocess.run([BUILD / "tests" / "mktrace", trace], input=EVENTS, text=True, check=True)
    weft("export", "--to", "lines", "-o", out, trace)
    expect(out.read_text(), "1000000000 creates\n1000001500 fulfills\n")
    expect(weft("export", "--help"), "lines  a line for each event")


def subcommand(weft, folder):
    trace = folder / "trace.ctf"
    subprocess.run([BUILD / "tests" / "mktrace", trace], input=EVENTS, text=True, check=True)
    expect(weft("longest", "--top", "1", trace), "1.5 µs bind")
    expect(weft("--help"), "print the promises that took the longest")
    weft("longest", "--top", "x", trace, status=2)


def finding(weft, folder):
    trace, toy = folder / "trace.weft", folder / "toy.c"
    toy.write_text(TOY)
    library = BUILD / "src"
    compiler, *words = link_command()
    sanitizers = [w for w in words if w.startswith("-fsanitize=")]
    subprocess.run([compiler, *sanitizers, f"-I{SOURCE}/include", "-o", folder / "toy", toy, f"-L{library}", "-lweft", f"-Wl,-rpath,{library}"], check=True)
    subprocess.run([folder / "toy"], env={"WEFT_TRACE": str(trace)}, check=True)
    expect(weft("explain", trace, status=None), "which began at ", "is a toy.", "Make it a real one.")
    expect(weft("explain", "--json", trace, status=None), '"name": "toy"')


TOY = """#include <weft/weft.h>
int main(void)
{
    weft_fulfill(weft_create("toy", 0));
    return 0;
}
"""
EVENTS = "0 0 creates parent=-1 child=1 type=bind\n1500 0 fulfills resolver=-1 p=1\n"
TRIES = {"exporter": exporter, "finding": finding, "input-format": input_format, "subcommand": subcommand}


def main():
    name = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        program = Copy(folder, name).build()

        def weft(*arguments, status=0):
            done = subprocess.run([program, *arguments], capture_output=True, text=True)
            if status is not None and done.returncode != status:
                sys.exit(f"weft {arguments}: status {done.returncode}, expected {status}\n{done.stdout}{done.stderr}")
            return done.stdout + done.stderr

        TRIES[name](weft, pathlib.Path(folder))


main()
