# SPDX-License-Identifier: Apache-2.0
"""Finds and loads libgrove: the environment's LIBGROVE, the copy in this package, the system's."""
from __future__ import annotations

import ctypes
import ctypes.util
import os
import pathlib

from . import _lowlevel

_SONAME = 'libgrove.so.0'


def _candidates() -> list[str]:
    chosen = os.environ.get('LIBGROVE')
    if chosen:
        return [chosen]
    packaged = pathlib.Path(__file__).parent / '_lib' / _SONAME
    found = [str(packaged)] if packaged.exists() else []
    system = ctypes.util.find_library('grove')
    return found + ([system] if system else []) + [_SONAME]


def _load() -> ctypes.CDLL:
    tried = []
    for path in _candidates():
        try:
            library = ctypes.CDLL(path)
        except OSError as error:
            tried.append(str(error))
            continue
        number = library.grove_version_number
        number.restype = ctypes.c_int32
        if number() // 1000 != _lowlevel.GROVE_VERSION_MAJOR * 1000 + _lowlevel.GROVE_VERSION_MINOR:
            tried.append(f'{path}: version {number()} is not {_lowlevel.GROVE_VERSION_STRING}')
            continue
        return library
    raise ImportError('libgrove was not found: ' + '; '.join(tried))


functions = _lowlevel.Functions(_load())
