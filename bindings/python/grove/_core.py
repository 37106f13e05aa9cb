# SPDX-License-Identifier: Apache-2.0
"""What every module needs: the environment, owned handles, bytes out of buffers."""
from __future__ import annotations

import ctypes
import threading
from types import TracebackType
from typing import Any, Callable, Optional, TypeVar

from . import _lowlevel as low
from ._library import functions
from .errors import new_error, raise_for

Self = TypeVar('Self', bound='Handle')


class Handle:
    """A C object with one owner: freed by close(), at the end of a `with` block, or when collected.

    Objects that C still needs are kept alive by holding a reference to their handle.
    """

    _free: Callable[[int], None]

    def __init__(self, pointer: Optional[int]) -> None:
        self._pointer = pointer

    @property
    def pointer(self) -> int:
        if self._pointer is None:
            raise ValueError(f'{type(self).__name__} is closed')
        return self._pointer

    def close(self) -> None:
        pointer, self._pointer = self._pointer, None
        if pointer is not None:
            type(self)._free(pointer)

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, '_pointer', None) is not None:
            self.close()


LogFunction = Callable[[int, str, str, dict[str, str]], None]


class Environment(Handle):
    """Limits and a log for the calls made with it. `log` gets level (1 error to 5 trace), component, message, fields."""

    _free = functions.env_unref

    def __init__(self, *, log: Optional[LogFunction] = None, log_level: int = 0, depth: int = 0,
                 document_bytes: int = 0, document_nodes: int = 0, diagnostics: int = 0, search_steps: int = 0,
                 store_bytes: int = 0) -> None:
        limits = low.grove_limits(size=ctypes.sizeof(low.grove_limits), depth=depth, document_bytes=document_bytes,
                                  document_nodes=document_nodes, diagnostics=diagnostics, search_steps=search_steps,
                                  store_bytes=store_bytes)
        options = low.grove_env_options(size=ctypes.sizeof(low.grove_env_options), log_level=log_level,
                                        limits=ctypes.pointer(limits))
        self._log = low.grove_log_fn(self._forwarder(log)) if log else None  # alive as long as the environment
        if self._log is not None:
            options.log = self._log
        pointer = ctypes.c_void_p()
        super().__init__(None)
        raise_for(functions.env_new(ctypes.byref(options), ctypes.byref(pointer)))
        self._pointer = pointer.value

    @staticmethod
    def _forwarder(log: LogFunction) -> Callable[[Any, Any], None]:
        def forward(_ctx: Any, record: Any) -> None:
            it = record.contents
            fields = {it.fields[i].key.decode(): it.fields[i].value.decode('utf-8', 'replace')
                      for i in range(it.n_fields)}
            log(it.level, it.component.decode(), it.message.decode('utf-8', 'replace'), fields)
        return forward


_default: Optional[Environment] = None
_default_lock = threading.Lock()


def default_environment() -> Environment:
    """The environment of calls that name none: no log, default limits, safe to share between threads."""
    global _default
    with _default_lock:
        if _default is None:
            _default = Environment()
        return _default


def environment(chosen: Optional[Environment]) -> Environment:
    return chosen if chosen is not None else default_environment()


def written(env: Environment, write: Callable[[Any, Any], Any]) -> bytes:
    """The bytes that `write(buffer, error)` appends."""
    buffer, error = low.grove_buf(), new_error()
    functions.buf_init(ctypes.byref(buffer), env.pointer)
    try:
        raise_for(write(ctypes.byref(buffer), ctypes.byref(error)), error)
        return ctypes.string_at(buffer.data, buffer.len) if buffer.len else b''
    finally:
        functions.buf_fini(ctypes.byref(buffer))


def made(make: Callable[[Any, Any], Any]) -> int:
    """The pointer that `make(out, error)` writes."""
    pointer, error = ctypes.c_void_p(), new_error()
    raise_for(make(ctypes.byref(pointer), ctypes.byref(error)), error)
    assert pointer.value is not None
    return pointer.value


def text(value: Optional[bytes]) -> str:
    return value.decode('utf-8', 'replace') if value else ''


def optional(value: Optional[str]) -> Optional[bytes]:
    return value.encode() if value is not None else None
