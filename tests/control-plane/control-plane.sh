#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A real Kubernetes control plane on loopback, for tests: etcd, kube-apiserver (RBAC on), controller-manager,
# scheduler, and nodesim in place of kubelets. Called by `./dev control-plane VERB`.
#
#     build [MORE]   the programs, from Go modules (about 11 minutes on two cores, once); MORE: kubelet
#     up [SPEC]      starts everything; SPEC: nodes as for `grovectl sim --nodes` [2x2x4x8]
#     down           ends everything; nothing is kept
#     status         what runs; exit 0 when all of it does, 3 otherwise
#     kubectl ARGS   the kubectl of that version, as administrator
#     smoke          up if needed, a pod from creation to deletion, RBAC refuses, down
#     certificate NAME SUBJECT [ALTERNATIVE NAMES]   another user of the one that is up: NAME.kubeconfig beside the administrator's
#
# One control plane per machine, user and port (GROVE_CONTROL_PLANE_PORT). Exit 77: Go >= 1.24 or the modules are not to be had here.
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ROOT=$(cd "$HERE/../.." && pwd)
# shellcheck source=../../build-aux/dev/common.sh
. "$ROOT/build-aux/dev/common.sh"

VERSION=$(grep -oE 'k8s.io/kubernetes v[0-9.]+' "$HERE/go.mod" | cut -d' ' -f2)
VERSION=${VERSION:?no Kubernetes version in go.mod}
PROGRAMS=(kube-apiserver kube-controller-manager kube-scheduler kubectl)
PARTS=(etcd kube-apiserver kube-controller-manager kube-scheduler)
# GROVE_CONTROL_PLANE_NODESIM=0: without fake nodes, for those who bring real ones (node/node.sh).
NODESIM=${GROVE_CONTROL_PLANE_NODESIM:-1}
[ "$NODESIM" = 0 ] || PARTS+=(nodesim)
# GROVE_CONTROL_PLANE_PORT: another one beside it, with a state and etcd ports of its own.
API_PORT=${GROVE_CONTROL_PLANE_PORT:-16443}
ETCD_PORT=$(((API_PORT + 61472) % 65536)) ETCD_PEER_PORT=$(((API_PORT + 61473) % 65536)) # 16443: 12379, 12380
STATE=${GROVE_CONTROL_PLANE_DIR:-$CACHE/control-plane/run}
[ "$API_PORT" = 16443 ] || STATE=$STATE-$API_PORT
MEMORY=/dev/shm
[ -w "$MEMORY" ] || MEMORY=$STATE
ETCD_DATA=$MEMORY/libgrove-etcd-$(id -u)-$API_PORT
SERVER=https://127.0.0.1:$API_PORT
ADMIN=$STATE/admin.kubeconfig

# ---- the programs ----

go_fits() {
    have go || return 1
    local version
    version=$(cd "$HERE" && go env GOVERSION | sed 's/^go//')
    [ "$(printf '1.24\n%s\n' "$version" | sort -V | head -n 1)" = 1.24 ]
}

# Where the programs are, by all that decides their bytes.
bin_folder() {
    local go_version=none
    have go && go_version=$(cd "$HERE" && go env GOVERSION)
    printf '%s/control-plane/%s-%s-%s' "$CACHE" "$VERSION" "$go_version" \
        "$(cat "$HERE/go.mod" "$HERE/go.sum" | sha256sum | cut -c1-8)"
}

built() {
    local program folder
    folder=$(bin_folder)
    for program in "${PROGRAMS[@]}"; do
        [ -x "$folder/$program" ] || return 1
    done
}

build_programs() { # [MORE...]
    local folder program minor flags
    folder=$(bin_folder)
    if ! go_fits; then
        say "control-plane: SKIPPED: Go 1.24 or newer is not installed here"
        exit 77
    fi
    mkdir -p "$folder"
    minor=${VERSION#v1.}
    flags="-s -w -X k8s.io/component-base/version.gitVersion=$VERSION"
    flags+=" -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=${minor%%.*}"
    for program in "${PROGRAMS[@]}" "$@"; do
        [ -x "$folder/$program" ] && continue
        say "control-plane: building $program $VERSION"
        if ! (cd "$HERE" && CGO_ENABLED=0 nice -n 19 go build -buildvcs=false -trimpath -ldflags "$flags" \
            -o "$folder/$program.new" "k8s.io/kubernetes/cmd/$program") >&2; then
            say "control-plane: SKIPPED: $program could not be built from its modules"
            exit 77
        fi
        mv "$folder/$program.new" "$folder/$program"
    done
}

build_nodesim() { # quick: its packages came with the programs'
    (cd "$HERE" && CGO_ENABLED=0 nice -n 19 go build -buildvcs=false -trimpath -o "$(bin_folder)/nodesim" ./cmd/nodesim) >&2 ||
        die "nodesim could not be built"
}

# ---- certificates ----

certificate() { # NAME SUBJECT [ALTERNATIVE NAMES]
    local extension="extendedKeyUsage=clientAuth,serverAuth"
    [ -n "${3:-}" ] && extension+=$'\n'"subjectAltName=$3"
    openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "$2" \
        -keyout "$STATE/pki/$1.key" -out "$STATE/pki/$1.csr"
    openssl x509 -req -in "$STATE/pki/$1.csr" -CA "$STATE/pki/ca.crt" -CAkey "$STATE/pki/ca.key" -CAcreateserial \
        -days 3650 -extfile <(printf '%s\n' "$extension") -out "$STATE/pki/$1.crt"
}

kubeconfig() { # NAME
    cat >"$STATE/$1.kubeconfig" <<EOT
apiVersion: v1
kind: Config
clusters: [{name: local, cluster: {server: "$SERVER", certificate-authority: "$STATE/pki/ca.crt"}}]
users: [{name: "$1", user: {client-certificate: "$STATE/pki/$1.crt", client-key: "$STATE/pki/$1.key"}}]
contexts: [{name: local, context: {cluster: local, user: "$1"}}]
current-context: local
EOT
}

make_pki() {
    [ -e "$STATE/pki/complete" ] && return 0
    rm -rf "$STATE/pki"
    mkdir -p "$STATE/pki"
    chmod 700 "$STATE"
    {
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=libgrove-test-ca -days 3650 \
            -keyout "$STATE/pki/ca.key" -out "$STATE/pki/ca.crt"
        certificate apiserver /CN=kube-apiserver \
            DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,IP:127.0.0.1,IP:10.96.0.1,IP:10.200.0.1
        certificate admin /O=system:masters/CN=admin
        certificate controller-manager /CN=system:kube-controller-manager
        certificate scheduler /CN=system:kube-scheduler
        certificate nodesim /CN=nodesim
        certificate nobody /CN=nobody
        openssl genrsa -out "$STATE/pki/accounts.key" 2048
        openssl rsa -in "$STATE/pki/accounts.key" -pubout -out "$STATE/pki/accounts.pub"
    } 2>"$STATE/openssl.log" || die "openssl could not make the certificates (see $STATE/openssl.log)"
    local name
    for name in admin controller-manager scheduler nodesim nobody; do
        kubeconfig "$name"
    done
    touch "$STATE/pki/complete"
}

# ---- processes ----

# A part runs when the process of its pid file is ours and is no zombie; pids are used again.
runs() { # PART
    local pid
    pid=$(cat "$STATE/$1.pid" 2>/dev/null) || return 1
    [ -r "/proc/$pid/cmdline" ] || return 1
    grep -q '^State:[[:space:]]*[^ZX]' "/proc/$pid/status" 2>/dev/null || return 1
    tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q "^[^ ]*$1 "
}

start() { # PART COMMAND...
    local part=$1
    shift
    (
        cd "$STATE"
        exec 9>&-
        setsid nohup "$@" >"$STATE/$part.log" 2>&1 </dev/null &
        echo $! >"$STATE/$part.pid"
    )
}

wait_for() { # SECONDS WHAT COMMAND...
    local until=$((SECONDS + $1)) what=$2
    shift 2
    until "$@" >/dev/null 2>&1; do
        if [ $SECONDS -ge $until ]; then
            die "$what did not come up (logs in $STATE)"
        fi
        sleep 0.2
    done
}

kubectl_admin() { KUBECONFIG=$ADMIN "$(bin_folder)/kubectl" --cache-dir="$STATE/kube-cache" "$@"; }

start_all() { # SPEC
    local bin
    bin=$(bin_folder)
    rm -rf "$ETCD_DATA"
    start etcd etcd --name test --data-dir "$ETCD_DATA" --listen-client-urls "http://127.0.0.1:$ETCD_PORT" \
        --advertise-client-urls "http://127.0.0.1:$ETCD_PORT" --listen-peer-urls "http://127.0.0.1:$ETCD_PEER_PORT" \
        --initial-advertise-peer-urls "http://127.0.0.1:$ETCD_PEER_PORT" \
        --initial-cluster "test=http://127.0.0.1:$ETCD_PEER_PORT" --quota-backend-bytes 2147483648
    # Fake nodes have no kubelet that would have their taint removed: the plugin that adds it is off.
    # Who sets an owner must be able to set that owner's finalizers: as the stricter servers have it.
    # GROVE_APISERVER_FLAGS: more of its flags, for stages that make it unkind.
    # shellcheck disable=SC2086
    start kube-apiserver "$bin/kube-apiserver" --etcd-servers "http://127.0.0.1:$ETCD_PORT" \
        --secure-port $API_PORT --bind-address 127.0.0.1 --advertise-address 127.0.0.1 --endpoint-reconciler-type none \
        --authorization-mode Node,RBAC --anonymous-auth=false --service-cluster-ip-range 10.96.0.0/16 \
        --enable-admission-plugins OwnerReferencesPermissionEnforcement \
        --disable-admission-plugins TaintNodesByCondition \
        --client-ca-file "$STATE/pki/ca.crt" --tls-cert-file "$STATE/pki/apiserver.crt" \
        --tls-private-key-file "$STATE/pki/apiserver.key" --service-account-issuer https://kubernetes.default.svc \
        --service-account-key-file "$STATE/pki/accounts.pub" \
        --service-account-signing-key-file "$STATE/pki/accounts.key" ${GROVE_APISERVER_FLAGS:-}
    wait_for 90 kube-apiserver kubectl_admin get --raw /readyz
    # node-lifecycle would taint fake nodes, which renew no lease; the autoscaler would need metrics.
    start kube-controller-manager "$bin/kube-controller-manager" --kubeconfig "$STATE/controller-manager.kubeconfig" \
        --leader-elect=false --use-service-account-credentials --secure-port 0 --root-ca-file "$STATE/pki/ca.crt" \
        --service-account-private-key-file "$STATE/pki/accounts.key" --kube-api-qps 200 --kube-api-burst 400 \
        --controllers '*,-node-lifecycle-controller,-node-ipam-controller,-node-route-controller,-cloud-node-lifecycle-controller,-horizontal-pod-autoscaler-controller'
    start kube-scheduler "$bin/kube-scheduler" --kubeconfig "$STATE/scheduler.kubeconfig" --leader-elect=false \
        --secure-port 0 --kube-api-qps 200 --kube-api-burst 400
    kubectl_admin apply -f "$HERE/rbac.yaml" >/dev/null
    wait_for 60 "the default service account" kubectl_admin -n default get serviceaccount default
    [ "$NODESIM" = 0 ] && return 0
    start nodesim "$bin/nodesim" --kubeconfig "$STATE/nodesim.kubeconfig" --nodes "$1"
    wait_for 60 "the first node" sh -c "KUBECONFIG='$ADMIN' '$bin/kubectl' get nodes --no-headers | grep -q ' Ready '"
    runs nodesim || die "nodesim ended: $(tail -n 1 "$STATE/nodesim.log")"
}

# ---- verbs ----

locked() {
    mkdir -p "$STATE"
    exec 9>"$STATE/lock"
    flock -w 120 9 || die "another control-plane command holds the lock"
}

cp_up() {
    local part all=1 started=$SECONDS
    deps_ensure cluster || { say "control-plane: SKIPPED: etcd or openssl is not to be had here" && exit 77; }
    build_programs
    locked
    for part in "${PARTS[@]}"; do
        runs "$part" || all=0
    done
    if [ "$all" -eq 0 ]; then
        stop_all
        [ "$NODESIM" = 0 ] || build_nodesim
        make_pki
        trap stop_all EXIT # a start that fails leaves nothing behind
        start_all "${1:-2x2x4x8}"
        trap - EXIT
        say "control-plane: up after $((SECONDS - started)) s"
    fi
    printf 'KUBECONFIG=%s\n' "$ADMIN"
}

stop_all() {
    local part pid i
    for part in "${PARTS[@]}"; do
        runs "$part" && kill -TERM "$(cat "$STATE/$part.pid")" 2>/dev/null || true
    done
    for part in "${PARTS[@]}"; do
        for i in $(seq 25); do
            runs "$part" || break
            # the API server takes its time to drain, and nothing here is kept
            [ "$i" -lt 10 ] || kill -KILL "$(cat "$STATE/$part.pid")" 2>/dev/null || true
            sleep 0.1
        done
        rm -f "$STATE/$part.pid"
    done
    rm -rf "$ETCD_DATA"
}

cp_down() {
    locked
    stop_all
    say "control-plane: down"
}

cp_status() {
    local part bad=0
    for part in "${PARTS[@]}"; do
        if runs "$part"; then
            printf '%-24s running, pid %s\n' "$part" "$(cat "$STATE/$part.pid")"
        else
            printf '%-24s not running\n' "$part"
            bad=3
        fi
    done
    printf '%-24s %s\n' version "$VERSION" programs "$(built && bin_folder || echo 'not built')"
    [ "$bad" -eq 0 ] && printf 'KUBECONFIG=%s\n' "$ADMIN"
    return $bad
}

# The control plane does what tests rely on: bind, run, order, refuse, collect.
cp_smoke() {
    local was_up=0 name=smoke-$$
    cp_status >/dev/null 2>&1 && was_up=1
    cp_up >/dev/null
    exec 9>&-
    (cd "$HERE" && CGO_ENABLED=0 nice -n 19 go test -count=1 ./cmd/...) >&2 || die "nodesim's own tests fail"
    kubectl_admin create namespace "$name" >/dev/null
    wait_for 30 "its service account" kubectl_admin -n "$name" get serviceaccount default
    sed "s/NAMESPACE/$name/" "$HERE/smoke.yaml" | kubectl_admin apply -f - >/dev/null
    kubectl_admin -n "$name" wait pod --all --for condition=Ready --timeout 150s >/dev/null || {
        kubectl_admin -n "$name" get pods,events -o wide >&2
        die "the pods did not come up: $(tail -n 1 "$STATE/nodesim.log")"
    }
    local parent child
    parent=$(kubectl_admin -n "$name" get pod parent -o 'jsonpath={.status.containerStatuses[0].state.running.startedAt}')
    child=$(kubectl_admin -n "$name" get pod child -o 'jsonpath={.status.containerStatuses[0].state.running.startedAt}')
    [[ "$parent" < "$child" ]] || die "the child ran before its parent"
    if KUBECONFIG=$STATE/nobody.kubeconfig "$(bin_folder)/kubectl" -n "$name" get pods >/dev/null 2>&1; then
        die "RBAC let nobody read pods"
    fi
    kubectl_admin delete namespace "$name" --wait --timeout 150s >/dev/null
    [ "$was_up" -eq 1 ] || cp_down
    say "control-plane: smoke test passed"
}

case ${1:-} in
build) shift && build_programs "$@" && build_nodesim ;;
up) shift && cp_up "$@" ;;
down) cp_down ;;
status) cp_status ;;
kubectl) shift && kubectl_admin "$@" ;;
smoke) cp_smoke ;;
certificate) shift && certificate "$@" 2>>"$STATE/openssl.log" && kubeconfig "$1" ;;
*)
    say "usage: ./dev control-plane build|up [SPEC]|down|status|kubectl ARGS|smoke"
    exit 2
    ;;
esac
