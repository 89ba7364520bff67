# SPDX-License-Identifier: ISC
"""Puts the methods of _weft into asyncio, which has just been imported. Python 3.9 and later."""

import concurrent.futures
import gc
import os
import selectors
import sys
import types
from asyncio import base_events, base_subprocess, events, exceptions, futures, locks, queues, runners, tasks, unix_events

import _weft
from _weft_hooks import *

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
    "wrap_future": WRAP,
    "BaseSubprocessTransport._wait": PROCESS,
    "BaseSelectorEventLoop.sock_connect": CONNECT,
    "StreamReader._wait_for_data": READ,
    "Server.serve_forever": SERVE,
    "BaseEventLoop.shutdown_asyncgens": HIDDEN,
    "BaseEventLoop.shutdown_default_executor": HIDDEN,
    "Handle._run": RUN,
}


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


def hook_threads(module):
    replace("init_item", module._WorkItem, "__init__")
    replace("run_item", module._WorkItem, "run")


def hook_processes(module):
    replace("init_process_item", module._WorkItem, "__init__")


def tell_request(function, kind, variable):
    code = function.__code__
    if variable not in code.co_varnames[: code.co_argcount]:
        raise AttributeError(f"{function.__qualname__} has no argument {variable}")
    _weft.code(code, function.__qualname__, kind)


def hook_aiohttp(module):
    tell_request(module.RequestHandler._handle_request, AIOHTTP, "request")
    if hasattr(tasks, "eager_task_factory"):
        replace("handle_request", module.RequestHandler, "_handle_request")


def hook_tornado(module):
    tell_request(module.RequestHandler._execute, TORNADO, "self")


def hook_uvicorn(module):
    cycle = module.RequestResponseCycle
    tell_request(cycle.run_asgi, UVICORN, "self")
    cycle.send = _weft.send(types.MethodType, cycle.send)


def hook_uvloop(module):
    for name in (
        "call_soon",
        "create_future",
        "create_task",
        "run_until_complete",
        "create_server",
        "add_signal_handler",
        "call_exception_handler",
    ):
        replace_inherited("uv_" + name, module.Loop, name)


def watch_imports():
    for name, look in (
        ("concurrent.futures.thread", hook_threads),
        ("concurrent.futures.process", hook_processes),
        ("aiohttp.web_protocol", hook_aiohttp),
        ("tornado.web", hook_tornado),
        ("uvloop", hook_uvloop),
        ("uvicorn.protocols.http.h11_impl", hook_uvicorn),
        ("uvicorn.protocols.http.httptools_impl", hook_uvicorn),
    ):
        _weft.watch(name, sys.modules.get(name), look)


def tasks_there():
    """Those of all loops that have not ended, in the order in which they were made, as far as their names say it."""
    found = set()
    for name in ("_all_tasks", "_scheduled_tasks", "_eager_tasks"):
        for _ in range(1000):
            try:
                found.update(list(getattr(tasks, name, ())))
                break
            except RuntimeError:  # another thread has made one
                pass
    return sorted((t for t in found if not t.done()), key=lambda t: (len(t.get_name()), t.get_name()))


def serves(loop):
    """Whether a loop listens, or waits for signals."""
    try:
        readers = [key.data[0]._callback for key in loop._selector.get_map().values()]
        listens = any(getattr(r, "__name__", "") == "_accept_connection" for r in readers)
        return listens or bool(loop._signal_handlers)
    except (AttributeError, TypeError, IndexError, RuntimeError):
        return True


def is_main(task):
    """Whether a loop runs only until this task ends, so that it should."""
    callbacks = getattr(task, "_callbacks", None) or ()
    names = [getattr(c[0], "__name__", "") for c in callbacks]
    return "_run_until_complete_cb" in names and not serves(task.get_loop())


def hook_asyncio():
    Task, Future, JobFuture = tasks.Task, futures.Future, concurrent.futures.Future
    asyncio = os.path.dirname(events.__file__) + os.sep
    eager = hasattr(tasks, "eager_task_factory")
    _weft.init_asyncio(asyncio, eager, exceptions.CancelledError, Task, Future, *types_of_steps(), JobFuture)
    tell_codes()
    Loop = base_events.BaseEventLoop
    for hook, owner, name in (
        ("create_future", Loop, "create_future"),
        ("create_task", Loop, "create_task"),
        ("run_until_complete", Loop, "run_until_complete"),
        ("call_exception_handler", Loop, "call_exception_handler"),
        ("init_server", base_events.Server, "__init__"),
        ("add_signal_handler", unix_events._UnixSelectorEventLoop, "add_signal_handler"),
        ("select", selectors.DefaultSelector, "select"),
        ("set_result", Future, "set_result"),
        ("set_exception", Future, "set_exception"),
        ("future_cancel", Future, "cancel"),
        ("future_result", Future, "result"),
        ("future_exception", Future, "exception"),
        ("task_cancel", Task, "cancel"),
        ("task_result", Task, "result"),
        ("task_exception", Task, "exception"),
        ("init_lock", locks.Lock, "__init__"),
        ("init_semaphore", locks.Semaphore, "__init__"),
        ("init_event", locks.Event, "__init__"),
        ("init_condition", locks.Condition, "__init__"),
        ("init_queue", queues.Queue, "__init__"),
        ("get_nowait", queues.Queue, "get_nowait"),
        ("set_event", locks.Event, "set"),
        ("notify", locks.Condition, "notify"),
        ("release_lock", locks.Lock, "release"),
        ("release_semaphore", locks.Semaphore, "release"),
        ("run", events.Handle, "_run"),
        ("call_later", Loop, "call_later"),
        ("call_at", Loop, "call_at"),
        ("cancel_timer", events.TimerHandle, "cancel"),
        ("init_process", base_subprocess.BaseSubprocessTransport, "__init__"),
        ("process_exited", base_subprocess.BaseSubprocessTransport, "_process_exited"),
        ("job_set_result", JobFuture, "set_result"),
        ("job_set_exception", JobFuture, "set_exception"),
        ("job_cancel", JobFuture, "cancel"),
        ("job_result", JobFuture, "result"),
        ("job_exception", JobFuture, "exception"),
    ):
        replace(hook, owner, name)
    for lock in (locks.Lock, locks.Semaphore):
        lock.acquire = _weft.acquire(lock.__name__ + ".acquire", lock.acquire, types.MethodType)
    replace_function("cancel_all_tasks", runners, "_cancel_all_tasks")
    replace_function("chain_future", futures, "_chain_future")
    if hasattr(runners, "Runner"):
        replace("on_sigint", runners.Runner, "_on_sigint")
        replace("close_runner", runners.Runner, "close")
    watch_imports()
    _weft.pausable(swap)
    there = tasks_there()
    _weft.late(there, [t for t in there if is_main(t)])


if begin():
    install("asyncio")
    hook_asyncio()
