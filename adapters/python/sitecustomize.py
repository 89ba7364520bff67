# SPDX-License-Identifier: ISC
# Run by every Python that weft record, or a program that it runs, starts: this folder stands in PYTHONPATH. Any version
# of Python may read this. It does nothing until asyncio is imported, takes the folder out of sys.path, and runs the
# sitecustomize that would have been run without it.
import os
import sys


def _weft_say(why):
    os.write(2, ("weft: %s; the program runs on without recording\n" % why).encode())


class _WeftFinder(object):
    """Has asyncio found by the others, and looks at it once it is there. Then it is gone."""

    def __init__(self, folder):
        self.folder = folder

    def find_spec(self, name, path=None, target=None):
        if name != "asyncio":
            return None
        sys.meta_path.remove(self)
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find else None
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _WeftLoader(spec.loader, self.folder)
                return spec
        return None


class _WeftLoader(object):
    def __init__(self, loader, folder):
        self.loader = loader
        self.folder = folder

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        module.__loader__ = module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        try:
            _weft_install(self.folder)
        except Exception as e:
            _weft_say("%s: %s" % (type(e).__name__, e))

    def __getattr__(self, name):
        return getattr(self.loader, name)


def _weft_install(folder):
    sys.path.insert(0, folder)
    try:
        import _weft_hooks  # noqa: F401
    finally:
        sys.path.remove(folder)
        sys.modules.pop("_weft_hooks", None)
        sys.modules.pop("_weft", None)


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
