# SPDX-License-Identifier: Apache-2.0
# gate-allow(source): one API, written by a program
"""The C API of libgrove as ctypes, one to one. Written by generate.py; not to be edited.

Pointers to opaque objects are c_void_p: plain integers here, wrapped by the modules beside this one.
"""
from __future__ import annotations

from ctypes import (CDLL, CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_double, c_int32, c_int64,
                    c_short, c_size_t, c_uint32, c_uint64, c_uint8, c_void_p)
from typing import Any

GROVE_OK = 0
GROVE_E_NOMEM = -1
GROVE_E_INVALID = -2
GROVE_E_PARSE = -3
GROVE_E_LIMIT = -4
GROVE_E_RANGE = -5
GROVE_E_TYPE = -6
GROVE_E_NOT_FOUND = -7
GROVE_E_EXISTS = -8
GROVE_E_CONFLICT = -9
GROVE_E_UNSUPPORTED = -10
GROVE_E_TOO_NEW = -11
GROVE_E_IO = -12
GROVE_E_AUTH = -13
GROVE_E_FORBIDDEN = -14
GROVE_E_REFUSED = -15
GROVE_E_GONE = -16
GROVE_E_BUSY = -17
GROVE_E_UNAVAILABLE = -18
GROVE_E_TIMEOUT = -19
GROVE_E_CANCELLED = -20
GROVE_E_INTERNAL = -100
GROVE_CATEGORY_NONE = 0
GROVE_CATEGORY_CALLER = 1
GROVE_CATEGORY_INPUT = 2
GROVE_CATEGORY_RESOURCE = 3
GROVE_CATEGORY_REMOTE = 4
GROVE_CATEGORY_BUG = 5
GROVE_ERROR_RETRIABLE = 1
GROVE_ERROR_UNCERTAIN = 2
GROVE_LOG_ERROR = 1
GROVE_LOG_WARN = 2
GROVE_LOG_INFO = 3
GROVE_LOG_DEBUG = 4
GROVE_LOG_TRACE = 5
GROVE_MISSING = 0
GROVE_NULL_NODE = 1
GROVE_BOOL = 2
GROVE_NUMBER = 3
GROVE_STRING = 4
GROVE_ARRAY = 5
GROVE_OBJECT = 6
GROVE_PARSE_STRICT = 1
GROVE_PARSE_NUMBERS_AS_FLOAT64 = 2
GROVE_WRITE_PRETTY = 1
GROVE_WRITE_CANONICAL = 2
GROVE_SEVERITY_ERROR = 1
GROVE_SEVERITY_WARNING = 2
GROVE_SEVERITY_NOTE = 3
GROVE_OPERATION_AUTO = 0
GROVE_OPERATION_CREATE = 1
GROVE_OPERATION_UPDATE = 2
GROVE_OPERATION_STATUS = 3
GROVE_OPERATION_SCALE = 4
GROVE_FIELDS_STRICT = 0
GROVE_FIELDS_WARN = 1
GROVE_FIELDS_IGNORE = 2
GROVE_STAGE_NONE = 0
GROVE_STAGE_DECODE = 1
GROVE_STAGE_SCHEMA = 2
GROVE_STAGE_WEBHOOK = 3
GROVE_VALIDATE_LINT = 1
GROVE_VALIDATE_LEGACY = 2
GROVE_VALIDATE_WARNINGS_REFUSE = 4
GROVE_VALIDATE_POD_WARNINGS = 8
GROVE_VALIDATE_STRICT_UPSTREAM = 16
GROVE_VALIDATE_SCHEMA_ONLY = 32
GROVE_CRD_UPSTREAM = 0
GROVE_CRD_EXTENDED = 1
GROVE_VERB_NONE = 0
GROVE_VERB_GET = 1
GROVE_VERB_LIST = 2
GROVE_VERB_CREATE = 3
GROVE_VERB_PATCH = 4
GROVE_VERB_APPLY = 5
GROVE_VERB_DELETE = 6
GROVE_VERB_BIND = 7
GROVE_VERB_EVICT = 8
GROVE_VERB_EVENT = 9
GROVE_VERB_SCALE = 10
GROVE_VERB_REPLACE = 11
GROVE_VERB_COUNT = 12
GROVE_KIND_NONE = 0
GROVE_KIND_PODCLIQUESET = 1
GROVE_KIND_PODCLIQUE = 2
GROVE_KIND_PODCLIQUESCALINGGROUP = 3
GROVE_KIND_CLUSTERTOPOLOGYBINDING = 4
GROVE_KIND_PODGANG = 5
GROVE_KIND_POD = 6
GROVE_KIND_NODE = 7
GROVE_KIND_SERVICE = 8
GROVE_KIND_SERVICEACCOUNT = 9
GROVE_KIND_SECRET = 10
GROVE_KIND_ROLE = 11
GROVE_KIND_ROLEBINDING = 12
GROVE_KIND_HPA = 13
GROVE_KIND_RESOURCECLAIM = 14
GROVE_KIND_RESOURCECLAIMTEMPLATE = 15
GROVE_KIND_COMPUTEDOMAIN = 16
GROVE_KIND_KAI_PODGROUP = 17
GROVE_KIND_KAI_TOPOLOGY = 18
GROVE_KIND_VOLCANO_PODGROUP = 19
GROVE_KIND_VOLCANO_QUEUE = 20
GROVE_KIND_PRIORITYCLASS = 21
GROVE_KIND_EVENT = 22
GROVE_KIND_PDB = 23
GROVE_KIND_NAMESPACE = 24
GROVE_KIND_LEASE = 25
GROVE_KIND_CONFIGMAP = 26
GROVE_KIND_CRD = 27
GROVE_KIND_MUTATING_WEBHOOK = 28
GROVE_KIND_VALIDATING_WEBHOOK = 29
GROVE_KIND_CONTROLLERREVISION = 30
GROVE_KIND_COUNT = 31
GROVE_SUBRESOURCE_NONE = 0
GROVE_SUBRESOURCE_STATUS = 1
GROVE_SUBRESOURCE_SCALE = 2
GROVE_SUBRESOURCE_BINDING = 3
GROVE_SUBRESOURCE_EVICTION = 4
GROVE_PATCH_NONE = 0
GROVE_PATCH_MERGE = 1
GROVE_PATCH_JSON = 2
GROVE_PATCH_STRATEGIC = 3
GROVE_PROPAGATION_DEFAULT = 0
GROVE_PROPAGATION_BACKGROUND = 1
GROVE_PROPAGATION_FOREGROUND = 2
GROVE_PROPAGATION_ORPHAN = 3
GROVE_SIMULATE_INSTANT = 1
GROVE_OP_DRY_RUN = 1
GROVE_OP_FORCE = 2
GROVE_OP_NO_REPLY = 4
GROVE_GRACE_DEFAULT = -1
GROVE_EVENT_ADDED = 1
GROVE_EVENT_MODIFIED = 2
GROVE_EVENT_DELETED = 3
GROVE_EVENT_BOOKMARK = 4
GROVE_EVENT_SYNCED = 5
GROVE_EVENT_GONE = 6
GROVE_WATCH_RECORDS = 1
GROVE_POLL_IN = 1
GROVE_POLL_OUT = 2
GROVE_CONTROL_FLUSH = 1
GROVE_CONTROL_STATS = 2
GROVE_CONTROL_PAUSE = 3
GROVE_CONTROL_RESUME = 4
GROVE_CONTROL_SYNC_LOST = 5
GROVE_CAP_STATUS = 1
GROVE_CAP_SCALE = 2
GROVE_CAP_STRATEGIC = 4
GROVE_CAP_APPLY = 8
GROVE_CAP_REPLACE = 16
GROVE_CAP_EVICT = 32
GROVE_CAP_DRY_RUN = 64
GROVE_CAP_SELECTORS = 128
GROVE_CAP_GC = 256
GROVE_CAP_VIRTUAL_TIME = 512
GROVE_CAP_DETERMINISTIC = 1024
GROVE_ENGINE_CHECK = 1
GROVE_ENGINE_NO_EVENTS = 2
GROVE_K8S_IN_CLUSTER = 1
GROVE_K8S_NO_WATCHLIST = 2
GROVE_K8S_LEASE_NONE = 0
GROVE_K8S_LEASE_STANDBY = 1
GROVE_K8S_LEASE_LEADING = 2
GROVE_K8S_LEASE_RELEASING = 3
GROVE_K8S_LEASE_RELEASED = 4
GROVE_K8S_LEASE_LOST = 5
GROVE_TABLE_WIDE = 1
GROVE_TABLE_NAMESPACE = 2
GROVE_TABLE_NO_HEADERS = 4
GROVE_NEVER = 9223372036854775807
GROVE_VERDICT_NONE = 0
GROVE_VERDICT_PLACED = 1
GROVE_VERDICT_INFEASIBLE = 2
GROVE_VERDICT_UNKNOWN = 3
GROVE_VERDICT_NOMINATED = 4
GROVE_DISRUPTION_WITHDRAWN = 1
GROVE_ACTION_CAN_WAIT = 1
GROVE_ACTION_NAMES_ANOTHER = 2
GROVE_QUANTITY_DECIMAL_SI = 0
GROVE_QUANTITY_BINARY_SI = 1
GROVE_QUANTITY_DECIMAL_EXPONENT = 2
GROVE_RENDER_EXACT_TEMPLATES = 1
GROVE_RENDER_AS_SENT = 2
GROVE_SCHED_NONE = 4294967295
GROVE_LEVEL_NONE = -1
GROVE_LEVEL_UNKNOWN = -2
GROVE_TAINT_ANY = 0
GROVE_TAINT_NO_SCHEDULE = 1
GROVE_TAINT_PREFER_NO_SCHEDULE = 2
GROVE_TAINT_NO_EXECUTE = 3
GROVE_NODE_UNSCHEDULABLE = 1
GROVE_NODE_DOWN = 2
GROVE_QUEUE_NONE = 0
GROVE_MATCH_IN = 1
GROVE_MATCH_NOT_IN = 2
GROVE_MATCH_EXISTS = 3
GROVE_MATCH_DOES_NOT_EXIST = 4
GROVE_MATCH_GT = 5
GROVE_MATCH_LT = 6
GROVE_MATCH_NAME_IN = 7
GROVE_MATCH_NAME_NOT_IN = 8
GROVE_POD_NEVER_EVICT = 1
GROVE_STRENGTH_NONE = 0
GROVE_STRENGTH_PREFERRED = 1
GROVE_STRENGTH_REQUIRED = 2
GROVE_GANG_NEVER_EVICT = 1
GROVE_GANG_YIELDS = 2
GROVE_PLACED = 1
GROVE_INFEASIBLE = 2
GROVE_UNKNOWN = 3
GROVE_PLACE_GREEDY_ONLY = 1
GROVE_PLACE_EXACT_ONLY = 2
GROVE_ENTITY_GANG = 0
GROVE_ENTITY_GROUP = 1
GROVE_ENTITY_PODGROUP = 2
GROVE_REASON_NONE = 0
GROVE_REASON_UNKNOWN_LEVEL = 1
GROVE_REASON_NO_NODE = 2
GROVE_REASON_PINNED_APART = 3
GROVE_REASON_ANCHOR = 4
GROVE_REASON_RESOURCE = 5
GROVE_REASON_COUNT = 6
GROVE_REASON_CAPABILITY = 7
GROVE_REASON_JOINT = 8
GROVE_REASON_SPREAD = 9
GROVE_REASON_BUDGET = 10
GROVE_REASON_QUEUE_LIMIT = 11
GROVE_REASON_QUEUE_SHARE = 12
GROVE_REASON_KEPT = 13
GROVE_EXPLAIN_JSON = 1
GROVE_SERVE_PREEMPT = 1
GROVE_SERVE_RECLAIM = 2
GROVE_SERVE_PLAN = 4
GROVE_SERVED_TOGETHER = 1
GROVE_SERVED_PREEMPTED = 2
GROVE_SERVED_RECLAIMED = 4
GROVE_SERVED_KEPT = 8
GROVE_VERSION_MAJOR = 0
GROVE_VERSION_MINOR = 1
GROVE_VERSION_PATCH = 0
GROVE_VERSION_STRING = '0.1.0'
GROVE_VERSION_NUMBER = 1000
GROVE_CHECK_PASSED = 0
GROVE_CHECK_FAILED = 1
GROVE_CHECK_SKIPPED = 2
GROVE_SIM_NO_KUBELET = 1
GROVE_SIM_NO_GC = 2
GROVE_SIM_NO_SCHEDULER = 4
GROVE_SIM_KEEP_LOST_PODS = 8
GROVE_SIM_LONE_PODS = 32
GROVE_SIM_MANAGED_FIELDS = 64
GROVE_SIM_AUTO_NAMESPACES = 16
GROVE_SIM_KEEP = -1
GROVE_SIM_NEVER = 9223372036854775807


class grove_error(Structure):
    """grove/status.h"""
    size: Any
    status: Any
    category: Any
    flags: Any
    retry_after_ms: Any
    line: Any
    column: Any
    reserved: Any
    path: Any
    message: Any


class grove_allocator(Structure):
    """grove/env.h"""
    size: Any
    reserved: Any
    ctx: Any
    alloc: Any
    resize: Any
    release: Any


class grove_log_field(Structure):
    """grove/env.h"""
    key: Any
    value: Any


class grove_log_record(Structure):
    """grove/env.h"""
    size: Any
    level: Any
    component: Any
    code: Any
    message: Any
    fields: Any
    n_fields: Any
    reserved: Any


class grove_limits(Structure):
    """grove/env.h"""
    size: Any
    depth: Any
    document_bytes: Any
    document_nodes: Any
    diagnostics: Any
    reserved: Any
    search_steps: Any
    store_bytes: Any


class grove_env_options(Structure):
    """grove/env.h"""
    size: Any
    log_level: Any
    allocator: Any
    log: Any
    log_ctx: Any
    limits: Any


class grove_buf(Structure):
    """grove/buf.h"""
    data: Any
    len: Any
    cap: Any
    env: Any


class grove_diag(Structure):
    """grove/diag.h"""
    size: Any
    code: Any
    severity: Any
    line: Any
    column: Any
    reserved: Any
    type: Any
    path: Any
    message: Any


class grove_code_info(Structure):
    """grove/diag.h"""
    size: Any
    code: Any
    name: Any
    title: Any
    cause: Any
    cure: Any


class grove_lint_options(Structure):
    """grove/admission.h"""
    size: Any
    n_disabled: Any
    disabled: Any
    nodes_doc: Any
    nodes: Any


class grove_validate_options(Structure):
    """grove/admission.h"""
    size: Any
    operation: Any
    fields: Any
    flags: Any
    config: Any
    lint: Any
    namespace_name: Any


class grove_admission_verdict(Structure):
    """grove/admission.h"""
    size: Any
    allowed: Any
    stage: Any
    http_code: Any


class grove_simulate_options(Structure):
    """grove/answer.h"""
    size: Any
    flags: Any
    nodes: Any
    for_ns: Any
    seed: Any


class grove_op(Structure):
    """grove/sys/backend.h"""
    size: Any
    verb: Any
    token: Any
    kind: Any
    subresource: Any
    patch_type: Any
    propagation: Any
    flags: Any
    limit: Any
    ns: Any
    name: Any
    body_doc: Any
    body: Any
    uid: Any
    resource_version: Any
    target: Any
    manager: Any
    reason: Any
    label_selector: Any
    field_selector: Any
    position: Any
    grace_seconds: Any
    replicas: Any


class grove_completion(Structure):
    """grove/sys/backend.h"""
    size: Any
    status: Any
    token: Any
    http: Any
    flags: Any
    retry_after_ms: Any
    reserved: Any
    reason: Any
    message: Any
    object_doc: Any
    object: Any


class grove_event(Structure):
    """grove/sys/backend.h"""
    size: Any
    type: Any
    token: Any
    kind: Any
    reserved: Any
    object_doc: Any
    object: Any
    resource_version: Any
    record: Any


class grove_sink(Structure):
    """grove/sys/backend.h"""
    size: Any
    reserved: Any
    ctx: Any
    completion: Any
    event: Any


class grove_watch(Structure):
    """grove/sys/backend.h"""
    size: Any
    kind: Any
    token: Any
    flags: Any
    reserved: Any
    ns: Any
    label_selector: Any
    field_selector: Any
    resource_version: Any


class grove_pollfd(Structure):
    """grove/sys/backend.h"""
    fd: Any
    events: Any


class grove_backend_ops(Structure):
    """grove/sys/backend.h"""
    size: Any
    reserved: Any
    submit: Any
    cancel: Any
    watch: Any
    pollfds: Any
    process: Any
    control: Any
    destroy: Any


class grove_backend(Structure):
    """grove/sys/backend.h"""
    size: Any
    caps: Any
    ops: Any
    impl: Any


class grove_fault_options(Structure):
    """grove/sys/backend.h"""
    size: Any
    reserved: Any
    seed: Any
    lose_request: Any
    lose_reply: Any
    refuse: Any
    conflict: Any
    delay: Any
    delay_event: Any
    duplicate_event: Any
    gone: Any
    max_delay_ns: Any
    quiet_after: Any


class grove_engine_options(Structure):
    """grove/engine.h"""
    size: Any
    flags: Any
    config: Any
    ns: Any
    bind_schedulers: Any
    seed: Any
    max_in_flight: Any
    gangs_a_step: Any
    resync_ns: Any
    backoff_ns: Any
    status_quiet_ns: Any


class grove_engine_stats(Structure):
    """grove/engine.h"""
    size: Any
    sets: Any
    in_flight: Any
    gangs_waiting: Any
    events: Any
    plans: Any
    empty_plans: Any
    operations: Any
    creates: Any
    patches: Any
    deletes: Any
    binds: Any
    failures: Any
    decisions: Any
    placed: Any
    most_rounds: Any
    reserved: Any


class grove_engine_gauges(Structure):
    """grove/engine.h"""
    size: Any
    pods_gated: Any
    oldest_gate_ns: Any
    gangs_incomplete: Any
    gangs_scored: Any
    longest_gang_wait_ns: Any
    score_thousandths: Any
    gpus_held: Any


class grove_k8s_options(Structure):
    """grove/k8s.h"""
    size: Any
    flags: Any
    kubeconfig: Any
    kubeconfig_bytes: Any
    kubeconfig_len: Any
    context: Any
    user_agent: Any
    manager: Any
    as_user: Any
    as_uid: Any
    as_groups: Any
    n_as_groups: Any
    max_in_flight: Any
    request_timeout_ms: Any
    page_size: Any
    seed: Any


class grove_k8s_lease_options(Structure):
    """grove/k8s.h"""
    size: Any
    flags: Any
    name: Any
    ns: Any
    identity: Any
    duration_ns: Any
    renew_deadline_ns: Any
    retry_ns: Any
    clock: Any
    clock_ctx: Any


class grove_k8s_lease_info(Structure):
    """grove/k8s.h"""
    size: Any
    state: Any
    identity: Any
    holder: Any
    left_ns: Any


class grove_table_column(Structure):
    """grove/kinds.h"""
    size: Any
    priority: Any
    name: Any
    type: Any
    json_path: Any


class grove_store_stats(Structure):
    """grove/store.h"""
    size: Any
    reserved: Any
    objects: Any
    pods: Any
    nodes: Any
    strings: Any
    bytes: Any
    in_flight: Any
    replaced: Any
    unchanged: Any


class grove_placed_pod(Structure):
    """grove/plan.h"""
    pod: Any
    uid: Any
    node: Any


class grove_placement(Structure):
    """grove/plan.h"""
    size: Any
    verdict: Any
    gang: Any
    reason: Any
    text: Any
    pods: Any
    n_pods: Any
    score: Any
    retry_ns: Any
    behind: Any


class grove_disruption(Structure):
    """grove/plan.h"""
    size: Any
    flags: Any
    gang: Any
    pod: Any
    uid: Any
    text: Any


class grove_refusal(Structure):
    """grove/plan.h"""
    size: Any
    verb: Any
    kind: Any
    http: Any
    name: Any
    message: Any
    at_ns: Any
    retry_ns: Any
    subresource: Any
    reserved: Any


class grove_plan_request(Structure):
    """grove/plan.h"""
    size: Any
    n_placements: Any
    ns: Any
    name: Any
    config: Any
    placements: Any
    refusals: Any
    now_ns: Any
    seed: Any
    n_refusals: Any
    flags: Any
    bind_schedulers: Any
    disruptions: Any
    n_disruptions: Any
    reserved: Any


class grove_action(Structure):
    """grove/plan.h"""
    size: Any
    verb: Any
    kind: Any
    subresource: Any
    api_version: Any
    kind_name: Any
    ns: Any
    name: Any
    uid: Any
    resource_version: Any
    patch_type: Any
    order: Any
    body: Any
    node: Any
    reason: Any
    text: Any
    event: Any
    event_name: Any
    event_uid: Any
    event_kind: Any
    flags: Any


class grove_wait(Structure):
    """grove/plan.h"""
    size: Any
    kind: Any
    name: Any
    reason: Any
    for_name: Any
    for_kind: Any
    reserved: Any
    text: Any
    since_ns: Any
    deadline_ns: Any


class grove_quantity(Structure):
    """grove/quantity.h"""
    hi: Any
    lo: Any
    format: Any
    reserved: Any


class grove_sched_candidate(Structure):
    """grove/sched.h"""
    size: Any
    topology: Any
    level: Any
    domain: Any
    rank: Any


class grove_sched_options(Structure):
    """grove/sched.h"""
    size: Any
    reserved: Any
    host_key: Any
    veto: Any
    veto_ctx: Any
    order: Any
    order_ctx: Any
    score: Any
    score_ctx: Any
    score_among: Any
    reserved2: Any


class grove_sched_label(Structure):
    """grove/sched.h"""
    key: Any
    value: Any


class grove_sched_taint(Structure):
    """grove/sched.h"""
    key: Any
    value: Any
    effect: Any
    reserved: Any


class grove_sched_node(Structure):
    """grove/sched.h"""
    size: Any
    flags: Any
    name: Any
    labels: Any
    taints: Any
    capacity: Any
    n_labels: Any
    n_taints: Any
    n_capacity: Any
    reserved: Any


class grove_queue(Structure):
    """grove/sched.h"""
    size: Any
    parent: Any
    name: Any
    deserved: Any
    limit: Any
    n_deserved: Any
    n_limit: Any
    weight: Any
    priority: Any


class grove_sched_requirement(Structure):
    """grove/sched.h"""
    key: Any
    values: Any
    n_values: Any
    op: Any


class grove_sched_term(Structure):
    """grove/sched.h"""
    requirements: Any
    n_requirements: Any
    weight: Any


class grove_sched_terms(Structure):
    """grove/sched.h"""
    terms: Any
    n_terms: Any
    reserved: Any


class grove_sched_toleration(Structure):
    """grove/sched.h"""
    key: Any
    value: Any
    effect: Any
    exists: Any


class grove_sched_port(Structure):
    """grove/sched.h"""
    protocol: Any
    ip: Any
    port: Any
    reserved: Any


class grove_sched_token(Structure):
    """grove/sched.h"""
    name: Any
    alone: Any
    reserved: Any


class grove_sched_class_spec(Structure):
    """grove/sched.h"""
    size: Any
    n_requests: Any
    requests: Any
    selector: Any
    required: Any
    preferred: Any
    tolerations: Any
    ports: Any
    n_selector: Any
    n_required: Any
    n_preferred: Any
    n_tolerations: Any
    n_ports: Any
    max_per_host: Any
    key: Any
    tokens: Any
    n_tokens: Any
    reserved: Any


class grove_sched_pod(Structure):
    """grove/sched.h"""
    size: Any
    node: Any
    class_id: Any
    n_requests: Any
    requests: Any
    priority: Any
    flags: Any
    queue: Any
    reserved: Any


class grove_place_options(Structure):
    """grove/sched.h"""
    size: Any
    flags: Any
    steps: Any
    frontier: Any
    reserved: Any


class grove_cost(Structure):
    """grove/sched.h"""
    size: Any
    reserved: Any
    climbed: Any
    span: Any
    hosts: Any
    skew: Any
    moved: Any
    broken: Any
    leftover: Any
    disliked: Any


class grove_certificate(Structure):
    """grove/sched.h"""
    size: Any
    reason: Any
    entity_kind: Any
    entity: Any
    level: Any
    candidates: Any
    nearest: Any
    class_id: Any
    resource: Any
    reserved: Any
    have: Any
    need: Any
    queue: Any
    reserved2: Any


class grove_sched_members(Structure):
    """grove/sched.h"""
    size: Any
    priority: Any
    queue: Any
    flags: Any
    n_pods: Any
    n_surplus: Any
    pods: Any


class grove_victim(Structure):
    """grove/sched.h"""
    gang: Any
    pod: Any


class grove_serve_options(Structure):
    """grove/sched.h"""
    size: Any
    flags: Any
    steps: Any
    frontier: Any
    together: Any
    starving_after: Any
    reserved: Any


class grove_served(Structure):
    """grove/sched.h"""
    index: Any
    gang: Any
    flags: Any
    node: Any


class grove_conformance_options(Structure):
    """grove/sys/conformance.h"""
    size: Any
    reserved: Any
    ns: Any
    filter: Any
    start_ns: Any
    patience_ns: Any
    wait: Any
    wait_ctx: Any
    report: Any
    report_ctx: Any


class grove_conformance_report(Structure):
    """grove/sys/conformance.h"""
    size: Any
    passed: Any
    failed: Any
    skipped: Any


class grove_sim_review(Structure):
    """grove/sys/sim.h"""
    size: Any
    verb: Any
    kind: Any
    subresource: Any
    ns: Any
    name: Any
    object_doc: Any
    object: Any
    old_doc: Any
    old: Any
    out_doc: Any
    http: Any
    reserved: Any
    message: Any
    causes: Any


class grove_sim_options(Structure):
    """grove/sys/sim.h"""
    size: Any
    flags: Any
    seed: Any
    start_ns: Any
    history: Any
    reserved: Any
    pull_ns: Any
    init_ns: Any
    start_container_ns: Any
    ready_ns: Any
    terminate_ns: Any
    node_grace_ns: Any
    evict_ns: Any
    scheduler_names: Any
    gang_scheduler_names: Any
    admit: Any
    admit_ctx: Any


class grove_sim_result(Structure):
    """grove/sys/sim.h"""
    size: Any
    status: Any
    http: Any
    retry_after_ms: Any
    doc: Any
    reason: Any
    message: Any


class grove_sim_rule(Structure):
    """grove/sys/sim.h"""
    size: Any
    reserved: Any
    ns: Any
    pod: Any
    label_selector: Any
    pull_ns: Any
    init_ns: Any
    start_container_ns: Any
    ready_ns: Any
    terminate_ns: Any
    crash_ns: Any
    exit_code: Any
    crashes: Any
    pull_fails: Any
    init_exit_code: Any


grove_log_fn = CFUNCTYPE(None, c_void_p, POINTER(grove_log_record))
grove_record_fn = CFUNCTYPE(c_int32, c_void_p, c_char_p, c_size_t)
grove_conformance_fn = CFUNCTYPE(None, c_void_p, c_char_p, c_int32, c_char_p)
grove_conformance_wait_fn = CFUNCTYPE(c_int64, c_void_p, c_int64)
grove_sim_admit_fn = CFUNCTYPE(c_int32, c_void_p, POINTER(grove_sim_review))
grove_sim_observe_fn = CFUNCTYPE(None, c_void_p, c_int64, POINTER(grove_event))
grove_sim_schedule_fn = CFUNCTYPE(c_int32, c_void_p, c_void_p, c_int64)
grove_error._fields_ = [
    ('size', c_uint32),
    ('status', c_int32),
    ('category', c_int32),
    ('flags', c_uint32),
    ('retry_after_ms', c_uint32),
    ('line', c_uint32),
    ('column', c_uint32),
    ('reserved', c_uint32),
    ('path', c_char * 256),
    ('message', c_char * 512),
]
grove_allocator._fields_ = [
    ('size', c_uint32),
    ('reserved', c_uint32),
    ('ctx', c_void_p),
    ('alloc', CFUNCTYPE(c_void_p, c_void_p, c_size_t)),
    ('resize', CFUNCTYPE(c_void_p, c_void_p, c_void_p, c_size_t, c_size_t)),
    ('release', CFUNCTYPE(None, c_void_p, c_void_p, c_size_t)),
]
grove_log_field._fields_ = [
    ('key', c_char_p),
    ('value', c_char_p),
]
grove_log_record._fields_ = [
    ('size', c_uint32),
    ('level', c_int32),
    ('component', c_char_p),
    ('code', c_char_p),
    ('message', c_char_p),
    ('fields', POINTER(grove_log_field)),
    ('n_fields', c_uint32),
    ('reserved', c_uint32),
]
grove_limits._fields_ = [
    ('size', c_uint32),
    ('depth', c_uint32),
    ('document_bytes', c_uint64),
    ('document_nodes', c_uint64),
    ('diagnostics', c_uint32),
    ('reserved', c_uint32),
    ('search_steps', c_uint64),
    ('store_bytes', c_uint64),
]
grove_env_options._fields_ = [
    ('size', c_uint32),
    ('log_level', c_int32),
    ('allocator', POINTER(grove_allocator)),
    ('log', grove_log_fn),
    ('log_ctx', c_void_p),
    ('limits', POINTER(grove_limits)),
]
grove_buf._fields_ = [
    ('data', c_void_p),
    ('len', c_uint64),
    ('cap', c_uint64),
    ('env', c_void_p),
]
grove_diag._fields_ = [
    ('size', c_uint32),
    ('code', c_uint32),
    ('severity', c_int32),
    ('line', c_uint32),
    ('column', c_uint32),
    ('reserved', c_uint32),
    ('type', c_char_p),
    ('path', c_char_p),
    ('message', c_char_p),
]
grove_code_info._fields_ = [
    ('size', c_uint32),
    ('code', c_uint32),
    ('name', c_char_p),
    ('title', c_char_p),
    ('cause', c_char_p),
    ('cure', c_char_p),
]
grove_lint_options._fields_ = [
    ('size', c_uint32),
    ('n_disabled', c_uint32),
    ('disabled', POINTER(c_uint32)),
    ('nodes_doc', c_void_p),
    ('nodes', c_void_p),
]
grove_validate_options._fields_ = [
    ('size', c_uint32),
    ('operation', c_int32),
    ('fields', c_int32),
    ('flags', c_uint32),
    ('config', c_void_p),
    ('lint', POINTER(grove_lint_options)),
    ('namespace_name', c_char_p),
]
grove_admission_verdict._fields_ = [
    ('size', c_uint32),
    ('allowed', c_int32),
    ('stage', c_int32),
    ('http_code', c_uint32),
]
grove_simulate_options._fields_ = [
    ('size', c_uint32),
    ('flags', c_uint32),
    ('nodes', c_char_p),
    ('for_ns', c_int64),
    ('seed', c_uint64),
]
grove_op._fields_ = [
    ('size', c_uint32),
    ('verb', c_int32),
    ('token', c_uint64),
    ('kind', c_int32),
    ('subresource', c_int32),
    ('patch_type', c_int32),
    ('propagation', c_int32),
    ('flags', c_uint32),
    ('limit', c_uint32),
    ('ns', c_char_p),
    ('name', c_char_p),
    ('body_doc', c_void_p),
    ('body', c_void_p),
    ('uid', c_char_p),
    ('resource_version', c_char_p),
    ('target', c_char_p),
    ('manager', c_char_p),
    ('reason', c_char_p),
    ('label_selector', c_char_p),
    ('field_selector', c_char_p),
    ('position', c_char_p),
    ('grace_seconds', c_int64),
    ('replicas', c_int64),
]
grove_completion._fields_ = [
    ('size', c_uint32),
    ('status', c_int32),
    ('token', c_uint64),
    ('http', c_int32),
    ('flags', c_uint32),
    ('retry_after_ms', c_uint32),
    ('reserved', c_uint32),
    ('reason', c_char_p),
    ('message', c_char_p),
    ('object_doc', c_void_p),
    ('object', c_void_p),
]
grove_event._fields_ = [
    ('size', c_uint32),
    ('type', c_int32),
    ('token', c_uint64),
    ('kind', c_int32),
    ('reserved', c_uint32),
    ('object_doc', c_void_p),
    ('object', c_void_p),
    ('resource_version', c_char_p),
    ('record', c_void_p),
]
grove_sink._fields_ = [
    ('size', c_uint32),
    ('reserved', c_uint32),
    ('ctx', c_void_p),
    ('completion', CFUNCTYPE(c_int32, c_void_p, POINTER(grove_completion))),
    ('event', CFUNCTYPE(c_int32, c_void_p, POINTER(grove_event))),
]
grove_watch._fields_ = [
    ('size', c_uint32),
    ('kind', c_int32),
    ('token', c_uint64),
    ('flags', c_uint32),
    ('reserved', c_uint32),
    ('ns', c_char_p),
    ('label_selector', c_char_p),
    ('field_selector', c_char_p),
    ('resource_version', c_char_p),
]
grove_pollfd._fields_ = [
    ('fd', c_int32),
    ('events', c_uint32),
]
grove_backend_ops._fields_ = [
    ('size', c_uint32),
    ('reserved', c_uint32),
    ('submit', CFUNCTYPE(c_int32, c_void_p, POINTER(grove_op), POINTER(grove_error))),
    ('cancel', CFUNCTYPE(c_int32, c_void_p, c_uint64, POINTER(grove_error))),
    ('watch', CFUNCTYPE(c_int32, c_void_p, POINTER(grove_watch), POINTER(grove_error))),
    ('pollfds', CFUNCTYPE(c_int32, c_void_p, POINTER(grove_pollfd), c_uint32, POINTER(c_uint32))),
    ('process', CFUNCTYPE(c_int32, c_void_p, c_int64, c_uint32, POINTER(grove_sink), POINTER(c_int64), POINTER(grove_error))),
    ('control', CFUNCTYPE(c_int32, c_void_p, c_int32, c_void_p, POINTER(grove_error))),
    ('destroy', CFUNCTYPE(None, c_void_p)),
]
grove_backend._fields_ = [
    ('size', c_uint32),
    ('caps', c_uint32),
    ('ops', POINTER(grove_backend_ops)),
    ('impl', c_void_p),
]
grove_fault_options._fields_ = [
    ('size', c_uint32),
    ('reserved', c_uint32),
    ('seed', c_uint64),
    ('lose_request', c_uint32),
    ('lose_reply', c_uint32),
    ('refuse', c_uint32),
    ('conflict', c_uint32),
    ('delay', c_uint32),
    ('delay_event', c_uint32),
    ('duplicate_event', c_uint32),
    ('gone', c_uint32),
    ('max_delay_ns', c_int64),
    ('quiet_after', c_uint64),
]
grove_engine_options._fields_ = [
    ('size', c_uint32),
    ('flags', c_uint32),
    ('config', c_void_p),
    ('ns', c_char_p),
    ('bind_schedulers', c_char_p),
    ('seed', c_uint64),
    ('max_in_flight', c_uint32),
    ('gangs_a_step', c_uint32),
    ('resync_ns', c_int64),
    ('backoff_ns', c_int64),
    ('status_quiet_ns', c_int64),
]
grove_engine_stats._fields_ = [
    ('size', c_uint32),
    ('sets', c_uint32),
    ('in_flight', c_uint32),
    ('gangs_waiting', c_uint32),
    ('events', c_uint64),
    ('plans', c_uint64),
    ('empty_plans', c_uint64),
    ('operations', c_uint64),
    ('creates', c_uint64),
    ('patches', c_uint64),
    ('deletes', c_uint64),
    ('binds', c_uint64),
    ('failures', c_uint64),
    ('decisions', c_uint64),
    ('placed', c_uint64),
    ('most_rounds', c_uint32),
    ('reserved', c_uint32),
]
grove_engine_gauges._fields_ = [
    ('size', c_uint32),
    ('pods_gated', c_uint32),
    ('oldest_gate_ns', c_int64),
    ('gangs_incomplete', c_uint32),
    ('gangs_scored', c_uint32),
    ('longest_gang_wait_ns', c_int64),
    ('score_thousandths', c_uint64),
    ('gpus_held', c_uint64),
]
grove_k8s_options._fields_ = [
    ('size', c_uint32),
    ('flags', c_uint32),
    ('kubeconfig', c_char_p),
    ('kubeconfig_bytes', c_char_p),
    ('kubeconfig_len', c_uint64),
    ('context', c_char_p),
    ('user_agent', c_char_p),
    ('manager', c_char_p),
    ('as_user', c_char_p),
    ('as_uid', c_char_p),
    ('as_groups', POINTER(c_char_p)),
    ('n_as_groups', c_uint32),
    ('max_in_flight', c_uint32),
    ('request_timeout_ms', c_uint32),
    ('page_size', c_uint32),
    ('seed', c_uint64),
]
grove_k8s_lease_options._fields_ = [
    ('size', c_uint32),
    ('flags', c_uint32),
    ('name', c_char_p),
    ('ns', c_char_p),
    ('identity', c_char_p),
    ('duration_ns', c_int64),
    ('renew_deadline_ns', c_int64),
    ('retry_ns', c_int64),
    ('clock', CFUNCTYPE(c_int64, c_void_p)),
    ('clock_ctx', c_void_p),
]
grove_k8s_lease_info._fields_ = [
    ('size', c_uint32),
    ('state', c_int32),
    ('identity', c_char_p),
    ('holder', c_char_p),
    ('left_ns', c_int64),
]
grove_table_column._fields_ = [
    ('size', c_uint32),
    ('priority', c_int32),
    ('name', c_char_p),
    ('type', c_char_p),
    ('json_path', c_char_p),
]
grove_store_stats._fields_ = [
    ('size', c_uint32),
    ('reserved', c_uint32),
    ('objects', c_uint64),
    ('pods', c_uint64),
    ('nodes', c_uint64),
    ('strings', c_uint64),
    ('bytes', c_uint64),
    ('in_flight', c_uint64),
    ('replaced', c_uint64),
    ('unchanged', c_uint64),
]
grove_placed_pod._fields_ = [
    ('pod', c_char_p),
    ('uid', c_char_p),
    ('node', c_char_p),
]
grove_placement._fields_ = [
    ('size', c_uint32),
    ('verdict', c_int32),
    ('gang', c_char_p),
    ('reason', c_char_p),
    ('text', c_char_p),
    ('pods', POINTER(grove_placed_pod)),
    ('n_pods', c_uint32),
    ('score', c_uint32),
    ('retry_ns', c_int64),
    ('behind', c_char_p),
]
grove_disruption._fields_ = [
    ('size', c_uint32),
    ('flags', c_uint32),
    ('gang', c_char_p),
    ('pod', c_char_p),
    ('uid', c_char_p),
    ('text', c_char_p),
]
grove_refusal._fields_ = [
    ('size', c_uint32),
    ('verb', c_int32),
    ('kind', c_int32),
    ('http', c_int32),
    ('name', c_char_p),
    ('message', c_char_p),
    ('at_ns', c_int64),
    ('retry_ns', c_int64),
    ('subresource', c_int32),
    ('reserved', c_uint32),
]
grove_plan_request._fields_ = [
    ('size', c_uint32),
    ('n_placements', c_uint32),
    ('ns', c_char_p),
    ('name', c_char_p),
    ('config', c_void_p),
    ('placements', POINTER(POINTER(grove_placement))),
    ('refusals', POINTER(POINTER(grove_refusal))),
    ('now_ns', c_int64),
    ('seed', c_uint64),
    ('n_refusals', c_uint32),
    ('flags', c_uint32),
    ('bind_schedulers', c_char_p),
    ('disruptions', POINTER(POINTER(grove_disruption))),
    ('n_disruptions', c_uint32),
    ('reserved', c_uint32),
]
grove_action._fields_ = [
    ('size', c_uint32),
    ('verb', c_int32),
    ('kind', c_int32),
    ('subresource', c_int32),
    ('api_version', c_char_p),
    ('kind_name', c_char_p),
    ('ns', c_char_p),
    ('name', c_char_p),
    ('uid', c_char_p),
    ('resource_version', c_char_p),
    ('patch_type', c_int32),
    ('order', c_int32),
    ('body', c_void_p),
    ('node', c_char_p),
    ('reason', c_char_p),
    ('text', c_char_p),
    ('event', c_char_p),
    ('event_name', c_char_p),
    ('event_uid', c_char_p),
    ('event_kind', c_int32),
    ('flags', c_uint32),
]
grove_wait._fields_ = [
    ('size', c_uint32),
    ('kind', c_int32),
    ('name', c_char_p),
    ('reason', c_char_p),
    ('for_name', c_char_p),
    ('for_kind', c_int32),
    ('reserved', c_uint32),
    ('text', c_char_p),
    ('since_ns', c_int64),
    ('deadline_ns', c_int64),
]
grove_quantity._fields_ = [
    ('hi', c_int64),
    ('lo', c_uint64),
    ('format', c_uint32),
    ('reserved', c_uint32),
]
grove_sched_candidate._fields_ = [
    ('size', c_uint32),
    ('topology', c_uint32),
    ('level', c_int32),
    ('domain', c_uint32),
    ('rank', c_int64),
]
grove_sched_options._fields_ = [
    ('size', c_uint32),
    ('reserved', c_uint32),
    ('host_key', c_char_p),
    ('veto', CFUNCTYPE(c_int32, c_void_p, c_uint32, c_uint32)),
    ('veto_ctx', c_void_p),
    ('order', CFUNCTYPE(c_int64, c_void_p, POINTER(grove_sched_candidate))),
    ('order_ctx', c_void_p),
    ('score', CFUNCTYPE(c_int64, c_void_p, c_void_p)),
    ('score_ctx', c_void_p),
    ('score_among', c_uint32),
    ('reserved2', c_uint32),
]
grove_sched_label._fields_ = [
    ('key', c_char_p),
    ('value', c_char_p),
]
grove_sched_taint._fields_ = [
    ('key', c_char_p),
    ('value', c_char_p),
    ('effect', c_int32),
    ('reserved', c_int32),
]
grove_sched_node._fields_ = [
    ('size', c_uint32),
    ('flags', c_uint32),
    ('name', c_char_p),
    ('labels', POINTER(grove_sched_label)),
    ('taints', POINTER(grove_sched_taint)),
    ('capacity', POINTER(c_int64)),
    ('n_labels', c_uint32),
    ('n_taints', c_uint32),
    ('n_capacity', c_uint32),
    ('reserved', c_uint32),
]
grove_queue._fields_ = [
    ('size', c_uint32),
    ('parent', c_uint32),
    ('name', c_char_p),
    ('deserved', POINTER(c_int64)),
    ('limit', POINTER(c_int64)),
    ('n_deserved', c_uint32),
    ('n_limit', c_uint32),
    ('weight', c_uint32),
    ('priority', c_int32),
]
grove_sched_requirement._fields_ = [
    ('key', c_char_p),
    ('values', POINTER(c_char_p)),
    ('n_values', c_uint32),
    ('op', c_int32),
]
grove_sched_term._fields_ = [
    ('requirements', POINTER(grove_sched_requirement)),
    ('n_requirements', c_uint32),
    ('weight', c_int32),
]
grove_sched_terms._fields_ = [
    ('terms', POINTER(grove_sched_term)),
    ('n_terms', c_uint32),
    ('reserved', c_uint32),
]
grove_sched_toleration._fields_ = [
    ('key', c_char_p),
    ('value', c_char_p),
    ('effect', c_int32),
    ('exists', c_int32),
]
grove_sched_port._fields_ = [
    ('protocol', c_char_p),
    ('ip', c_char_p),
    ('port', c_uint32),
    ('reserved', c_uint32),
]
grove_sched_token._fields_ = [
    ('name', c_char_p),
    ('alone', c_uint32),
    ('reserved', c_uint32),
]
grove_sched_class_spec._fields_ = [
    ('size', c_uint32),
    ('n_requests', c_uint32),
    ('requests', POINTER(c_int64)),
    ('selector', POINTER(grove_sched_label)),
    ('required', POINTER(grove_sched_terms)),
    ('preferred', POINTER(grove_sched_term)),
    ('tolerations', POINTER(grove_sched_toleration)),
    ('ports', POINTER(grove_sched_port)),
    ('n_selector', c_uint32),
    ('n_required', c_uint32),
    ('n_preferred', c_uint32),
    ('n_tolerations', c_uint32),
    ('n_ports', c_uint32),
    ('max_per_host', c_uint32),
    ('key', c_uint64),
    ('tokens', POINTER(grove_sched_token)),
    ('n_tokens', c_uint32),
    ('reserved', c_uint32),
]
grove_sched_pod._fields_ = [
    ('size', c_uint32),
    ('node', c_uint32),
    ('class_id', c_uint32),
    ('n_requests', c_uint32),
    ('requests', POINTER(c_int64)),
    ('priority', c_int32),
    ('flags', c_uint32),
    ('queue', c_uint32),
    ('reserved', c_uint32),
]
grove_place_options._fields_ = [
    ('size', c_uint32),
    ('flags', c_uint32),
    ('steps', c_uint64),
    ('frontier', c_uint32),
    ('reserved', c_uint32),
]
grove_cost._fields_ = [
    ('size', c_uint32),
    ('reserved', c_uint32),
    ('climbed', c_int64),
    ('span', c_int64),
    ('hosts', c_int64),
    ('skew', c_int64),
    ('moved', c_int64),
    ('broken', c_int64),
    ('leftover', c_int64),
    ('disliked', c_int64),
]
grove_certificate._fields_ = [
    ('size', c_uint32),
    ('reason', c_int32),
    ('entity_kind', c_int32),
    ('entity', c_uint32),
    ('level', c_int32),
    ('candidates', c_uint32),
    ('nearest', c_uint32),
    ('class_id', c_uint32),
    ('resource', c_uint32),
    ('reserved', c_uint32),
    ('have', c_int64),
    ('need', c_int64),
    ('queue', c_uint32),
    ('reserved2', c_uint32),
]
grove_sched_members._fields_ = [
    ('size', c_uint32),
    ('priority', c_int32),
    ('queue', c_uint32),
    ('flags', c_uint32),
    ('n_pods', c_uint32),
    ('n_surplus', c_uint32),
    ('pods', POINTER(c_uint32)),
]
grove_victim._fields_ = [
    ('gang', c_uint32),
    ('pod', c_uint32),
]
grove_serve_options._fields_ = [
    ('size', c_uint32),
    ('flags', c_uint32),
    ('steps', c_uint64),
    ('frontier', c_uint32),
    ('together', c_uint32),
    ('starving_after', c_uint32),
    ('reserved', c_uint32),
]
grove_served._fields_ = [
    ('index', c_uint32),
    ('gang', c_uint32),
    ('flags', c_uint32),
    ('node', c_uint32),
]
grove_conformance_options._fields_ = [
    ('size', c_uint32),
    ('reserved', c_uint32),
    ('ns', c_char_p),
    ('filter', c_char_p),
    ('start_ns', c_int64),
    ('patience_ns', c_int64),
    ('wait', grove_conformance_wait_fn),
    ('wait_ctx', c_void_p),
    ('report', grove_conformance_fn),
    ('report_ctx', c_void_p),
]
grove_conformance_report._fields_ = [
    ('size', c_uint32),
    ('passed', c_uint32),
    ('failed', c_uint32),
    ('skipped', c_uint32),
]
grove_sim_review._fields_ = [
    ('size', c_uint32),
    ('verb', c_int32),
    ('kind', c_int32),
    ('subresource', c_int32),
    ('ns', c_char_p),
    ('name', c_char_p),
    ('object_doc', c_void_p),
    ('object', c_void_p),
    ('old_doc', c_void_p),
    ('old', c_void_p),
    ('out_doc', c_void_p),
    ('http', c_int32),
    ('reserved', c_uint32),
    ('message', c_char * 1024),
    ('causes', c_char * 2048),
]
grove_sim_options._fields_ = [
    ('size', c_uint32),
    ('flags', c_uint32),
    ('seed', c_uint64),
    ('start_ns', c_int64),
    ('history', c_uint32),
    ('reserved', c_uint32),
    ('pull_ns', c_int64),
    ('init_ns', c_int64),
    ('start_container_ns', c_int64),
    ('ready_ns', c_int64),
    ('terminate_ns', c_int64),
    ('node_grace_ns', c_int64),
    ('evict_ns', c_int64),
    ('scheduler_names', c_char_p),
    ('gang_scheduler_names', c_char_p),
    ('admit', grove_sim_admit_fn),
    ('admit_ctx', c_void_p),
]
grove_sim_result._fields_ = [
    ('size', c_uint32),
    ('status', c_int32),
    ('http', c_int32),
    ('retry_after_ms', c_uint32),
    ('doc', c_void_p),
    ('reason', c_char * 40),
    ('message', c_char * 1024),
]
grove_sim_rule._fields_ = [
    ('size', c_uint32),
    ('reserved', c_uint32),
    ('ns', c_char_p),
    ('pod', c_char_p),
    ('label_selector', c_char_p),
    ('pull_ns', c_int64),
    ('init_ns', c_int64),
    ('start_container_ns', c_int64),
    ('ready_ns', c_int64),
    ('terminate_ns', c_int64),
    ('crash_ns', c_int64),
    ('exit_code', c_int32),
    ('crashes', c_int32),
    ('pull_fails', c_int32),
    ('init_exit_code', c_int32),
]


class Functions:
    """The functions of a loaded library, with their types."""

    def __init__(self, library: CDLL) -> None:
        self.status_name = library.grove_status_name
        library.grove_status_name.restype = c_char_p
        library.grove_status_name.argtypes = [c_int32]
        self.env_new = library.grove_env_new
        library.grove_env_new.restype = c_int32
        library.grove_env_new.argtypes = [POINTER(grove_env_options), POINTER(c_void_p)]
        self.env_ref = library.grove_env_ref
        library.grove_env_ref.restype = c_void_p
        library.grove_env_ref.argtypes = [c_void_p]
        self.env_unref = library.grove_env_unref
        library.grove_env_unref.restype = None
        library.grove_env_unref.argtypes = [c_void_p]
        self.buf_init = library.grove_buf_init
        library.grove_buf_init.restype = None
        library.grove_buf_init.argtypes = [POINTER(grove_buf), c_void_p]
        self.buf_fini = library.grove_buf_fini
        library.grove_buf_fini.restype = None
        library.grove_buf_fini.argtypes = [POINTER(grove_buf)]
        self.buf_clear = library.grove_buf_clear
        library.grove_buf_clear.restype = None
        library.grove_buf_clear.argtypes = [POINTER(grove_buf)]
        self.buf_reserve = library.grove_buf_reserve
        library.grove_buf_reserve.restype = c_int32
        library.grove_buf_reserve.argtypes = [POINTER(grove_buf), c_size_t]
        self.buf_append = library.grove_buf_append
        library.grove_buf_append.restype = c_int32
        library.grove_buf_append.argtypes = [POINTER(grove_buf), c_char_p, c_size_t]
        self.doc_parse_json = library.grove_doc_parse_json
        library.grove_doc_parse_json.restype = c_int32
        library.grove_doc_parse_json.argtypes = [c_void_p, c_char_p, c_size_t, c_uint32, POINTER(c_void_p), POINTER(grove_error)]
        self.doc_parse_yaml = library.grove_doc_parse_yaml
        library.grove_doc_parse_yaml.restype = c_int32
        library.grove_doc_parse_yaml.argtypes = [c_void_p, c_char_p, c_size_t, c_uint32, POINTER(c_void_p), POINTER(grove_error)]
        self.stream_new = library.grove_stream_new
        library.grove_stream_new.restype = c_int32
        library.grove_stream_new.argtypes = [c_void_p, c_char_p, c_size_t, c_uint32, POINTER(c_void_p), POINTER(grove_error)]
        self.stream_next = library.grove_stream_next
        library.grove_stream_next.restype = c_int32
        library.grove_stream_next.argtypes = [c_void_p, POINTER(c_void_p), POINTER(grove_error)]
        self.stream_index = library.grove_stream_index
        library.grove_stream_index.restype = c_uint32
        library.grove_stream_index.argtypes = [c_void_p]
        self.stream_free = library.grove_stream_free
        library.grove_stream_free.restype = None
        library.grove_stream_free.argtypes = [c_void_p]
        self.doc_ref = library.grove_doc_ref
        library.grove_doc_ref.restype = c_void_p
        library.grove_doc_ref.argtypes = [c_void_p]
        self.doc_unref = library.grove_doc_unref
        library.grove_doc_unref.restype = None
        library.grove_doc_unref.argtypes = [c_void_p]
        self.doc_root = library.grove_doc_root
        library.grove_doc_root.restype = c_void_p
        library.grove_doc_root.argtypes = [c_void_p]
        self.doc_env = library.grove_doc_env
        library.grove_doc_env.restype = c_void_p
        library.grove_doc_env.argtypes = [c_void_p]
        self.doc_bytes = library.grove_doc_bytes
        library.grove_doc_bytes.restype = c_uint64
        library.grove_doc_bytes.argtypes = [c_void_p]
        self.node_type = library.grove_node_type
        library.grove_node_type.restype = c_int32
        library.grove_node_type.argtypes = [c_void_p]
        self.node_size = library.grove_node_size
        library.grove_node_size.restype = c_uint32
        library.grove_node_size.argtypes = [c_void_p]
        self.node_get = library.grove_node_get
        library.grove_node_get.restype = c_void_p
        library.grove_node_get.argtypes = [c_void_p, c_char_p]
        self.node_getn = library.grove_node_getn
        library.grove_node_getn.restype = c_void_p
        library.grove_node_getn.argtypes = [c_void_p, c_char_p, c_size_t]
        self.node_at = library.grove_node_at
        library.grove_node_at.restype = c_void_p
        library.grove_node_at.argtypes = [c_void_p, c_uint32]
        self.node_first = library.grove_node_first
        library.grove_node_first.restype = c_void_p
        library.grove_node_first.argtypes = [c_void_p]
        self.node_next = library.grove_node_next
        library.grove_node_next.restype = c_void_p
        library.grove_node_next.argtypes = [c_void_p, c_void_p]
        self.node_key = library.grove_node_key
        library.grove_node_key.restype = c_char_p
        library.grove_node_key.argtypes = [c_void_p, POINTER(c_size_t)]
        self.node_at_path = library.grove_node_at_path
        library.grove_node_at_path.restype = c_void_p
        library.grove_node_at_path.argtypes = [c_void_p, c_char_p]
        self.node_text = library.grove_node_text
        library.grove_node_text.restype = c_char_p
        library.grove_node_text.argtypes = [c_void_p]
        self.node_textn = library.grove_node_textn
        library.grove_node_textn.restype = c_char_p
        library.grove_node_textn.argtypes = [c_void_p, POINTER(c_size_t)]
        self.node_is_true = library.grove_node_is_true
        library.grove_node_is_true.restype = c_int32
        library.grove_node_is_true.argtypes = [c_void_p]
        self.node_int64 = library.grove_node_int64
        library.grove_node_int64.restype = c_int32
        library.grove_node_int64.argtypes = [c_void_p, POINTER(c_int64)]
        self.node_double = library.grove_node_double
        library.grove_node_double.restype = c_int32
        library.grove_node_double.argtypes = [c_void_p, POINTER(c_double)]
        self.node_equal = library.grove_node_equal
        library.grove_node_equal.restype = c_int32
        library.grove_node_equal.argtypes = [c_void_p, c_void_p]
        self.node_position = library.grove_node_position
        library.grove_node_position.restype = None
        library.grove_node_position.argtypes = [c_void_p, c_void_p, POINTER(c_uint32), POINTER(c_uint32)]
        self.node_is_defaulted = library.grove_node_is_defaulted
        library.grove_node_is_defaulted.restype = c_int32
        library.grove_node_is_defaulted.argtypes = [c_void_p]
        self.node_write_json = library.grove_node_write_json
        library.grove_node_write_json.restype = c_int32
        library.grove_node_write_json.argtypes = [c_void_p, c_uint32, POINTER(grove_buf), POINTER(grove_error)]
        self.node_write_yaml = library.grove_node_write_yaml
        library.grove_node_write_yaml.restype = c_int32
        library.grove_node_write_yaml.argtypes = [c_void_p, c_uint32, POINTER(grove_buf), POINTER(grove_error)]
        self.builder_new = library.grove_builder_new
        library.grove_builder_new.restype = c_int32
        library.grove_builder_new.argtypes = [c_void_p, POINTER(c_void_p)]
        self.builder_free = library.grove_builder_free
        library.grove_builder_free.restype = None
        library.grove_builder_free.argtypes = [c_void_p]
        self.builder_open_object = library.grove_builder_open_object
        library.grove_builder_open_object.restype = None
        library.grove_builder_open_object.argtypes = [c_void_p, c_char_p]
        self.builder_open_array = library.grove_builder_open_array
        library.grove_builder_open_array.restype = None
        library.grove_builder_open_array.argtypes = [c_void_p, c_char_p]
        self.builder_close = library.grove_builder_close
        library.grove_builder_close.restype = None
        library.grove_builder_close.argtypes = [c_void_p]
        self.builder_null = library.grove_builder_null
        library.grove_builder_null.restype = None
        library.grove_builder_null.argtypes = [c_void_p, c_char_p]
        self.builder_bool = library.grove_builder_bool
        library.grove_builder_bool.restype = None
        library.grove_builder_bool.argtypes = [c_void_p, c_char_p, c_int32]
        self.builder_int64 = library.grove_builder_int64
        library.grove_builder_int64.restype = None
        library.grove_builder_int64.argtypes = [c_void_p, c_char_p, c_int64]
        self.builder_number = library.grove_builder_number
        library.grove_builder_number.restype = None
        library.grove_builder_number.argtypes = [c_void_p, c_char_p, c_char_p, c_size_t]
        self.builder_string = library.grove_builder_string
        library.grove_builder_string.restype = None
        library.grove_builder_string.argtypes = [c_void_p, c_char_p, c_char_p]
        self.builder_stringn = library.grove_builder_stringn
        library.grove_builder_stringn.restype = None
        library.grove_builder_stringn.argtypes = [c_void_p, c_char_p, c_char_p, c_size_t]
        self.builder_link = library.grove_builder_link
        library.grove_builder_link.restype = None
        library.grove_builder_link.argtypes = [c_void_p, c_char_p, c_void_p, c_void_p]
        self.builder_copy = library.grove_builder_copy
        library.grove_builder_copy.restype = None
        library.grove_builder_copy.argtypes = [c_void_p, c_char_p, c_void_p]
        self.builder_position = library.grove_builder_position
        library.grove_builder_position.restype = None
        library.grove_builder_position.argtypes = [c_void_p, c_void_p, c_int32]
        self.builder_finish = library.grove_builder_finish
        library.grove_builder_finish.restype = c_int32
        library.grove_builder_finish.argtypes = [c_void_p, POINTER(c_void_p), POINTER(grove_error)]
        self.merge_patch_apply = library.grove_merge_patch_apply
        library.grove_merge_patch_apply.restype = c_int32
        library.grove_merge_patch_apply.argtypes = [c_void_p, c_void_p, c_void_p, c_void_p, POINTER(c_void_p), POINTER(grove_error)]
        self.merge_patch_make = library.grove_merge_patch_make
        library.grove_merge_patch_make.restype = c_int32
        library.grove_merge_patch_make.argtypes = [c_void_p, c_void_p, c_void_p, c_void_p, POINTER(c_void_p), POINTER(grove_error)]
        self.json_patch_apply = library.grove_json_patch_apply
        library.grove_json_patch_apply.restype = c_int32
        library.grove_json_patch_apply.argtypes = [c_void_p, c_void_p, c_void_p, c_void_p, POINTER(c_void_p), POINTER(grove_error)]
        self.json_patch_make = library.grove_json_patch_make
        library.grove_json_patch_make.restype = c_int32
        library.grove_json_patch_make.argtypes = [c_void_p, c_void_p, c_void_p, c_void_p, POINTER(c_void_p), POINTER(grove_error)]
        self.node_hash = library.grove_node_hash
        library.grove_node_hash.restype = c_int32
        library.grove_node_hash.argtypes = [c_void_p, POINTER(c_uint64), POINTER(grove_error)]
        self.config_new = library.grove_config_new
        library.grove_config_new.restype = c_int32
        library.grove_config_new.argtypes = [c_void_p, POINTER(c_void_p)]
        self.config_add = library.grove_config_add
        library.grove_config_add.restype = c_int32
        library.grove_config_add.argtypes = [c_void_p, c_void_p, c_void_p, POINTER(grove_error)]
        self.config_load = library.grove_config_load
        library.grove_config_load.restype = c_int32
        library.grove_config_load.argtypes = [c_void_p, c_char_p, c_size_t, POINTER(grove_error)]
        self.config_ref = library.grove_config_ref
        library.grove_config_ref.restype = c_void_p
        library.grove_config_ref.argtypes = [c_void_p]
        self.config_unref = library.grove_config_unref
        library.grove_config_unref.restype = None
        library.grove_config_unref.argtypes = [c_void_p]
        self.diags_new = library.grove_diags_new
        library.grove_diags_new.restype = c_int32
        library.grove_diags_new.argtypes = [c_void_p, POINTER(c_void_p)]
        self.diags_free = library.grove_diags_free
        library.grove_diags_free.restype = None
        library.grove_diags_free.argtypes = [c_void_p]
        self.diags_clear = library.grove_diags_clear
        library.grove_diags_clear.restype = None
        library.grove_diags_clear.argtypes = [c_void_p]
        self.diags_count = library.grove_diags_count
        library.grove_diags_count.restype = c_uint32
        library.grove_diags_count.argtypes = [c_void_p]
        self.diags_at = library.grove_diags_at
        library.grove_diags_at.restype = POINTER(grove_diag)
        library.grove_diags_at.argtypes = [c_void_p, c_uint32]
        self.diags_errors = library.grove_diags_errors
        library.grove_diags_errors.restype = c_uint32
        library.grove_diags_errors.argtypes = [c_void_p]
        self.diags_dropped = library.grove_diags_dropped
        library.grove_diags_dropped.restype = c_uint32
        library.grove_diags_dropped.argtypes = [c_void_p]
        self.code_get = library.grove_code_get
        library.grove_code_get.restype = POINTER(grove_code_info)
        library.grove_code_get.argtypes = [c_uint32]
        self.code_at = library.grove_code_at
        library.grove_code_at.restype = POINTER(grove_code_info)
        library.grove_code_at.argtypes = [c_uint32]
        self.stage_name = library.grove_stage_name
        library.grove_stage_name.restype = c_char_p
        library.grove_stage_name.argtypes = [c_int32]
        self.validate = library.grove_validate
        library.grove_validate.restype = c_int32
        library.grove_validate.argtypes = [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, POINTER(grove_validate_options), c_void_p, POINTER(grove_admission_verdict), POINTER(grove_error)]
        self.default = library.grove_default
        library.grove_default.restype = c_int32
        library.grove_default.argtypes = [c_void_p, c_void_p, c_void_p, POINTER(grove_validate_options), c_void_p, POINTER(c_void_p), POINTER(grove_error)]
        self.admission_review = library.grove_admission_review
        library.grove_admission_review.restype = c_int32
        library.grove_admission_review.argtypes = [c_void_p, c_void_p, c_char_p, c_char_p, c_size_t, POINTER(grove_buf), POINTER(grove_error)]
        self.scale_is_refused = library.grove_scale_is_refused
        library.grove_scale_is_refused.restype = c_int32
        library.grove_scale_is_refused.argtypes = [c_void_p, c_void_p, c_int64, POINTER(grove_buf)]
        self.admission_review_scale = library.grove_admission_review_scale
        library.grove_admission_review_scale.restype = c_int32
        library.grove_admission_review_scale.argtypes = [c_void_p, c_void_p, c_void_p, c_char_p, c_size_t, POINTER(grove_buf), POINTER(grove_error)]
        self.lint = library.grove_lint
        library.grove_lint.restype = c_int32
        library.grove_lint.argtypes = [c_void_p, c_void_p, c_void_p, c_void_p, POINTER(grove_lint_options), c_void_p, POINTER(grove_error)]
        self.migrate = library.grove_migrate
        library.grove_migrate.restype = c_int32
        library.grove_migrate.argtypes = [c_void_p, c_void_p, c_void_p, c_void_p, POINTER(c_void_p), POINTER(grove_error)]
        self.crd_write = library.grove_crd_write
        library.grove_crd_write.restype = c_int32
        library.grove_crd_write.argtypes = [c_void_p, c_char_p, c_uint32, POINTER(grove_buf), POINTER(grove_error)]
        self.verb_name = library.grove_verb_name
        library.grove_verb_name.restype = c_char_p
        library.grove_verb_name.argtypes = [c_int32]
        self.place = library.grove_place
        library.grove_place.restype = c_int32
        library.grove_place.argtypes = [c_void_p, c_void_p, POINTER(c_void_p), POINTER(grove_error)]
        self.diff = library.grove_diff
        library.grove_diff.restype = c_int32
        library.grove_diff.argtypes = [c_void_p, c_void_p, c_void_p, c_void_p, POINTER(c_void_p), POINTER(grove_error)]
        self.explain = library.grove_explain
        library.grove_explain.restype = c_int32
        library.grove_explain.argtypes = [c_void_p, c_void_p, c_void_p, c_int32, c_char_p, c_char_p, c_int64, POINTER(c_void_p), POINTER(grove_error)]
        self.simulate = library.grove_simulate
        library.grove_simulate.restype = c_int32
        library.grove_simulate.argtypes = [c_void_p, c_void_p, c_void_p, POINTER(grove_simulate_options), POINTER(c_void_p), POINTER(grove_error)]
        self.backend_record = library.grove_backend_record
        library.grove_backend_record.restype = c_int32
        library.grove_backend_record.argtypes = [c_void_p, POINTER(grove_backend), grove_record_fn, c_void_p, POINTER(grove_backend), POINTER(grove_error)]
        self.backend_replay = library.grove_backend_replay
        library.grove_backend_replay.restype = c_int32
        library.grove_backend_replay.argtypes = [c_void_p, c_char_p, c_size_t, POINTER(grove_backend), POINTER(grove_error)]
        self.backend_fault = library.grove_backend_fault
        library.grove_backend_fault.restype = c_int32
        library.grove_backend_fault.argtypes = [c_void_p, POINTER(grove_backend), POINTER(grove_fault_options), POINTER(grove_backend), POINTER(grove_error)]
        self.backend_dry_run = library.grove_backend_dry_run
        library.grove_backend_dry_run.restype = c_int32
        library.grove_backend_dry_run.argtypes = [c_void_p, POINTER(grove_backend), POINTER(grove_backend), POINTER(grove_error)]
        self.engine_new = library.grove_engine_new
        library.grove_engine_new.restype = c_int32
        library.grove_engine_new.argtypes = [c_void_p, POINTER(grove_engine_options), POINTER(c_void_p), POINTER(grove_error)]
        self.engine_free = library.grove_engine_free
        library.grove_engine_free.restype = None
        library.grove_engine_free.argtypes = [c_void_p]
        self.engine_next_watch = library.grove_engine_next_watch
        library.grove_engine_next_watch.restype = c_int32
        library.grove_engine_next_watch.argtypes = [c_void_p, POINTER(POINTER(grove_watch)), POINTER(grove_error)]
        self.engine_feed = library.grove_engine_feed
        library.grove_engine_feed.restype = c_int32
        library.grove_engine_feed.argtypes = [c_void_p, POINTER(grove_event), c_int64, POINTER(grove_error)]
        self.engine_next_op = library.grove_engine_next_op
        library.grove_engine_next_op.restype = c_int32
        library.grove_engine_next_op.argtypes = [c_void_p, c_int64, POINTER(POINTER(grove_op)), POINTER(grove_error)]
        self.engine_complete = library.grove_engine_complete
        library.grove_engine_complete.restype = c_int32
        library.grove_engine_complete.argtypes = [c_void_p, POINTER(grove_completion), c_int64, POINTER(grove_error)]
        self.engine_deadline = library.grove_engine_deadline
        library.grove_engine_deadline.restype = c_int64
        library.grove_engine_deadline.argtypes = [c_void_p]
        self.engine_is_idle = library.grove_engine_is_idle
        library.grove_engine_is_idle.restype = c_int32
        library.grove_engine_is_idle.argtypes = [c_void_p]
        self.engine_config = library.grove_engine_config
        library.grove_engine_config.restype = c_int32
        library.grove_engine_config.argtypes = [c_void_p, POINTER(c_void_p), POINTER(grove_error)]
        self.engine_object = library.grove_engine_object
        library.grove_engine_object.restype = c_int32
        library.grove_engine_object.argtypes = [c_void_p, c_int32, c_char_p, c_char_p, POINTER(c_void_p), POINTER(c_void_p)]
        self.engine_recompute = library.grove_engine_recompute
        library.grove_engine_recompute.restype = c_int32
        library.grove_engine_recompute.argtypes = [c_void_p]
        self.engine_stats_get = library.grove_engine_stats_get
        library.grove_engine_stats_get.restype = c_int32
        library.grove_engine_stats_get.argtypes = [c_void_p, POINTER(grove_engine_stats)]
        self.engine_gauges_get = library.grove_engine_gauges_get
        library.grove_engine_gauges_get.restype = c_int32
        library.grove_engine_gauges_get.argtypes = [c_void_p, c_int64, POINTER(grove_engine_gauges)]
        self.engine_explain = library.grove_engine_explain
        library.grove_engine_explain.restype = c_int32
        library.grove_engine_explain.argtypes = [c_void_p, c_int32, c_char_p, c_char_p, c_int64, c_int32, POINTER(grove_buf), POINTER(grove_error)]
        self.kind_find = library.grove_kind_find
        library.grove_kind_find.restype = c_int32
        library.grove_kind_find.argtypes = [c_char_p, c_size_t]
        self.kind_name = library.grove_kind_name
        library.grove_kind_name.restype = c_char_p
        library.grove_kind_name.argtypes = [c_int32]
        self.kind_plural = library.grove_kind_plural
        library.grove_kind_plural.restype = c_char_p
        library.grove_kind_plural.argtypes = [c_int32]
        self.kind_group = library.grove_kind_group
        library.grove_kind_group.restype = c_char_p
        library.grove_kind_group.argtypes = [c_int32]
        self.kind_version = library.grove_kind_version
        library.grove_kind_version.restype = c_char_p
        library.grove_kind_version.argtypes = [c_int32]
        self.kind_is_namespaced = library.grove_kind_is_namespaced
        library.grove_kind_is_namespaced.restype = c_int32
        library.grove_kind_is_namespaced.argtypes = [c_int32]
        self.kind_singular = library.grove_kind_singular
        library.grove_kind_singular.restype = c_char_p
        library.grove_kind_singular.argtypes = [c_int32]
        self.kind_short_names = library.grove_kind_short_names
        library.grove_kind_short_names.restype = c_char_p
        library.grove_kind_short_names.argtypes = [c_int32]
        self.kind_has_subresource = library.grove_kind_has_subresource
        library.grove_kind_has_subresource.restype = c_int32
        library.grove_kind_has_subresource.argtypes = [c_int32, c_int32]
        self.kind_is_custom = library.grove_kind_is_custom
        library.grove_kind_is_custom.restype = c_int32
        library.grove_kind_is_custom.argtypes = [c_int32]
        self.table_write = library.grove_table_write
        library.grove_table_write.restype = c_int32
        library.grove_table_write.argtypes = [c_void_p, c_int32, c_void_p, c_uint32, c_int64, POINTER(grove_buf), POINTER(grove_error)]
        self.table_column_at = library.grove_table_column_at
        library.grove_table_column_at.restype = c_int32
        library.grove_table_column_at.argtypes = [c_int32, c_uint32, POINTER(grove_table_column)]
        self.table_cells = library.grove_table_cells
        library.grove_table_cells.restype = c_int32
        library.grove_table_cells.argtypes = [c_void_p, c_int32, c_void_p, c_int64, c_void_p, POINTER(grove_error)]
        self.store_new = library.grove_store_new
        library.grove_store_new.restype = c_int32
        library.grove_store_new.argtypes = [c_void_p, POINTER(c_void_p)]
        self.store_free = library.grove_store_free
        library.grove_store_free.restype = None
        library.grove_store_free.argtypes = [c_void_p]
        self.store_put = library.grove_store_put
        library.grove_store_put.restype = c_int32
        library.grove_store_put.argtypes = [c_void_p, c_void_p, c_void_p, POINTER(grove_error)]
        self.store_remove = library.grove_store_remove
        library.grove_store_remove.restype = c_int32
        library.grove_store_remove.argtypes = [c_void_p, c_void_p, POINTER(grove_error)]
        self.store_put_record = library.grove_store_put_record
        library.grove_store_put_record.restype = c_int32
        library.grove_store_put_record.argtypes = [c_void_p, c_void_p, POINTER(grove_error)]
        self.store_remove_record = library.grove_store_remove_record
        library.grove_store_remove_record.restype = c_int32
        library.grove_store_remove_record.argtypes = [c_void_p, c_void_p, POINTER(grove_error)]
        self.store_next_dirty = library.grove_store_next_dirty
        library.grove_store_next_dirty.restype = c_int32
        library.grove_store_next_dirty.argtypes = [c_void_p, POINTER(c_char_p), POINTER(c_char_p)]
        self.store_mark = library.grove_store_mark
        library.grove_store_mark.restype = c_int32
        library.grove_store_mark.argtypes = [c_void_p, c_char_p, c_char_p]
        self.store_mark_all = library.grove_store_mark_all
        library.grove_store_mark_all.restype = c_int32
        library.grove_store_mark_all.argtypes = [c_void_p]
        self.store_stats_get = library.grove_store_stats_get
        library.grove_store_stats_get.restype = c_int32
        library.grove_store_stats_get.argtypes = [c_void_p, POINTER(grove_store_stats)]
        self.planner_new = library.grove_planner_new
        library.grove_planner_new.restype = c_int32
        library.grove_planner_new.argtypes = [c_void_p, POINTER(c_void_p)]
        self.planner_free = library.grove_planner_free
        library.grove_planner_free.restype = None
        library.grove_planner_free.argtypes = [c_void_p]
        self.plan_make = library.grove_plan_make
        library.grove_plan_make.restype = c_int32
        library.grove_plan_make.argtypes = [c_void_p, c_void_p, POINTER(grove_plan_request), POINTER(c_void_p), POINTER(grove_error)]
        self.plan_ref = library.grove_plan_ref
        library.grove_plan_ref.restype = c_void_p
        library.grove_plan_ref.argtypes = [c_void_p]
        self.plan_unref = library.grove_plan_unref
        library.grove_plan_unref.restype = None
        library.grove_plan_unref.argtypes = [c_void_p]
        self.plan_actions = library.grove_plan_actions
        library.grove_plan_actions.restype = c_uint32
        library.grove_plan_actions.argtypes = [c_void_p]
        self.plan_action = library.grove_plan_action
        library.grove_plan_action.restype = POINTER(grove_action)
        library.grove_plan_action.argtypes = [c_void_p, c_uint32]
        self.plan_waits = library.grove_plan_waits
        library.grove_plan_waits.restype = c_uint32
        library.grove_plan_waits.argtypes = [c_void_p]
        self.plan_wait = library.grove_plan_wait
        library.grove_plan_wait.restype = POINTER(grove_wait)
        library.grove_plan_wait.argtypes = [c_void_p, c_uint32]
        self.plan_deadline = library.grove_plan_deadline
        library.grove_plan_deadline.restype = c_int64
        library.grove_plan_deadline.argtypes = [c_void_p]
        self.plan_write_json = library.grove_plan_write_json
        library.grove_plan_write_json.restype = c_int32
        library.grove_plan_write_json.argtypes = [c_void_p, c_uint32, POINTER(grove_buf), POINTER(grove_error)]
        self.plan_explain = library.grove_plan_explain
        library.grove_plan_explain.restype = c_int32
        library.grove_plan_explain.argtypes = [c_void_p, c_int32, c_char_p, c_int64, POINTER(grove_buf), POINTER(grove_error)]
        self.quantity_parse = library.grove_quantity_parse
        library.grove_quantity_parse.restype = c_int32
        library.grove_quantity_parse.argtypes = [c_char_p, c_size_t, POINTER(grove_quantity), POINTER(grove_error)]
        self.quantity_format = library.grove_quantity_format
        library.grove_quantity_format.restype = c_int32
        library.grove_quantity_format.argtypes = [POINTER(grove_quantity), POINTER(grove_buf)]
        self.quantity_compare = library.grove_quantity_compare
        library.grove_quantity_compare.restype = c_int32
        library.grove_quantity_compare.argtypes = [POINTER(grove_quantity), POINTER(grove_quantity)]
        self.quantity_add = library.grove_quantity_add
        library.grove_quantity_add.restype = c_int32
        library.grove_quantity_add.argtypes = [POINTER(grove_quantity), POINTER(grove_quantity), POINTER(grove_quantity)]
        self.quantity_sub = library.grove_quantity_sub
        library.grove_quantity_sub.restype = c_int32
        library.grove_quantity_sub.argtypes = [POINTER(grove_quantity), POINTER(grove_quantity), POINTER(grove_quantity)]
        self.quantity_mul = library.grove_quantity_mul
        library.grove_quantity_mul.restype = c_int32
        library.grove_quantity_mul.argtypes = [POINTER(grove_quantity), c_int64, POINTER(grove_quantity)]
        self.quantity_milli = library.grove_quantity_milli
        library.grove_quantity_milli.restype = c_int32
        library.grove_quantity_milli.argtypes = [POINTER(grove_quantity), POINTER(c_int64)]
        self.quantity_units = library.grove_quantity_units
        library.grove_quantity_units.restype = c_int32
        library.grove_quantity_units.argtypes = [POINTER(grove_quantity), POINTER(c_int64)]
        self.render = library.grove_render
        library.grove_render.restype = c_int32
        library.grove_render.argtypes = [c_void_p, c_void_p, c_void_p, c_void_p, c_char_p, c_uint32, POINTER(c_void_p), POINTER(grove_error)]
        self.names_list = library.grove_names_list
        library.grove_names_list.restype = c_int32
        library.grove_names_list.argtypes = [c_void_p, c_void_p, c_void_p, c_void_p, POINTER(c_void_p), POINTER(grove_error)]
        self.runner_turn = library.grove_runner_turn
        library.grove_runner_turn.restype = c_int32
        library.grove_runner_turn.argtypes = [c_void_p, POINTER(grove_backend), c_int64, POINTER(c_int64), POINTER(grove_error)]
        self.sched_new = library.grove_sched_new
        library.grove_sched_new.restype = c_int32
        library.grove_sched_new.argtypes = [c_void_p, POINTER(grove_sched_options), POINTER(c_void_p), POINTER(grove_error)]
        self.sched_free = library.grove_sched_free
        library.grove_sched_free.restype = None
        library.grove_sched_free.argtypes = [c_void_p]
        self.sched_resource = library.grove_sched_resource
        library.grove_sched_resource.restype = c_int32
        library.grove_sched_resource.argtypes = [c_void_p, c_char_p, POINTER(c_uint32)]
        self.sched_resource_name = library.grove_sched_resource_name
        library.grove_sched_resource_name.restype = c_char_p
        library.grove_sched_resource_name.argtypes = [c_void_p, c_uint32]
        self.sched_resource_count = library.grove_sched_resource_count
        library.grove_sched_resource_count.restype = c_uint32
        library.grove_sched_resource_count.argtypes = [c_void_p]
        self.sched_topology = library.grove_sched_topology
        library.grove_sched_topology.restype = c_int32
        library.grove_sched_topology.argtypes = [c_void_p, c_char_p, POINTER(c_char_p), c_uint32, POINTER(c_uint32), POINTER(grove_error)]
        self.sched_level = library.grove_sched_level
        library.grove_sched_level.restype = c_int32
        library.grove_sched_level.argtypes = [c_void_p, c_uint32, c_char_p]
        self.sched_level_key = library.grove_sched_level_key
        library.grove_sched_level_key.restype = c_char_p
        library.grove_sched_level_key.argtypes = [c_void_p, c_uint32, c_int32]
        self.sched_host_level = library.grove_sched_host_level
        library.grove_sched_host_level.restype = c_int32
        library.grove_sched_host_level.argtypes = [c_void_p, c_uint32]
        self.sched_domain_of = library.grove_sched_domain_of
        library.grove_sched_domain_of.restype = c_uint32
        library.grove_sched_domain_of.argtypes = [c_void_p, c_uint32, c_int32, c_uint32]
        self.sched_domain_count = library.grove_sched_domain_count
        library.grove_sched_domain_count.restype = c_uint32
        library.grove_sched_domain_count.argtypes = [c_void_p, c_uint32, c_int32]
        self.sched_topology_conflicts = library.grove_sched_topology_conflicts
        library.grove_sched_topology_conflicts.restype = c_uint32
        library.grove_sched_topology_conflicts.argtypes = [c_void_p, c_uint32, c_int32]
        self.sched_node_add = library.grove_sched_node_add
        library.grove_sched_node_add.restype = c_int32
        library.grove_sched_node_add.argtypes = [c_void_p, POINTER(grove_sched_node), POINTER(c_uint32), POINTER(grove_error)]
        self.sched_node_update = library.grove_sched_node_update
        library.grove_sched_node_update.restype = c_int32
        library.grove_sched_node_update.argtypes = [c_void_p, c_uint32, POINTER(grove_sched_node), POINTER(grove_error)]
        self.sched_node_remove = library.grove_sched_node_remove
        library.grove_sched_node_remove.restype = c_int32
        library.grove_sched_node_remove.argtypes = [c_void_p, c_uint32]
        self.sched_node_find = library.grove_sched_node_find
        library.grove_sched_node_find.restype = c_uint32
        library.grove_sched_node_find.argtypes = [c_void_p, c_char_p]
        self.sched_node_name = library.grove_sched_node_name
        library.grove_sched_node_name.restype = c_char_p
        library.grove_sched_node_name.argtypes = [c_void_p, c_uint32]
        self.sched_node_limit = library.grove_sched_node_limit
        library.grove_sched_node_limit.restype = c_uint32
        library.grove_sched_node_limit.argtypes = [c_void_p]
        self.sched_node_free = library.grove_sched_node_free
        library.grove_sched_node_free.restype = POINTER(c_int64)
        library.grove_sched_node_free.argtypes = [c_void_p, c_uint32]
        self.sched_queue = library.grove_sched_queue
        library.grove_sched_queue.restype = c_int32
        library.grove_sched_queue.argtypes = [c_void_p, POINTER(grove_queue), POINTER(c_uint32), POINTER(grove_error)]
        self.sched_queue_find = library.grove_sched_queue_find
        library.grove_sched_queue_find.restype = c_uint32
        library.grove_sched_queue_find.argtypes = [c_void_p, c_char_p]
        self.sched_queue_count = library.grove_sched_queue_count
        library.grove_sched_queue_count.restype = c_uint32
        library.grove_sched_queue_count.argtypes = [c_void_p]
        self.sched_queue_name = library.grove_sched_queue_name
        library.grove_sched_queue_name.restype = c_char_p
        library.grove_sched_queue_name.argtypes = [c_void_p, c_uint32]
        self.sched_queue_parent = library.grove_sched_queue_parent
        library.grove_sched_queue_parent.restype = c_uint32
        library.grove_sched_queue_parent.argtypes = [c_void_p, c_uint32]
        self.sched_queue_used = library.grove_sched_queue_used
        library.grove_sched_queue_used.restype = POINTER(c_int64)
        library.grove_sched_queue_used.argtypes = [c_void_p, c_uint32]
        self.sched_queue_share = library.grove_sched_queue_share
        library.grove_sched_queue_share.restype = POINTER(c_int64)
        library.grove_sched_queue_share.argtypes = [c_void_p, c_uint32]
        self.sched_class = library.grove_sched_class
        library.grove_sched_class.restype = c_int32
        library.grove_sched_class.argtypes = [c_void_p, POINTER(grove_sched_class_spec), POINTER(c_uint32), POINTER(grove_error)]
        self.sched_class_allows = library.grove_sched_class_allows
        library.grove_sched_class_allows.restype = c_int32
        library.grove_sched_class_allows.argtypes = [c_void_p, c_uint32, c_uint32]
        self.sched_class_requests = library.grove_sched_class_requests
        library.grove_sched_class_requests.restype = POINTER(c_int64)
        library.grove_sched_class_requests.argtypes = [c_void_p, c_uint32]
        self.sched_pod_add = library.grove_sched_pod_add
        library.grove_sched_pod_add.restype = c_int32
        library.grove_sched_pod_add.argtypes = [c_void_p, POINTER(grove_sched_pod), POINTER(c_uint32), POINTER(grove_error)]
        self.sched_pod_remove = library.grove_sched_pod_remove
        library.grove_sched_pod_remove.restype = c_int32
        library.grove_sched_pod_remove.argtypes = [c_void_p, c_uint32]
        self.sched_pod_node = library.grove_sched_pod_node
        library.grove_sched_pod_node.restype = c_uint32
        library.grove_sched_pod_node.argtypes = [c_void_p, c_uint32]
        self.sched_pod_count = library.grove_sched_pod_count
        library.grove_sched_pod_count.restype = c_uint64
        library.grove_sched_pod_count.argtypes = [c_void_p]
        self.gang_new = library.grove_gang_new
        library.grove_gang_new.restype = c_int32
        library.grove_gang_new.argtypes = [c_void_p, POINTER(c_void_p)]
        self.gang_free = library.grove_gang_free
        library.grove_gang_free.restype = None
        library.grove_gang_free.argtypes = [c_void_p]
        self.gang_begin = library.grove_gang_begin
        library.grove_gang_begin.restype = c_int32
        library.grove_gang_begin.argtypes = [c_void_p, c_uint32, c_char_p]
        self.gang_pack = library.grove_gang_pack
        library.grove_gang_pack.restype = c_int32
        library.grove_gang_pack.argtypes = [c_void_p, c_int32, c_int32]
        self.gang_podgroup = library.grove_gang_podgroup
        library.grove_gang_podgroup.restype = c_int32
        library.grove_gang_podgroup.argtypes = [c_void_p, c_char_p, c_uint32, c_uint32, c_uint32, c_int32, c_int32, POINTER(c_uint32)]
        self.gang_group = library.grove_gang_group
        library.grove_gang_group.restype = c_int32
        library.grove_gang_group.argtypes = [c_void_p, c_char_p, POINTER(c_uint32), c_uint32, c_int32, c_int32, POINTER(c_uint32)]
        self.gang_member = library.grove_gang_member
        library.grove_gang_member.restype = c_int32
        library.grove_gang_member.argtypes = [c_void_p, c_uint32, c_uint32]
        self.gang_sticky = library.grove_gang_sticky
        library.grove_gang_sticky.restype = c_int32
        library.grove_gang_sticky.argtypes = [c_void_p, c_uint32, c_uint32, c_uint32]
        self.gang_anchor = library.grove_gang_anchor
        library.grove_gang_anchor.restype = c_int32
        library.grove_gang_anchor.argtypes = [c_void_p, c_int32, c_uint32, c_int32]
        self.gang_spread = library.grove_gang_spread
        library.grove_gang_spread.restype = c_int32
        library.grove_gang_spread.argtypes = [c_void_p, c_int32, c_uint32, c_int32, POINTER(c_uint32), c_uint32]
        self.gang_priority = library.grove_gang_priority
        library.grove_gang_priority.restype = c_int32
        library.grove_gang_priority.argtypes = [c_void_p, c_int32]
        self.gang_queue = library.grove_gang_queue
        library.grove_gang_queue.restype = c_int32
        library.grove_gang_queue.argtypes = [c_void_p, c_uint32]
        self.gang_waiting = library.grove_gang_waiting
        library.grove_gang_waiting.restype = c_int32
        library.grove_gang_waiting.argtypes = [c_void_p, c_int64, c_uint32]
        self.gang_flags = library.grove_gang_flags
        library.grove_gang_flags.restype = c_int32
        library.grove_gang_flags.argtypes = [c_void_p, c_uint32]
        self.gang_needs = library.grove_gang_needs
        library.grove_gang_needs.restype = c_int32
        library.grove_gang_needs.argtypes = [c_void_p, POINTER(c_int64), c_uint32]
        self.gang_base = library.grove_gang_base
        library.grove_gang_base.restype = c_int32
        library.grove_gang_base.argtypes = [c_void_p, c_uint32]
        self.sched_place = library.grove_sched_place
        library.grove_sched_place.restype = c_int32
        library.grove_sched_place.argtypes = [c_void_p, c_void_p, POINTER(grove_place_options), c_void_p, POINTER(grove_error)]
        self.decision_new = library.grove_decision_new
        library.grove_decision_new.restype = c_int32
        library.grove_decision_new.argtypes = [c_void_p, POINTER(c_void_p)]
        self.decision_free = library.grove_decision_free
        library.grove_decision_free.restype = None
        library.grove_decision_free.argtypes = [c_void_p]
        self.decision_verdict = library.grove_decision_verdict
        library.grove_decision_verdict.restype = c_int32
        library.grove_decision_verdict.argtypes = [c_void_p]
        self.decision_steps = library.grove_decision_steps
        library.grove_decision_steps.restype = c_uint64
        library.grove_decision_steps.argtypes = [c_void_p]
        self.decision_nodes = library.grove_decision_nodes
        library.grove_decision_nodes.restype = POINTER(c_uint32)
        library.grove_decision_nodes.argtypes = [c_void_p, c_uint32, POINTER(c_uint32)]
        self.decision_level = library.grove_decision_level
        library.grove_decision_level.restype = c_int32
        library.grove_decision_level.argtypes = [c_void_p, c_int32, c_uint32]
        self.decision_cost = library.grove_decision_cost
        library.grove_decision_cost.restype = c_int32
        library.grove_decision_cost.argtypes = [c_void_p, POINTER(grove_cost)]
        self.decision_score = library.grove_decision_score
        library.grove_decision_score.restype = c_int32
        library.grove_decision_score.argtypes = [c_void_p]
        self.decision_certificate = library.grove_decision_certificate
        library.grove_decision_certificate.restype = c_int32
        library.grove_decision_certificate.argtypes = [c_void_p, POINTER(grove_certificate)]
        self.reason_name = library.grove_reason_name
        library.grove_reason_name.restype = c_char_p
        library.grove_reason_name.argtypes = [c_int32]
        self.sched_commit = library.grove_sched_commit
        library.grove_sched_commit.restype = c_int32
        library.grove_sched_commit.argtypes = [c_void_p, c_void_p, c_void_p, POINTER(c_uint32), POINTER(grove_error)]
        self.sched_release = library.grove_sched_release
        library.grove_sched_release.restype = c_int32
        library.grove_sched_release.argtypes = [c_void_p, c_uint32]
        self.sched_gang_base = library.grove_sched_gang_base
        library.grove_sched_gang_base.restype = c_int32
        library.grove_sched_gang_base.argtypes = [c_void_p, c_uint32, c_uint32]
        self.sched_gang_form = library.grove_sched_gang_form
        library.grove_sched_gang_form.restype = c_int32
        library.grove_sched_gang_form.argtypes = [c_void_p, POINTER(grove_sched_members), POINTER(c_uint32), POINTER(grove_error)]
        self.sched_gang_flags = library.grove_sched_gang_flags
        library.grove_sched_gang_flags.restype = c_int32
        library.grove_sched_gang_flags.argtypes = [c_void_p, c_uint32, c_uint32]
        self.sched_gang_pods = library.grove_sched_gang_pods
        library.grove_sched_gang_pods.restype = POINTER(c_uint32)
        library.grove_sched_gang_pods.argtypes = [c_void_p, c_uint32, POINTER(c_uint32)]
        self.sched_mark = library.grove_sched_mark
        library.grove_sched_mark.restype = c_int32
        library.grove_sched_mark.argtypes = [c_void_p, POINTER(c_uint64)]
        self.sched_rollback = library.grove_sched_rollback
        library.grove_sched_rollback.restype = c_int32
        library.grove_sched_rollback.argtypes = [c_void_p, c_uint64]
        self.sched_keep = library.grove_sched_keep
        library.grove_sched_keep.restype = c_int32
        library.grove_sched_keep.argtypes = [c_void_p, c_uint64]
        self.sched_hash = library.grove_sched_hash
        library.grove_sched_hash.restype = c_uint64
        library.grove_sched_hash.argtypes = [c_void_p]
        self.sched_verify = library.grove_sched_verify
        library.grove_sched_verify.restype = c_int32
        library.grove_sched_verify.argtypes = [c_void_p, POINTER(grove_error)]
        self.sched_explain = library.grove_sched_explain
        library.grove_sched_explain.restype = c_int32
        library.grove_sched_explain.argtypes = [c_void_p, c_void_p, c_void_p, c_uint32, POINTER(grove_buf), POINTER(grove_error)]
        self.sched_preempt = library.grove_sched_preempt
        library.grove_sched_preempt.restype = c_int32
        library.grove_sched_preempt.argtypes = [c_void_p, c_void_p, POINTER(grove_place_options), c_void_p, POINTER(grove_error)]
        self.sched_reclaim = library.grove_sched_reclaim
        library.grove_sched_reclaim.restype = c_int32
        library.grove_sched_reclaim.argtypes = [c_void_p, c_void_p, POINTER(c_int64), c_uint32, POINTER(grove_place_options), c_void_p, POINTER(grove_error)]
        self.decision_victims = library.grove_decision_victims
        library.grove_decision_victims.restype = POINTER(grove_victim)
        library.grove_decision_victims.argtypes = [c_void_p, POINTER(c_uint32)]
        self.decision_victims_proven = library.grove_decision_victims_proven
        library.grove_decision_victims_proven.restype = c_int32
        library.grove_decision_victims_proven.argtypes = [c_void_p]
        self.sched_serve = library.grove_sched_serve
        library.grove_sched_serve.restype = c_int32
        library.grove_sched_serve.argtypes = [c_void_p, POINTER(c_void_p), POINTER(c_void_p), c_uint32, POINTER(grove_serve_options), POINTER(POINTER(grove_served)), POINTER(grove_error)]
        self.sched_next_queue = library.grove_sched_next_queue
        library.grove_sched_next_queue.restype = c_int32
        library.grove_sched_next_queue.argtypes = [c_void_p, POINTER(c_uint32), POINTER(c_int64), c_uint32, POINTER(c_uint32), POINTER(grove_error)]
        self.version = library.grove_version
        library.grove_version.restype = c_char_p
        library.grove_version.argtypes = []
        self.version_number = library.grove_version_number
        library.grove_version_number.restype = c_int32
        library.grove_version_number.argtypes = []
        self.conformance_count = library.grove_conformance_count
        library.grove_conformance_count.restype = c_uint32
        library.grove_conformance_count.argtypes = []
        self.conformance_name = library.grove_conformance_name
        library.grove_conformance_name.restype = c_char_p
        library.grove_conformance_name.argtypes = [c_uint32]
        self.conformance_run = library.grove_conformance_run
        library.grove_conformance_run.restype = c_int32
        library.grove_conformance_run.argtypes = [c_void_p, POINTER(grove_backend), POINTER(grove_conformance_options), POINTER(grove_conformance_report), POINTER(grove_error)]
        self.extract_takes = library.grove_extract_takes
        library.grove_extract_takes.restype = c_int32
        library.grove_extract_takes.argtypes = [c_int32]
        self.extract_new = library.grove_extract_new
        library.grove_extract_new.restype = c_int32
        library.grove_extract_new.argtypes = [c_void_p, POINTER(c_void_p)]
        self.extract_free = library.grove_extract_free
        library.grove_extract_free.restype = None
        library.grove_extract_free.argtypes = [c_void_p]
        self.extract_read = library.grove_extract_read
        library.grove_extract_read.restype = c_int32
        library.grove_extract_read.argtypes = [c_void_p, c_int32, c_char_p, c_size_t, POINTER(grove_error)]
        self.extract_event = library.grove_extract_event
        library.grove_extract_event.restype = c_int32
        library.grove_extract_event.argtypes = [c_void_p, c_int32, c_char_p, c_size_t, POINTER(c_int32), POINTER(c_char_p), POINTER(c_size_t), POINTER(grove_error)]
        self.extract_version = library.grove_extract_version
        library.grove_extract_version.restype = c_char_p
        library.grove_extract_version.argtypes = [c_void_p]
        self.extract_write = library.grove_extract_write
        library.grove_extract_write.restype = c_int32
        library.grove_extract_write.argtypes = [c_void_p, POINTER(grove_buf)]
        self.sim_new = library.grove_sim_new
        library.grove_sim_new.restype = c_int32
        library.grove_sim_new.argtypes = [c_void_p, POINTER(grove_sim_options), POINTER(c_void_p), POINTER(grove_error)]
        self.sim_free = library.grove_sim_free
        library.grove_sim_free.restype = None
        library.grove_sim_free.argtypes = [c_void_p]
        self.sim_now = library.grove_sim_now
        library.grove_sim_now.restype = c_int64
        library.grove_sim_now.argtypes = [c_void_p]
        self.sim_deadline = library.grove_sim_deadline
        library.grove_sim_deadline.restype = c_int64
        library.grove_sim_deadline.argtypes = [c_void_p]
        self.sim_advance = library.grove_sim_advance
        library.grove_sim_advance.restype = c_int32
        library.grove_sim_advance.argtypes = [c_void_p, c_int64, POINTER(grove_error)]
        self.sim_backend = library.grove_sim_backend
        library.grove_sim_backend.restype = c_int32
        library.grove_sim_backend.argtypes = [c_void_p, POINTER(grove_backend), POINTER(grove_error)]
        self.sim_execute = library.grove_sim_execute
        library.grove_sim_execute.restype = c_int32
        library.grove_sim_execute.argtypes = [c_void_p, POINTER(grove_op), POINTER(grove_sim_result)]
        self.sim_apply = library.grove_sim_apply
        library.grove_sim_apply.restype = c_int32
        library.grove_sim_apply.argtypes = [c_void_p, c_void_p, c_void_p, POINTER(grove_error)]
        self.sim_get = library.grove_sim_get
        library.grove_sim_get.restype = c_int32
        library.grove_sim_get.argtypes = [c_void_p, c_int32, c_char_p, c_char_p, POINTER(c_void_p), POINTER(grove_error)]
        self.sim_list = library.grove_sim_list
        library.grove_sim_list.restype = c_int32
        library.grove_sim_list.argtypes = [c_void_p, c_int32, c_char_p, c_char_p, POINTER(c_void_p), POINTER(grove_error)]
        self.sim_delete = library.grove_sim_delete
        library.grove_sim_delete.restype = c_int32
        library.grove_sim_delete.argtypes = [c_void_p, c_int32, c_char_p, c_char_p, POINTER(grove_error)]
        self.sim_scale = library.grove_sim_scale
        library.grove_sim_scale.restype = c_int32
        library.grove_sim_scale.argtypes = [c_void_p, c_int32, c_char_p, c_char_p, c_int64, POINTER(grove_error)]
        self.sim_bind = library.grove_sim_bind
        library.grove_sim_bind.restype = c_int32
        library.grove_sim_bind.argtypes = [c_void_p, c_char_p, c_char_p, c_char_p, POINTER(grove_error)]
        self.sim_dump = library.grove_sim_dump
        library.grove_sim_dump.restype = c_int32
        library.grove_sim_dump.argtypes = [c_void_p, POINTER(c_void_p), POINTER(grove_error)]
        self.sim_count = library.grove_sim_count
        library.grove_sim_count.restype = c_uint32
        library.grove_sim_count.argtypes = [c_void_p, c_int32]
        self.sim_compact = library.grove_sim_compact
        library.grove_sim_compact.restype = None
        library.grove_sim_compact.argtypes = [c_void_p]
        self.sim_observe = library.grove_sim_observe
        library.grove_sim_observe.restype = None
        library.grove_sim_observe.argtypes = [c_void_p, grove_sim_observe_fn, c_void_p]
        self.sim_add_nodes = library.grove_sim_add_nodes
        library.grove_sim_add_nodes.restype = c_int32
        library.grove_sim_add_nodes.argtypes = [c_void_p, c_char_p, POINTER(grove_error)]
        self.sim_node_list = library.grove_sim_node_list
        library.grove_sim_node_list.restype = c_int32
        library.grove_sim_node_list.argtypes = [c_void_p, c_char_p, POINTER(c_void_p), POINTER(grove_error)]
        self.sim_fail_node = library.grove_sim_fail_node
        library.grove_sim_fail_node.restype = c_int32
        library.grove_sim_fail_node.argtypes = [c_void_p, c_char_p, POINTER(grove_error)]
        self.sim_recover_node = library.grove_sim_recover_node
        library.grove_sim_recover_node.restype = c_int32
        library.grove_sim_recover_node.argtypes = [c_void_p, c_char_p, POINTER(grove_error)]
        self.sim_cordon = library.grove_sim_cordon
        library.grove_sim_cordon.restype = c_int32
        library.grove_sim_cordon.argtypes = [c_void_p, c_char_p, c_int32, POINTER(grove_error)]
        self.sim_add_rule = library.grove_sim_add_rule
        library.grove_sim_add_rule.restype = c_int32
        library.grove_sim_add_rule.argtypes = [c_void_p, POINTER(grove_sim_rule), POINTER(grove_error)]
        self.sim_set_ready = library.grove_sim_set_ready
        library.grove_sim_set_ready.restype = c_int32
        library.grove_sim_set_ready.argtypes = [c_void_p, c_char_p, c_char_p, c_int32, POINTER(grove_error)]
        self.sim_crash = library.grove_sim_crash
        library.grove_sim_crash.restype = c_int32
        library.grove_sim_crash.argtypes = [c_void_p, c_char_p, c_char_p, c_char_p, c_int32, POINTER(grove_error)]
        self.sim_set_scheduler = library.grove_sim_set_scheduler
        library.grove_sim_set_scheduler.restype = c_int32
        library.grove_sim_set_scheduler.argtypes = [c_void_p, c_char_p, grove_sim_schedule_fn, c_void_p, POINTER(grove_error)]
        self.memory_alloc = library.grove_memory_alloc
        library.grove_memory_alloc.restype = c_void_p
        library.grove_memory_alloc.argtypes = [c_void_p, c_size_t]
        self.memory_resize = library.grove_memory_resize
        library.grove_memory_resize.restype = c_void_p
        library.grove_memory_resize.argtypes = [c_void_p, c_void_p, c_size_t, c_size_t]
        self.memory_free = library.grove_memory_free
        library.grove_memory_free.restype = None
        library.grove_memory_free.argtypes = [c_void_p, c_void_p, c_size_t]
        self.error_set = library.grove_error_set
        library.grove_error_set.restype = c_int32
        library.grove_error_set.argtypes = [POINTER(grove_error), c_int32, c_char_p]
        self.struct_read = library.grove_struct_read
        library.grove_struct_read.restype = c_int32
        library.grove_struct_read.argtypes = [c_void_p, c_uint64, c_void_p, c_uint32, c_uint64]
        self.log_enabled = library.grove_log_enabled
        library.grove_log_enabled.restype = c_int32
        library.grove_log_enabled.argtypes = [c_void_p, c_int32]
        self.log_write = library.grove_log_write
        library.grove_log_write.restype = None
        library.grove_log_write.argtypes = [c_void_p, c_int32, c_char_p, c_char_p, POINTER(grove_log_field), c_uint32]
        self.random_next = library.grove_random_next
        library.grove_random_next.restype = c_uint64
        library.grove_random_next.argtypes = [POINTER(c_uint64)]
