# SPDX-License-Identifier: ISC
"""Puts the methods of _weft into trio, which has just been imported."""

import os

import trio
from trio import _channel, _signals, _sync
from trio._core import _instrumentation, _run

import _weft
from _weft_hooks import *

# The functions in which a task waits, and the names shown for them.
TOLD = (
    (SLEEP, "sleep", trio.sleep),
    (SLEEP, "sleep_until", trio.sleep_until),
    (ACQUIRE, "Lock.acquire", _sync._LockImpl.acquire),
    (ACQUIRE, "Semaphore.acquire", trio.Semaphore.acquire),
    (ACQUIRE, "CapacityLimiter.acquire", trio.CapacityLimiter.acquire_on_behalf_of),
    (EVENT, "Event.wait", trio.Event.wait),
    (CONDITION, "Condition.wait", trio.Condition.wait),
    (OF_SELF, "MemorySendChannel.send", _channel.MemorySendChannel.send),
    (OF_SELF, "MemoryReceiveChannel.receive", _channel.MemoryReceiveChannel.receive),
    (GROUP, "nursery", _run.NurseryManager.__aexit__),
    (GROUP, "nursery", _run.Nursery._nested_child_finished),
    (JOB, "to_thread.run_sync", trio.to_thread.run_sync),
    (SERVE, "sleep_forever", trio.sleep_forever),
    (SERVE, "SocketListener.accept", trio.SocketListener.accept),
    (SERVE, "SSLListener.accept", trio.SSLListener.accept),
    (SERVE, "serve_listeners", trio.serve_listeners),
    (SERVE, "SignalReceiver", _signals.SignalReceiver.__anext__),
    (RUN, "run", _run.unrolled_run),
)


def hook_trio():
    _weft.init_trio(os.path.dirname(trio.__file__) + os.sep, trio.Cancelled)
    for kind, name, function in TOLD:
        while hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        _weft.code(function.__code__, name, kind)
    for hook, owner, name in (
        ("trio_instruments", _instrumentation.Instruments, "__init__"),
        ("trio_exited", _run.Runner, "task_exited"),
        ("trio_interrupted", _run.Runner, "deliver_ki"),
        ("trio_init_lock", _sync._LockImpl, "__init__"),
        ("trio_init_semaphore", trio.Semaphore, "__init__"),
        ("trio_init_limiter", trio.CapacityLimiter, "__init__"),
        ("trio_init_event", trio.Event, "__init__"),
        ("trio_init_condition", trio.Condition, "__init__"),
        ("trio_init_channel", _channel.MemoryChannelState, "__init__"),
        ("trio_acquire_lock", _sync._LockImpl, "acquire_nowait"),
        ("trio_acquire_semaphore", trio.Semaphore, "acquire_nowait"),
        ("trio_acquire_limiter", trio.CapacityLimiter, "acquire_on_behalf_of_nowait"),
        ("trio_release_lock", _sync._LockImpl, "release"),
        ("trio_release_semaphore", trio.Semaphore, "release"),
        ("trio_set_event", trio.Event, "set"),
        ("trio_notify", trio.Condition, "notify"),
        ("trio_notify_all", trio.Condition, "notify_all"),
    ):
        replace(hook, owner, name)


if begin():
    install("trio")
    hook_trio()
