# SPDX-License-Identifier: Apache-2.0
"""Kubernetes quantities ("1500m", "2Gi"), exact."""
from __future__ import annotations

import ctypes
from typing import Any, Union

from . import _lowlevel as low
from ._core import default_environment, written
from ._library import functions
from .errors import new_error, raise_for


class Quantity:
    """An amount; compares by value, prints in Go's canonical form."""

    __slots__ = ('_value',)

    def __init__(self, source: Union[str, int, 'Quantity']) -> None:
        self._value = low.grove_quantity()
        raw, error = str(source).encode(), new_error()
        raise_for(functions.quantity_parse(raw, len(raw), ctypes.byref(self._value), ctypes.byref(error)), error)

    @classmethod
    def _of(cls, compute: Any) -> 'Quantity':
        result = cls(0)
        raise_for(compute(ctypes.byref(result._value)))
        return result

    def milli(self) -> int:
        """In thousandths, rounded away from zero."""
        return self._integer(functions.quantity_milli)

    def units(self) -> int:
        """In units, rounded away from zero."""
        return self._integer(functions.quantity_units)

    def _integer(self, convert: Any) -> int:
        value = ctypes.c_int64()
        raise_for(convert(ctypes.byref(self._value), ctypes.byref(value)))
        return value.value

    def __add__(self, other: 'Quantity') -> 'Quantity':
        return self._of(lambda out: functions.quantity_add(ctypes.byref(self._value), ctypes.byref(other._value), out))

    def __sub__(self, other: 'Quantity') -> 'Quantity':
        return self._of(lambda out: functions.quantity_sub(ctypes.byref(self._value), ctypes.byref(other._value), out))

    def __mul__(self, factor: int) -> 'Quantity':
        return self._of(lambda out: functions.quantity_mul(ctypes.byref(self._value), factor, out))

    def _compare(self, other: 'Quantity') -> int:
        return int(functions.quantity_compare(ctypes.byref(self._value), ctypes.byref(other._value)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Quantity):
            return NotImplemented
        return self._compare(other) == 0

    def __lt__(self, other: 'Quantity') -> bool:
        return self._compare(other) < 0

    def __le__(self, other: 'Quantity') -> bool:
        return self._compare(other) <= 0

    def __hash__(self) -> int:
        return hash((self._value.hi, self._value.lo))

    def __str__(self) -> str:
        return written(default_environment(),
                       lambda buf, error: functions.quantity_format(ctypes.byref(self._value), buf)).decode()

    def __repr__(self) -> str:
        return f'Quantity({str(self)!r})'
