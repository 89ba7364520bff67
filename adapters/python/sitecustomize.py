# SPDX-License-Identifier: ISC
# Run by every Python that weft record, or a program that it runs, starts: this folder stands in PYTHONPATH. Any version
# of Python may read this. It does nothing until asyncio or trio is imported, takes the folder out of sys.path, and runs the
# sitecustomize that would have been run without it.
import os
import sys


def _weft_say(why):
    os.write(2, ("weft: %s; the program runs on without recording\n" % why).encode())


class _WeftFinder(object):
    """Has asyncio or trio found by the others, and looks at it once it is there. Then it is gone."""

    def __init__(self, folder):
        self.folder = folder
        self.busy = False

    def find_spec(self, name, path=None, target=None):
        if name not in ("asyncio", "trio") or self.busy:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None) if finder is not self else None
            spec = find(name, path, target) if find else None
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _WeftLoader(spec.loader, self)
                return spec
        return None

    def found(self, name):
        if self in sys.meta_path:
            sys.meta_path.remove(self)
            try:
                _weft_install(self.folder, name)
            except Exception as e:
                _weft_say("%s: %s" % (type(e).__name__, e))


class _WeftLoader(object):
    def __init__(self, loader, finder):
        self.loader = loader
        self.finder = finder

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        module.__loader__ = module.__spec__.loader = self.loader
        self.finder.busy = True
        try:
            self.loader.exec_module(module)
        finally:
            self.finder.busy = False
        self.finder.found(module.__name__)

    def __getattr__(self, name):
        return getattr(self.loader, name)


def _weft_install(folder, name):
    sys.path.insert(0, folder)
    try:
        import _weft_hooks
    finally:
        sys.path.remove(folder)
    _weft_hooks.load(name)


def _weft_begin():
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [p for p in sys.path if os.path.abspath(p) != folder]
    if os.environ.get("WEFT_TRACE"):
        if sys.version_info >= (3, 9):
            sys.meta_path.insert(0, _WeftFinder(folder))
        elif os.environ.get("WEFT_TRACE_FOR") == str(os.getpid()):
            _weft_say("Python %d.%d is too old, 3.9 is needed" % sys.version_info[:2])


_weft_begin()
# Whatever becomes of the next line is what would have become of the same import without us.
del sys.modules["sitecustomize"]
import sitecustomize  # noqa: E402, F401
