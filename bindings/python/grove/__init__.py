# SPDX-License-Identifier: Apache-2.0
"""libgrove: what a PodCliqueSet means, and where its gangs go.

    import grove

    verdict = grove.validate(manifest)          # dicts in, dataclasses and dicts out
    children = grove.render(manifest)['items']

Objects are plain dicts and lists (or a Document, where places in the source text matter). Calls that cannot judge
raise a GroveError; a refusal or a gang that does not fit is a result. Long calls release the interpreter lock;
documents, configurations and environments may be shared between threads, everything else belongs to one at a time.
"""
from __future__ import annotations

from ._core import Environment
from ._library import functions as _functions
from .answers import diff, explain, place, simulate
from .admission import (Config, Finding, Verdict, admission_review, crd, default, default_document, lint, migrate,
                        validate)
from .cluster import (CAP_APPLY, CAP_DETERMINISTIC, CAP_DRY_RUN, CAP_EVICT, CAP_GC, CAP_REPLACE, CAP_SCALE,
                      CAP_SELECTORS, CAP_STATUS, CAP_STRATEGIC, CAP_VIRTUAL_TIME, NEVER, SECOND, Backend, Check,
                      Engine, Operation, SimulatedCluster, Sink, Watch, api_version, conformance, has_scale,
                      is_namespaced, run)
from .documents import Document, json_patch, load, make_json_patch, make_merge_patch, merge_patch
from .errors import (AlreadyExists, Conflict, Gone, GroveError, InternalError, InvalidArgument, LimitError, NotFound,
                     ParseError, RangeError, Refused, Unsupported, WrongType)
from .planning import Placement, Planner, Store, names, render
from .quantities import Quantity
from .scheduling import (Candidate, Decision, Gang, Group, PodGroup, Scheduler, Taint, Toleration)

__version__: str = _functions.version().decode()

__all__ = [
    'AlreadyExists', 'Backend', 'CAP_APPLY', 'CAP_DETERMINISTIC', 'CAP_DRY_RUN', 'CAP_EVICT', 'CAP_GC',
    'CAP_REPLACE', 'CAP_SCALE', 'CAP_SELECTORS', 'CAP_STATUS', 'CAP_STRATEGIC', 'CAP_VIRTUAL_TIME', 'Candidate',
    'Check', 'Config', 'Conflict', 'Decision', 'Document', 'Engine', 'Environment', 'Finding', 'Gang', 'Gone',
    'Group', 'GroveError', 'InternalError', 'InvalidArgument', 'LimitError', 'NEVER', 'NotFound', 'Operation',
    'ParseError', 'Placement', 'Planner', 'PodGroup', 'Quantity', 'RangeError', 'Refused', 'SECOND', 'Scheduler',
    'SimulatedCluster', 'Sink', 'Store', 'Taint', 'Toleration', 'Unsupported', 'Verdict', 'Watch', 'WrongType',
    '__version__', 'admission_review', 'api_version', 'conformance', 'crd', 'default', 'default_document', 'diff',
    'explain', 'has_scale', 'is_namespaced', 'json_patch', 'lint', 'load', 'make_json_patch', 'make_merge_patch',
    'merge_patch', 'migrate', 'names', 'place', 'render', 'run', 'simulate', 'validate',
]
