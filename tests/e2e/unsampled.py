# SPDX-License-Identifier: ISC
"""Lets a program find that it may not sample, as in many containers."""

import ctypes
import platform
import struct

CALLS = {"x86_64": (0xC000003E, 298), "aarch64": (0xC00000B7, 241)}
POSSIBLE = platform.machine() in CALLS


def forbid():
    """As a preexec_fn: perf_event_open fails from then on."""
    architecture, call = CALLS[platform.machine()]
    program = struct.pack("HBBI" * 6, 0x20, 0, 0, 4, 0x15, 0, 2, architecture, 0x20, 0, 0, 0, 0x15, 0, 1, call,
                          0x06, 0, 0, 0x00050001, 0x06, 0, 0, 0x7FFF0000)  # EPERM; allow
    code = ctypes.create_string_buffer(program)
    filters = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 6, ctypes.addressof(code)))
    libc = ctypes.CDLL(None)
    libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    assert libc.prctl(22, 2, filters, 0, 0) == 0  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER
