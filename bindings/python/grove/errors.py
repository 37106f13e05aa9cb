# SPDX-License-Identifier: Apache-2.0
"""What goes wrong: one exception class per status, with the place the library names."""
from __future__ import annotations

import ctypes
from typing import Any

from . import _lowlevel as low


class GroveError(Exception):
    """A call that could not judge.

    A refused manifest, a gang that does not fit or a plan that waits are results and raise nothing.
    """

    def __init__(self, status: int, message: str, *, path: str = '', line: int = 0, column: int = 0,
                 flags: int = 0, retry_after_ms: int = 0) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.path = path
        """Grove's field path, or a JSON pointer in calls on documents."""
        self.line = line
        """1-based; 0: unknown."""
        self.column = column
        """1-based, in bytes; 0: unknown."""
        self.retriable = bool(flags & low.GROVE_ERROR_RETRIABLE)
        self.uncertain = bool(flags & low.GROVE_ERROR_UNCERTAIN)
        """The operation may have taken effect all the same."""
        self.retry_after_ms = retry_after_ms

    def __str__(self) -> str:
        place = f'line {self.line}, column {self.column}: ' if self.line else ''
        where = f'{self.path}: ' if self.path else ''
        return f'{place}{where}{self.message}'


class InvalidArgument(GroveError):
    """An argument breaks the function's contract."""


class ParseError(GroveError):
    """Text is not well-formed; line and column tell where."""


class LimitError(GroveError):
    """A limit of the environment was reached."""


class RangeError(GroveError):
    """A number does not fit."""


class WrongType(GroveError):
    """A value has another type than the call needs."""


class NotFound(GroveError):
    """There is no such key, path or object."""


class AlreadyExists(GroveError):
    """An object of this name exists already."""


class Conflict(GroveError):
    """A precondition or a patch `test` failed."""


class Unsupported(GroveError):
    """Built without it, or not offered by this backend."""


class Refused(GroveError):
    """The object was found invalid."""


class Gone(GroveError):
    """The resourceVersion asked for is no longer served."""


class InternalError(GroveError):
    """A bug in libgrove."""


_CLASSES: dict[int, type[GroveError]] = {
    low.GROVE_E_INVALID: InvalidArgument, low.GROVE_E_PARSE: ParseError, low.GROVE_E_LIMIT: LimitError,
    low.GROVE_E_RANGE: RangeError, low.GROVE_E_TYPE: WrongType, low.GROVE_E_NOT_FOUND: NotFound,
    low.GROVE_E_EXISTS: AlreadyExists, low.GROVE_E_CONFLICT: Conflict, low.GROVE_E_UNSUPPORTED: Unsupported,
    low.GROVE_E_REFUSED: Refused, low.GROVE_E_GONE: Gone, low.GROVE_E_INTERNAL: InternalError,
}


def new_error() -> Any:
    """A grove_error to hand to a call."""
    error = low.grove_error()
    error.size = ctypes.sizeof(low.grove_error)
    return error


def raise_for(status: int, error: Any = None) -> None:
    """Raises what a negative status means; does nothing for 0 and above."""
    if status >= 0:
        return
    if status == low.GROVE_E_NOMEM:
        raise MemoryError('libgrove: out of memory')
    from ._library import functions
    message = error.message.decode('utf-8', 'replace') if error is not None and error.status == status else ''
    kind = _CLASSES.get(status, GroveError)
    if not message:
        raise kind(status, functions.status_name(status).decode())
    raise kind(status, message, path=error.path.decode('utf-8', 'replace'), line=error.line, column=error.column,
               flags=error.flags, retry_after_ms=error.retry_after_ms)


def fill(pointer: Any, exception: BaseException) -> int:
    """Tells a C caller of a callback what was raised in it; returns the status."""
    status = exception.status if isinstance(exception, GroveError) else low.GROVE_E_INTERNAL
    if isinstance(exception, MemoryError):
        status = low.GROVE_E_NOMEM
    if pointer:
        from ._library import functions
        functions.error_set(pointer, status, f'{type(exception).__name__}: {exception}'.encode())
    return status
