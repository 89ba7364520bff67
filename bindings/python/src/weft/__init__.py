# SPDX-License-Identifier: ISC
"""Tells weft record more than a program shows by itself. Without a recording nothing here has any effect."""

from typing import Any, Awaitable, Callable, Optional, TypeVar

__all__ = ["counter", "label", "mark", "recording", "request", "resource", "snapshot", "traceparent"]

T = TypeVar("T")

# weft record puts its own here, as soon as this module and one of asyncio and trio are imported.
_recorder: Any = None


def recording() -> bool:
    """Whether somebody records."""
    return _recorder is not None and _recorder.recording()


def label(text: str, future: Optional[Any] = None) -> None:
    """Says what that task or future does now, beside its name; or else the task that runs."""
    if _recorder is not None:
        _recorder.label(str(text), future)


def mark(future: Optional[Any] = None) -> None:
    """It is an error if that task or future, or else the task that runs, is never resolved."""
    if _recorder is not None:
        _recorder.mark(future)


def traceparent(header: str, future: Optional[Any] = None, *, sent: bool = False) -> None:
    """That task or future, or else the task that runs, handles a request that came with this value of the header traceparent
    (W3C's Trace Context, OpenTelemetry); sent: it sends one with it. A value that is not valid is ignored."""
    say = getattr(_recorder, "traceparent", None)  # an older recorder has none
    if say is not None:
        say(str(header), future, sent)


def snapshot(reason: str) -> None:
    """What was recorded last is worth keeping, and why: weft watch and weft record --keep keep a copy, if they wait for that
    (the condition "call"). Nobody waits for them here."""
    say = getattr(_recorder, "snapshot", None)  # an older recorder has none
    if say is not None:
        say(str(reason))


async def request(text: str, work: Callable[[], Awaitable[T]]) -> T:
    """Awaits work() as one request of that name, which must end: what is done for it hangs under it."""
    # The recorder looks for this variable.
    number = _recorder.begin(str(text)) if _recorder is not None else 0
    try:
        result = await work()
    except BaseException as e:
        if number:
            _recorder.end(number, e)
        raise
    if number:
        _recorder.end(number, None)
    return result


class Resource:
    """What tasks get and give back: a lock of the program's own, the connections of a pool. Each call is for one of it."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = str(name)

    def _say(self, what: str, future: Optional[Any]) -> None:
        hold = getattr(_recorder, "hold", None)  # an older recorder has none
        if hold is not None:
            hold(self._name, what, future)

    def acquire(self, task: Optional[Any] = None) -> None:
        """That task, or else the task that runs, has one of it from now on."""
        self._say("acquire", task)

    def release(self, task: Optional[Any] = None) -> None:
        """It gives one back."""
        self._say("release", task)

    def wait(self, future: Optional[Any] = None) -> None:
        """That task or future, or else the task that runs, waits until there is one."""
        self._say("wait", future)


def resource(name: str) -> Resource:
    """The resource of that name; there is one for each name."""
    return Resource(name)


class Counter:
    """A number that is drawn over time. Only whole numbers are kept."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = str(name)

    def add(self, n: int = 1) -> None:
        """By that much more."""
        if _recorder is not None:
            _recorder.count(self._name, n, True)

    def set(self, n: int) -> None:
        if _recorder is not None:
            _recorder.count(self._name, n, False)


def counter(name: str) -> Counter:
    """The counter of that name; there is one for each name."""
    return Counter(name)
