# SPDX-License-Identifier: ISC
# What weft ctl runs in a Python program that was started without weft (src/cli/late/python.c), in a module of its own that
# nobody else sees: ASKED is what it passes. Any version of Python may read this. It has no effect on the program but that
# it is recorded then.


def _weft_late(folder, trace, size, address, room):
    import os
    import sys

    def is_being_imported(module):
        """One of Python's own, or trio: then others may still lack what they need."""
        spec = getattr(module, "__spec__", None)
        if not getattr(spec, "_initializing", False):
            return False
        file = str(getattr(spec, "origin", None))
        own = file.startswith(os.path.dirname(os.__file__) + os.sep) and "-packages" + os.sep not in file
        return own or spec.name.startswith("trio")

    again = False
    try:
        if any(is_being_imported(m) for m in list(sys.modules.values())):
            raise ImportError("later")
        if sys.version_info < (3, 9):
            raise RuntimeError("Python %d.%d is too old, 3.9 is needed" % sys.version_info[:2])
        sys.path.insert(0, folder)
        try:
            import _weft_hooks
        finally:
            sys.path.remove(folder)
        try:
            _weft_hooks.begin_late(trace, size)
            text = "ok"
        finally:
            for name in ("_weft_hooks", "_weft"):
                sys.modules.pop(name, None)
    except BaseException as e:
        again = isinstance(e, KeyboardInterrupt)
        text = "later" if e.args == ("later",) else "%s: %s" % (type(e).__name__, e)
    try:
        memory = os.open("/proc/self/mem", os.O_RDWR)
        try:
            os.pwrite(memory, text.encode("utf-8", "replace")[: room - 1] + b"\0", address)
        finally:
            os.close(memory)
    except Exception:  # weft ctl sees by itself whether the program records
        pass
    if again:  # it was meant for the program
        import _thread

        _thread.interrupt_main()


_weft_late(*ASKED)
