# SPDX-License-Identifier: ISC
"""Puts the methods of _weft into asyncio, which has just been imported. Python 3.9 and later."""

import atexit
import gc
import os
import selectors
import sys
import types
from asyncio import base_events, events, futures, locks, queues, runners, streams, tasks

import _weft

PLAIN, SLEEP, ACQUIRE, OF_SELF, EVENT, CONDITION, MANY, GROUP, ONE, SERVE, HIDDEN, RUN = range(12)

# Of functions that create futures, or call back: as enum code_kind in codes.h.
KINDS = {
    "sleep": SLEEP,
    "Lock.acquire": ACQUIRE,
    "Semaphore.acquire": ACQUIRE,
    "Queue.get": OF_SELF,
    "Queue.put": OF_SELF,
    "Event.wait": EVENT,
    "Condition.wait": CONDITION,
    "_wait": MANY,
    "TaskGroup.__aexit__": GROUP,
    "TaskGroup._aexit": GROUP,
    "shield": ONE,
    "Server.serve_forever": SERVE,
    "BaseEventLoop.shutdown_asyncgens": HIDDEN,
    "BaseEventLoop.shutdown_default_executor": HIDDEN,
    "Handle._run": RUN,
}


def signature_of(name, method):
    """What inspect finds in a method of C, and the documentation."""
    text = getattr(method, "__text_signature__", None)
    if text is None:
        import inspect

        text = str(inspect.signature(method)).replace("(self", "($self", 1)
    return f"{name}{text}\n--\n\n{method.__doc__ or ''}"


def replace(hook, owner, name):
    original = owner.__dict__.get(name)
    if original is None:
        return
    method = _weft.method(hook, owner, name, original, signature_of(name, original))
    try:
        setattr(owner, name, method)
    except TypeError:  # a class of C
        gc.get_referents(owner.__dict__)[0][name] = method
        _weft.modified(owner)


def functions_of(module):
    for value in vars(module).values():
        if isinstance(value, types.FunctionType):
            yield value
        elif isinstance(value, type) and value.__module__ == module.__name__:
            yield from (f for f in vars(value).values() if isinstance(f, types.FunctionType))


def tell_codes():
    for name, module in list(sys.modules.items()):
        if name.startswith("asyncio."):
            for f in functions_of(module):
                _weft.code(f.__code__, f.__qualname__, KINDS.get(f.__qualname__, PLAIN))


def types_of_steps():
    """Of what a loop calls to let a task of C go on, where that is no built-in method."""
    found = {t.__name__: t for t in object.__subclasses__()}
    return [found.get(name, object) for name in ("TaskStepMethWrapper", "TaskWakeupMethWrapper")]


def install():
    Task, Future = tasks.Task, futures.Future
    library = os.path.dirname(os.__file__) + os.sep
    asyncio = os.path.dirname(events.__file__) + os.sep
    coroutine = types.CoroutineType
    _weft.init(library, asyncio, Task, Future, coroutine, types.GeneratorType, *types_of_steps())
    tell_codes()
    Loop = base_events.BaseEventLoop
    for hook, owner, name in (
        ("create_future", Loop, "create_future"),
        ("create_task", Loop, "create_task"),
        ("run_until_complete", Loop, "run_until_complete"),
        ("call_exception_handler", Loop, "call_exception_handler"),
        ("create_server", Loop, "create_server"),
        ("select", selectors.DefaultSelector, "select"),
        ("set_result", Future, "set_result"),
        ("set_exception", Future, "set_exception"),
        ("future_cancel", Future, "cancel"),
        ("future_result", Future, "result"),
        ("future_exception", Future, "exception"),
        ("task_cancel", Task, "cancel"),
        ("task_result", Task, "result"),
        ("task_exception", Task, "exception"),
        ("acquire_lock", locks.Lock, "acquire"),
        ("acquire_semaphore", locks.Semaphore, "acquire"),
        ("init_lock", locks.Lock, "__init__"),
        ("init_semaphore", locks.Semaphore, "__init__"),
        ("init_event", locks.Event, "__init__"),
        ("init_condition", locks.Condition, "__init__"),
        ("init_queue", queues.Queue, "__init__"),
        ("set_event", locks.Event, "set"),
        ("notify", locks.Condition, "notify"),
        ("run", events.Handle, "_run"),
    ):
        replace(hook, owner, name)
    if hasattr(runners, "_cancel_all_tasks"):
        runners._cancel_all_tasks = _weft.cancel_all(runners._cancel_all_tasks)
    if hasattr(runners, "Runner"):
        replace("on_sigint", runners.Runner, "_on_sigint")
        replace("close_runner", runners.Runner, "close")
    gc.callbacks.append(_weft.collected)
    atexit.register(_weft.stop)
    os.register_at_fork(after_in_child=_weft.forked)


def begin():
    """Whether this process records: weft record has started it, or one of its parents."""
    if _weft.recording():
        return True
    pattern = os.environ.get("WEFT_TRACE_FORK")
    first = os.environ.get("WEFT_TRACE_FOR")
    if not pattern or first == str(os.getpid()):
        return False
    return _weft.start(pattern, int(os.environ.get("WEFT_TRACE_SIZE") or 0))


if begin():
    install()
