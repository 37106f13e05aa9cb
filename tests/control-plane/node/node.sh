#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A real node for tests: kubelet, containerd, runc and CNI beside a control plane of its own, all in new network, mount and
# process namespaces, so that nothing of the machine is touched and nothing outlives them.
#
#     node.sh run COMMAND...   brings it up, runs the command inside, takes it down; the command's exit status
#
# The command finds KUBECONFIG (administrator), GROVE_NODE_DIR (logs, certificates, sockets) and control-plane.sh's variables.
# GROVE_NODE_IMAGES: FOLDER=NAME... more images, of programs collected by deploy/images/collect.sh.
# Exit 77: a capability, a package or a program is not to be had here; says which. Logs are kept in the cache folder.
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ROOT=$(cd "$HERE/../../.." && pwd)
# shellcheck source=../../../build-aux/dev/common.sh
. "$ROOT/build-aux/dev/common.sh"

CONTROL_PLANE=$ROOT/tests/control-plane/control-plane.sh
NODE=n1
ADDRESS=10.200.0.1  # of the node
SERVICE=10.96.0.1   # of the Service `kubernetes`: the API server listens there itself, without proxy or NAT
DIR=/run/grove-node # short, for sockets; in memory, for overlays and etcd; only inside
LOGS=$CACHE/control-plane/node
CGROUPS=/sys/fs/cgroup

skip() {
    say "node: SKIPPED: $*"
    exit 77
}

# ---- what the machine must be able to do ----

hierarchies() { find "$CGROUPS" -mindepth 1 -maxdepth 1 -type d ! -type l; }

# Inside namespaces of their own: the kinds of links, mounts and settings that the node is made of.
try_kernel() {
    mount -t tmpfs none /mnt && mkdir /mnt/{a,b,c,d} &&
        mount -t overlay none -o lowerdir=/mnt/a,upperdir=/mnt/b,workdir=/mnt/c /mnt/d &&
        ip link add d0 type bridge && ip link add v0 type veth peer name v1 && ip link set v0 master d0 &&
        echo 1 >/proc/sys/net/ipv4/ip_forward
}

probe() {
    [ "$(id -u)" -eq 0 ] || skip "only root can make namespaces and cgroups"
    [ -d "$CGROUPS/memory" ] || skip "no hierarchies of cgroup v1 in $CGROUPS (on cgroup v2 alone this was never tried)"
    local hierarchy name=libgrove-probe-$$
    for hierarchy in $(hierarchies); do
        mkdir "$hierarchy/$name" 2>/dev/null || skip "$hierarchy cannot be written"
        rmdir "$hierarchy/$name"
    done
    local why
    why=$(unshare --mount --net --pid --fork --mount-proc "$0" try-kernel 2>&1) ||
        skip "namespaces, overlay, bridge or veth lack here: $(tail -n 1 <<<"$why")"
}

programs() {
    # a containerd of another origin is used as it is: Debian's would replace it
    { have containerd && have ctr && have runc; } || deps_ensure node-runtime || skip "containerd or runc is not to be had here"
    deps_ensure node cluster || skip "the CNI plugins or a compiler are not to be had here"
    "$CONTROL_PLANE" build kubelet
}

# ---- images ----

image() { # NAME FOLDER PROGRAM [USER]
    "$HERE/image.py" "$1" "$2" "$LOGS/images/$(basename "$2").tar" --user "${4:-0}" -- "$3"
}

make_images() {
    local pair folder program
    rm -rf "$LOGS/images"
    mkdir -p "$LOGS/images/workload"
    gcc -std=gnu11 -Os -static -Wall -Wextra -Werror -o "$LOGS/images/workload/workload" "$HERE/workload.c"
    image localhost/workload:1 "$LOGS/images/workload" /workload
    for pair in ${GROVE_NODE_IMAGES:-}; do # PROGRAM=NAME
        program=${pair%%=*} folder=$LOGS/images/$(basename "$program")
        "$ROOT/deploy/images/collect.sh" "$program" "$folder"
        image "${pair#*=}" "$folder" "/usr/bin/$(basename "$program")" 65532:65532
    done
}

# ---- inside ----

mounts() {
    mount -t tmpfs -o mode=755 none /run
    mkdir -p $DIR/var/{changes,work} /run/lock
    # what kubelet, containerd and CNI write to fixed places goes to memory
    mount -t overlay none -o "lowerdir=/var,upperdir=$DIR/var/changes,workdir=$DIR/var/work" /var
    mount -t tmpfs none /dev/shm
}

network() {
    ip link set lo up
    ip link add d0 type bridge
    ip address add $ADDRESS/24 dev d0
    ip address add $SERVICE/32 dev d0
    ip link set d0 up
    echo 1 >/proc/sys/net/ipv4/ip_forward
}

fill() { # FILE: the template with this node's places
    sed "s#HERE#$DIR#g; s#PKI#$STATE/pki#g; s#CGROUP#/$GROVE_NODE_CGROUP#g" "$HERE/$1"
}

daemon() { # NAME COMMAND...
    local name=$1
    shift
    setsid "$@" >"$LOGS/$name.log" 2>&1 </dev/null &
    echo $! >"$DIR/$name.pid"
}

# Of groved nothing runs yet: a machine on which these never come true cannot run containers.
wait_for() { # WHAT COMMAND...
    local what=$1 end=$((SECONDS + 60))
    shift
    until "$@" >/dev/null 2>&1; do
        [ $SECONDS -lt $end ] || skip "$what: not in 60 s (logs in $LOGS)"
        sleep 0.2
    done
}

containers() { ctr --address "$DIR/containerd.sock" --namespace k8s.io "$@"; }

is_ready() { # KIND NAME
    "$CONTROL_PLANE" kubectl get "$1" "$2" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}' | grep -qx True
}

start_containerd() {
    mkdir -p "$DIR"/{cni,podlogs,static,volumeplugins}
    fill containerd.toml >"$DIR/containerd.toml"
    fill bridge.conflist >"$DIR/cni/10-bridge.conflist"
    echo 'nameserver 10.96.0.10' >"$DIR/resolv.conf"
    daemon containerd containerd --config "$DIR/containerd.toml"
    wait_for "containerd answers" containers version
    local tar
    for tar in "$LOGS"/images/*.tar; do
        containers images import "$tar" >/dev/null
    done
}

start_control_plane() {
    local pki=$STATE/pki
    export GROVE_APISERVER_FLAGS="--bind-address=0.0.0.0 --advertise-address=$ADDRESS --enable-aggregator-routing=true
        --enable-admission-plugins=NodeRestriction --kubelet-preferred-address-types=InternalIP
        --kubelet-certificate-authority=$pki/ca.crt --kubelet-client-certificate=$pki/admin.crt --kubelet-client-key=$pki/admin.key"
    "$CONTROL_PLANE" up >/dev/null
}

start_kubelet() {
    "$CONTROL_PLANE" certificate node /O=system:nodes/CN=system:node:$NODE DNS:$NODE,IP:$ADDRESS
    fill kubelet.yaml >"$DIR/kubelet.yaml"
    daemon kubelet "$PROGRAMS/kubelet" --config="$DIR/kubelet.yaml" --kubeconfig="$STATE/node.kubeconfig" \
        --hostname-override=$NODE --node-ip=$ADDRESS --root-dir="$DIR/kubelet" --cert-dir="$DIR/kubelet-pki"
    wait_for "the node is Ready" is_ready node $NODE
}

# A Ready node proves neither network nor runtime: one pod does.
start_pod() {
    "$CONTROL_PLANE" kubectl create -f "$HERE/first.yaml" >/dev/null
    wait_for "the first pod is Ready" is_ready pod first
    "$CONTROL_PLANE" kubectl delete pod first >/dev/null
}

# The first process of its namespace: what is orphaned becomes its child, and all end with it.
inside() { # COMMAND...
    local started=$SECONDS
    trap 'cp "$STATE"/*.log "$LOGS" 2>/dev/null || true' EXIT
    mounts
    network
    export GROVE_CONTROL_PLANE_PORT=443 GROVE_CONTROL_PLANE_DIR=$DIR/cp GROVE_CONTROL_PLANE_NODESIM=0 GROVE_NODE_DIR=$DIR
    STATE=$GROVE_CONTROL_PLANE_DIR-443
    export KUBECONFIG=$STATE/admin.kubeconfig
    start_containerd
    start_control_plane
    PROGRAMS=$("$CONTROL_PLANE" status | awk '$1 == "programs" { print $2 }')
    start_kubelet
    start_pod
    say "node: Ready after $((SECONDS - started)) s"
    "$@"
}

# ---- outside ----

remove_cgroups() {
    local hierarchy end=$((SECONDS + 5)) # the last processes are on their way out
    for hierarchy in $(hierarchies); do
        while [ -d "$hierarchy/$GROVE_NODE_CGROUP" ] && [ $SECONDS -lt $end ]; do
            find "$hierarchy/$GROVE_NODE_CGROUP" -depth -type d -exec rmdir {} \; 2>/dev/null || sleep 0.2
        done
    done
}

make_cgroups() {
    local hierarchy file
    for hierarchy in $(hierarchies); do
        mkdir -p "$hierarchy/$GROVE_NODE_CGROUP"
        for file in cpuset.cpus cpuset.mems; do
            [ ! -f "$hierarchy/$file" ] || cat "$hierarchy/$file" >"$hierarchy/$GROVE_NODE_CGROUP/$file"
        done
    done
}

# Everything that could have stayed: what differs between before and after.
traces() {
    grep -F -e "$DIR" -e /var/lib/kubelet -e k8s.io /proc/mounts || true
    find "$CGROUPS" -maxdepth 2 -name "$GROVE_NODE_CGROUP"
    grep -lF "/$GROVE_NODE_CGROUP" /proc/[0-9]*/cgroup 2>/dev/null || true
    find /run/netns /run/containerd $DIR /var/lib/cni /var/lib/kubelet -maxdepth 1 2>/dev/null || true
}

run() { # COMMAND...
    local result=0 before after
    probe
    programs
    mkdir -p "$LOGS"
    exec 8>"$LOGS/lock"
    flock -w 900 8 || die "another node runs"
    make_images
    export GROVE_NODE_CGROUP=libgrove-node-$$
    before=$(traces)
    make_cgroups
    unshare --mount --net --pid --fork --kill-child --mount-proc "$0" inside "$@" 8>&- || result=$?
    remove_cgroups
    after=$(traces)
    if [ "$before" != "$after" ]; then
        diff <(printf '%s\n' "$before") <(printf '%s\n' "$after") >&2 || true
        die "node: something was left behind"
    fi
    say "node: down, nothing left"
    return $result
}

case ${1:-} in
run | inside) "$@" ;;
try-kernel) try_kernel ;;
*)
    say "usage: node.sh run COMMAND..."
    exit 2
    ;;
esac
