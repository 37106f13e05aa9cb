# SPDX-License-Identifier: Apache-2.0
"""What a cluster with Grove would say about an object: verdict, defaults, webhooks, lints, older forms."""
from __future__ import annotations

import ctypes
import json
from dataclasses import dataclass
from typing import Any, Literal, Optional

from . import _lowlevel as low
from ._core import Environment, Handle, environment, made, optional, text, written
from ._library import functions
from .documents import Document, Object, document, load
from .errors import new_error, raise_for

Operation = Literal['auto', 'create', 'update', 'status', 'scale']
FieldValidation = Literal['Strict', 'Warn', 'Ignore']
_OPERATIONS = {'auto': low.GROVE_OPERATION_AUTO, 'create': low.GROVE_OPERATION_CREATE,
               'update': low.GROVE_OPERATION_UPDATE, 'status': low.GROVE_OPERATION_STATUS,
               'scale': low.GROVE_OPERATION_SCALE}
_FIELDS = {'Strict': low.GROVE_FIELDS_STRICT, 'Warn': low.GROVE_FIELDS_WARN, 'Ignore': low.GROVE_FIELDS_IGNORE}


class Config(Handle):
    """The operator's configuration and the cluster objects that admission and planning look up."""

    _free = functions.config_unref

    def __init__(self, *objects: Object, env: Optional[Environment] = None) -> None:
        super().__init__(None)
        self.environment = environment(env)
        self._pointer = made(lambda out, error: functions.config_new(self.environment.pointer, out))
        for item in objects:
            self.add(item)

    @classmethod
    def from_text(cls, source: str, *, env: Optional[Environment] = None) -> 'Config':
        """Of a YAML stream, a List or a JSON array."""
        config, raw, error = cls(env=env), source.encode(), new_error()
        raise_for(functions.config_load(config.pointer, raw, len(raw), ctypes.byref(error)), error)
        return config

    def add(self, item: Object) -> None:
        doc, error = document(item, self.environment), new_error()
        raise_for(functions.config_add(self.pointer, doc.pointer, doc.root, ctypes.byref(error)), error)


@dataclass(frozen=True)
class Finding:
    """One finding; `code` is explained in the error registry."""

    code: str
    severity: Literal['error', 'warning', 'note']
    type: str
    path: str
    message: str
    line: int
    column: int


@dataclass(frozen=True)
class Verdict:
    """Whether a cluster takes the object, and where it would refuse."""

    allowed: bool
    stage: Literal['', 'decode', 'schema', 'webhook']
    http_code: int
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if f.severity == 'error')

    @property
    def warnings(self) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if f.severity == 'warning')

    def __bool__(self) -> bool:
        return self.allowed


class _Findings(Handle):
    _free = functions.diags_free

    def __init__(self, env: Environment) -> None:
        super().__init__(made(lambda out, error: functions.diags_new(env.pointer, out)))

    def all(self) -> tuple[Finding, ...]:
        found = []
        for i in range(functions.diags_count(self.pointer)):
            it = functions.diags_at(self.pointer, i).contents
            severity: Any = {1: 'error', 2: 'warning'}.get(it.severity, 'note')
            found.append(Finding(f'GRV{it.code:04}', severity, text(it.type), text(it.path), text(it.message), it.line,
                                 it.column))
        return tuple(found)


def _options(operation: Operation, fields: FieldValidation, flags: int, config: Optional[Config],
             namespace: Optional[str]) -> Any:
    return low.grove_validate_options(
        size=ctypes.sizeof(low.grove_validate_options), operation=_OPERATIONS[operation], fields=_FIELDS[fields],
        flags=flags, config=config.pointer if config else None, namespace_name=optional(namespace))


def validate(item: Object, *, old: Optional[Object] = None, config: Optional[Config] = None,
             operation: Operation = 'auto', fields: FieldValidation = 'Strict', lint: bool = False,
             legacy: bool = False, strict: bool = False, pod_warnings: bool = False, strict_upstream: bool = False,
             schema_only: bool = False, namespace: Optional[str] = None) -> Verdict:
    """Judges an object; `old` is the stored one when this is an update."""
    doc = document(item)
    before = document(old) if old is not None else None
    flags = ((low.GROVE_VALIDATE_LINT if lint else 0) | (low.GROVE_VALIDATE_LEGACY if legacy else 0)
             | (low.GROVE_VALIDATE_WARNINGS_REFUSE if strict else 0)
             | (low.GROVE_VALIDATE_POD_WARNINGS if pod_warnings else 0)
             | (low.GROVE_VALIDATE_STRICT_UPSTREAM if strict_upstream else 0)
             | (low.GROVE_VALIDATE_SCHEMA_ONLY if schema_only else 0))
    options, error = _options(operation, fields, flags, config, namespace), new_error()
    verdict = low.grove_admission_verdict(size=ctypes.sizeof(low.grove_admission_verdict))
    with _Findings(doc.environment) as findings:
        raise_for(functions.validate(
            doc.environment.pointer, doc.pointer, doc.root, before.pointer if before else None,
            before.root if before else None, ctypes.byref(options), findings.pointer, ctypes.byref(verdict),
            ctypes.byref(error)), error)
        stage: Any = text(functions.stage_name(verdict.stage))
        return Verdict(bool(verdict.allowed), stage, verdict.http_code, findings.all())


def default(item: Object, *, config: Optional[Config] = None, fields: FieldValidation = 'Strict',
            namespace: Optional[str] = None) -> Any:
    """The object as a cluster would store it. Raises Refused when it cannot be decoded."""
    return default_document(item, config=config, fields=fields, namespace=namespace).to_python()


def default_document(item: Object, *, config: Optional[Config] = None, fields: FieldValidation = 'Strict',
                     namespace: Optional[str] = None) -> Document:
    """The same as a Document, for further calls."""
    doc, options = document(item), _options('auto', fields, 0, config, namespace)
    return Document(made(lambda out, error: functions.default(
        doc.environment.pointer, doc.pointer, doc.root, ctypes.byref(options), None, out, error)), doc.environment)


def lint(item: Object, *, config: Optional[Config] = None, nodes: Optional[Object] = None,
         disabled: tuple[int, ...] = ()) -> tuple[Finding, ...]:
    """Warnings about a valid object; `nodes` (a List) lets them ask what the cluster has."""
    doc, error = document(item), new_error()
    node_doc = document(nodes) if nodes is not None else None
    codes = (ctypes.c_uint32 * len(disabled))(*disabled)
    options = low.grove_lint_options(size=ctypes.sizeof(low.grove_lint_options), n_disabled=len(disabled),
                                     disabled=codes, nodes_doc=node_doc.pointer if node_doc else None,
                                     nodes=node_doc.root if node_doc else None)
    with _Findings(doc.environment) as findings:
        raise_for(functions.lint(doc.environment.pointer, doc.pointer, doc.root, config.pointer if config else None,
                                 ctypes.byref(options), findings.pointer, ctypes.byref(error)), error)
        return findings.all()


def migrate(item: Object) -> tuple[Any, tuple[Finding, ...]]:
    """The modern form of an object written for an older release, and what could not be carried over."""
    doc = document(item)
    with _Findings(doc.environment) as findings:
        pointer = made(lambda out, error: functions.migrate(doc.environment.pointer, doc.pointer, doc.root,
                                                            findings.pointer, out, error))
        return Document(pointer, doc.environment).to_python(), findings.all()


def admission_review(path: str, review: Any, *, config: Optional[Config] = None,
                     env: Optional[Environment] = None) -> Any:
    """The answer to an AdmissionReview (a dict, or its bytes) at a webhook's URL path."""
    used = environment(env)
    raw = review if isinstance(review, bytes) else json.dumps(review).encode()
    answer = written(used, lambda buf, error: functions.admission_review(
        used.pointer, config.pointer if config else None, path.encode(), raw, len(raw), buf, error))
    return json.loads(answer)


def crd(kind: str, *, extended: bool = False, env: Optional[Environment] = None) -> Any:
    """The CustomResourceDefinition of a kind."""
    used = environment(env)
    chosen = low.GROVE_CRD_EXTENDED if extended else low.GROVE_CRD_UPSTREAM
    yaml = written(used, lambda buf, error: functions.crd_write(used.pointer, kind.encode(), chosen, buf, error))
    return next(load(yaml, env=used)).to_python()
