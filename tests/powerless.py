"""Root without its power over permissions, so that it is refused what an ordinary user is."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

_VERSION = 0x20080522
_POWERS = (1 << 1) | (1 << 2)  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Sets(ctypes.Structure):
    _fields_ = (
        ("effective", ctypes.c_uint32),
        ("permitted", ctypes.c_uint32),
        ("inheritable", ctypes.c_uint32),
    )


@contextmanager
def powerless() -> Iterator[None]:
    """In this thread and the children it forks, modes and owners count; for others they do."""
    if os.geteuid() != 0:
        yield
        return
    sets = (_Sets * 2)()
    _call("capget", sets)
    kept = sets[0].effective
    sets[0].effective &= ~_POWERS
    _call("capset", sets)
    try:
        yield
    finally:
        sets[0].effective = kept
        _call("capset", sets)


def _call(name: str, sets: ctypes.Array[_Sets]) -> None:
    header = _Header(_VERSION, 0)
    if getattr(ctypes.CDLL(None, use_errno=True), name)(ctypes.byref(header), sets) != 0:
        raise OSError(ctypes.get_errno(), name)
