# SPDX-License-Identifier: Apache-2.0
"""Documents: JSON and YAML that keep their numbers, unknown fields and places; patches; canonical hashes."""
from __future__ import annotations

import ctypes
import json
from typing import Any, Iterator, Mapping, Optional, Sequence, Union

from . import _lowlevel as low
from ._core import Environment, Handle, environment, made, written
from ._library import functions
from .errors import new_error, raise_for

Object = Union['Document', Mapping[str, Any], Sequence[Any]]
"""Whatever a call takes as an object: a Document, or plain dicts and lists."""


class Document(Handle):
    """An immutable JSON or YAML value. Reading it is safe from any number of threads."""

    _free = functions.doc_unref

    def __init__(self, pointer: int, env: Environment) -> None:
        super().__init__(pointer)
        self.environment = env

    @classmethod
    def from_json(cls, source: Union[str, bytes], *, strict: bool = True,
                  env: Optional[Environment] = None) -> 'Document':
        """Parses one JSON text. strict: duplicate keys are errors."""
        return cls._parsed(functions.doc_parse_json, source, strict, env)

    @classmethod
    def from_yaml(cls, source: Union[str, bytes], *, strict: bool = True,
                  env: Optional[Environment] = None) -> 'Document':
        """Parses one YAML document, typed as Kubernetes tools type it."""
        return cls._parsed(functions.doc_parse_yaml, source, strict, env)

    @classmethod
    def from_python(cls, value: Any, *, env: Optional[Environment] = None) -> 'Document':
        """Dicts, lists, strings, numbers, booleans and None."""
        return cls.from_json(json.dumps(value, ensure_ascii=False, separators=(',', ':')), env=env)

    @classmethod
    def _parsed(cls, parse: Any, source: Union[str, bytes], strict: bool, env: Optional[Environment]) -> 'Document':
        used = environment(env)
        raw = source.encode('utf-8', 'surrogatepass') if isinstance(source, str) else bytes(source)
        flags = low.GROVE_PARSE_STRICT if strict else 0
        return cls(made(lambda out, error: parse(used.pointer, raw, len(raw), flags, out, error)), used)

    @property
    def root(self) -> int:
        """The root node, for calls of the C API."""
        return int(functions.doc_root(self.pointer))

    def to_python(self) -> Any:
        return json.loads(self.to_json())

    def to_json(self, *, pretty: bool = False, canonical: bool = False) -> str:
        flags = (low.GROVE_WRITE_PRETTY if pretty else 0) | (low.GROVE_WRITE_CANONICAL if canonical else 0)
        return self._written(functions.node_write_json, flags)

    def to_yaml(self) -> str:
        return self._written(functions.node_write_yaml, 0)

    def _written(self, write: Any, flags: int) -> str:
        return written(self.environment, lambda buf, error: write(self.root, flags, buf, error)).decode()

    def hash(self) -> int:
        """64 bits over the canonical form: equal values, equal hashes, on every machine."""
        value, error = ctypes.c_uint64(), new_error()
        raise_for(functions.node_hash(self.root, ctypes.byref(value), ctypes.byref(error)), error)
        return value.value

    def position(self, pointer: str = '') -> tuple[int, int]:
        """Line and column of what a JSON pointer leads to; (0, 0) when there is no such thing."""
        node = functions.node_at_path(self.root, pointer.encode())
        line, column = ctypes.c_uint32(), ctypes.c_uint32()
        if node:
            functions.node_position(self.pointer, node, ctypes.byref(line), ctypes.byref(column))
        return line.value, column.value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Document):
            return NotImplemented
        return bool(functions.node_equal(self.root, other.root))

    def __hash__(self) -> int:
        return self.hash()

    def __repr__(self) -> str:
        return 'Document(closed)' if self._pointer is None else f'Document({self.to_json()[:60]})'


def document(value: Object, env: Optional[Environment] = None) -> Document:
    """The document of anything that stands for an object."""
    return value if isinstance(value, Document) else Document.from_python(value, env=env)


def load(source: Union[str, bytes], *, strict: bool = True, env: Optional[Environment] = None) -> Iterator[Document]:
    """The documents of a YAML stream, or of a JSON text, one after the other."""
    used = environment(env)
    raw = source.encode() if isinstance(source, str) else bytes(source)
    flags = low.GROVE_PARSE_STRICT if strict else 0
    stream = made(lambda out, error: functions.stream_new(used.pointer, raw, len(raw), flags, out, error))
    try:
        while True:
            pointer, error = ctypes.c_void_p(), new_error()
            raise_for(functions.stream_next(stream, ctypes.byref(pointer), ctypes.byref(error)), error)
            if pointer.value is None:
                return
            yield Document(pointer.value, used)
    finally:
        functions.stream_free(stream)


def _of_two(call: Any, a: Object, b: Object) -> Document:
    first, second = document(a), document(b)
    return Document(made(lambda out, error: call(first.pointer, first.root, second.pointer, second.root, out, error)),
                    first.environment)


def merge_patch(target: Object, patch: Object) -> Any:
    """RFC 7396: the patch applied."""
    return _of_two(functions.merge_patch_apply, target, patch).to_python()


def make_merge_patch(before: Object, after: Object) -> Any:
    """RFC 7396: the smallest patch from one to the other. Raises Unsupported where there is none."""
    return _of_two(functions.merge_patch_make, before, after).to_python()


def json_patch(target: Object, patch: Object) -> Any:
    """RFC 6902, atomic. Raises Conflict when a `test` fails."""
    return _of_two(functions.json_patch_apply, target, patch).to_python()


def make_json_patch(before: Object, after: Object) -> Any:
    """RFC 6902 operations that turn one into the other."""
    return _of_two(functions.json_patch_make, before, after).to_python()
