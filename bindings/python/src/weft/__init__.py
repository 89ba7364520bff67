# SPDX-License-Identifier: ISC
"""Tells weft record more than a program shows by itself. Without a recording nothing here has any effect."""

from typing import Any, Optional

__all__ = ["counter", "label", "mark", "recording"]

# weft record puts its own here, as soon as this module and asyncio are imported.
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
