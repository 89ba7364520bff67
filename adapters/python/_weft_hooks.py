# SPDX-License-Identifier: ISC
"""What _weft_asyncio and _weft_trio put the methods of _weft into these with. Python 3.9 and later."""

import atexit
import functools
import gc
import os
import sys
import threading
import types
from contextvars import Context

import _frozen_importlib
import _weft

FOLDER = os.path.dirname(os.path.abspath(__file__))

# As enum code_kind in codes.h.
(PLAIN, SLEEP, ACQUIRE, OF_SELF, EVENT, CONDITION, MANY, GROUP, ONE, WRAP, PROCESS, CONNECT, READ, SERVE, HIDDEN, RUN, JOB,
 SAID, AIOHTTP, TORNADO, UVICORN) = range(21)  # fmt: skip


# Hooks that stay while recording is paused.
KEPT = {"select", "run_until_complete", "init_server", "add_signal_handler", "on_sigint", "close_runner"}
replaced = []


def signature_of(name, method):
    """What inspect finds in a method of C, and the documentation. There is no place for annotations in it."""
    text = getattr(method, "__text_signature__", None)
    if text is None:
        from inspect import Signature, signature

        bare = [p.replace(annotation=p.empty) for p in signature(method).parameters.values()]
        text = str(Signature(bare)).replace("(self", "($self", 1)
    return f"{name}{text}\n--\n\n{method.__doc__ or ''}"


def replace(hook, owner, name):
    original = owner.__dict__.get(name)
    if original is None:
        return
    method = _weft.method(hook, owner, name, original, signature_of(name, original))
    put(owner, name, method)
    if hook not in KEPT:
        replaced.append((owner, name, original, method))


def put(owner, name, method):
    try:
        setattr(owner, name, method)
    except TypeError:  # a class of C
        gc.get_referents(owner.__dict__)[0][name] = method
        _weft.modified(owner)


def swap(recording):
    """While recording is paused, the program's methods are as they were. What it has replaced itself stays."""
    for owner, name, original, method in replaced:
        before, after = (original, method) if recording else (method, original)
        if owner.__dict__.get(name) is before:
            put(owner, name, after)


def replace_inherited(hook, owner, name):
    """Of a class of Python's that has the method from one of C."""
    original = getattr(owner, name)
    doc = (getattr(original, "__doc__", None) or "").strip()
    setattr(owner, name, _weft.method(hook, owner, name, original, doc))


def replace_function(hook, module, name):
    original = getattr(module, name, None)
    if original is not None:
        doc = signature_of(name, original)
        setattr(module, name, _weft.function(hook, name, original, doc))


def hook_weft(module):
    """The package of bindings/python, if it is that one."""
    if hasattr(module, "_recorder"):
        names = ("recording", "label", "mark", "traceparent", "hold", "count", "begin", "end", "snapshot")
        _weft.code(module.request.__code__, "request", SAID)
        module._recorder = types.SimpleNamespace(**{name: getattr(_weft, name) for name in names})


def load(name):
    """The hooks of asyncio or trio, which is there."""
    sys.path.insert(0, FOLDER)
    try:
        __import__("_weft_" + name)
    finally:
        sys.path.remove(FOLDER)
        for ours in ("_weft_" + name, "_weft_hooks", "_weft"):
            sys.modules.pop(ours, None)


def begin():
    """Whether this process records: weft record has started it, or one of its parents."""
    if _weft.recording():
        return True
    pattern = os.environ.get("WEFT_TRACE_FORK")
    first = os.environ.get("WEFT_TRACE_FOR")
    if not pattern or first == str(os.getpid()):
        return False
    return _weft.start(pattern, int(os.environ.get("WEFT_TRACE_SIZE") or 0)) == 0


def begin_late(trace, size):
    """In a program that runs already, for weft ctl. What has been imported is looked at now, the rest when it is."""
    error = _weft.start(trace, size)
    if error:
        raise OSError(error, os.strerror(error))
    try:
        loaded = [name for name in ("asyncio", "trio") if name in sys.modules]
        for name in loaded[:1]:  # the other one follows
            load(name)
        if not loaded:
            install("")
    except BaseException:
        _weft.halt()
        os.unlink(trace)
        raise


def types_of_async():
    """Of an asynchronous generator, and of what makes one go on."""

    async def generator():
        yield

    hooks = sys.get_asyncgen_hooks()
    sys.set_asyncgen_hooks(None, None)  # those of a loop that runs would make a task for the end of this one
    try:
        one = generator()
        steps = [one.asend(None), one.athrow(GeneratorExit)]
        for step in steps:
            step.close()
    finally:
        sys.set_asyncgen_hooks(*hooks)
    return [type(one)] + [type(step) for step in steps]


def install(name):
    """What asyncio and trio have in common. The other one may be imported later."""
    library = os.path.dirname(os.__file__) + os.sep
    if not _weft.init(library, gc.get_referents, types.CoroutineType, types.GeneratorType, *types_of_async()):
        return
    _weft.init_jobs(threading._active, types.FunctionType, types.MethodType, functools.partial, Context)
    replace_function("find_and_load", _frozen_importlib, "_find_and_load")
    for other in {"asyncio", "trio"} - {name}:
        _weft.watch(other, sys.modules.get(other), lambda module, other=other: load(other))
    _weft.watch("weft", sys.modules.get("weft"), hook_weft)
    gc.callbacks.append(_weft.collected)
    atexit.register(_weft.stop)
    os.register_at_fork(after_in_child=_weft.forked)
