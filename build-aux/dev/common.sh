# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What every verb needs: words, packages, build folders.

CACHE=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/libgrove
JOBS=${GROVE_JOBS:-$(nproc)}

say() { printf '%s\n' "$*" >&2; }
die() {
    say "dev: $*"
    exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }

# ---- packages ----

packages_of() { # GROUP... -> names
    local group
    for group in "$@"; do
        awk -v g="$group" '$1 == g { print $2 }' "$ROOT/build-aux/packages.txt"
    done
}

packages_missing() { # NAME[:ARCH]... -> those not installed
    dpkg-query -W -f='${db:Status-Status} ${Package}:${Architecture}\n' "$@" 2>/dev/null |
        awk -v want="$*" -v native="$(dpkg --print-architecture)" '
            $1 == "installed" { got[$2] = 1 }
            END {
                n = split(want, w, " ")
                for (i = 1; i <= n; i++) {
                    here = w[i] ~ /:/ ? w[i] : w[i] ":" native
                    if (!(here in got) && !((w[i] ":all") in got)) print w[i]
                }
            }' || true
}

# Debian must know a foreign architecture before it can install from it.
deps_architectures() { # NAME[:ARCH]...
    local name
    for name in "$@"; do
        case $name in
        *:*) dpkg --print-foreign-architectures | grep -qx "${name#*:}" || dpkg --add-architecture "${name#*:}" ;;
        esac
    done
}

# Installs what is missing of the groups; silent when nothing is. Fails with a message where it cannot.
deps_ensure() { # GROUP...
    if ! have dpkg-query || ! have apt-get; then
        deps_foreign "$@"
        return
    fi
    local names missing
    mapfile -t names < <(packages_of "$@")
    mapfile -t missing < <(packages_missing "${names[@]}")
    [ "${#missing[@]}" -eq 0 ] && return 0
    if [ "$(id -u)" -ne 0 ]; then
        say "dev: these packages are missing and only root can install them:"
        say "    sudo apt-get install ${missing[*]}"
        return 1
    fi
    say "dev: installing ${missing[*]}"
    mkdir -p "$CACHE"
    deps_architectures "${missing[@]}"
    # An update that reaches only some of the lists may still serve what is wanted.
    deps_install "${missing[@]}" ||
        { { apt-get -qq update </dev/null >>"$CACHE/apt.log" 2>&1 || true; } && deps_install "${missing[@]}"; } ||
        { say "dev: apt-get could not install ${missing[*]} (see $CACHE/apt.log)" && return 1; }
}

# Nothing that comes with a service has it started: this file is how Debian asks.
deps_install() (
    policy=/usr/sbin/policy-rc.d
    if [ ! -e $policy ]; then
        trap 'rm -f $policy' EXIT
        printf '#!/bin/sh\nexit 101\n' >$policy && chmod 755 $policy
    fi
    DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends \
        -o DPkg::Lock::Timeout=300 install "$@" </dev/null >>"$CACHE/apt.log" 2>&1
)

# Not Debian: nothing is installed; the tools that the groups stand for must be on the PATH.
deps_foreign() {
    local group tool missing=()
    for group in "$@"; do
        case $group in
        build) set -- cc meson ninja pkg-config python3 ;;
        test) set -- python3 g++ ;;
        gates) set -- clang clang-tidy clang-format cppcheck abidw nm git ;;
        docs) set -- doxygen ;;
        cross-arm64) set -- ccache aarch64-linux-gnu-gcc qemu-aarch64 ;;
        cross-s390x) set -- ccache s390x-linux-gnu-gcc qemu-s390x ;;
        cross-i386) set -- ccache i686-linux-gnu-gcc ;;
        *) set -- ;;
        esac
        for tool in "$@"; do
            have "$tool" || missing+=("$tool")
        done
    done
    [ "${#missing[@]}" -eq 0 ] && return 0
    say "dev: this is not a Debian system, so packages are yours to install; missing: ${missing[*]}"
    say "dev: build-aux/packages.txt names what Debian 12 calls them"
    return 1
}

# ---- build folders ----

configure() { # FOLDER [MESON OPTIONS...]
    local folder=$1
    shift
    [ -f "$folder/build.ninja" ] && return 0
    rm -rf "$folder"
    meson setup "$folder" "$ROOT" -Dwerror=true "$@" >"$folder.log" 2>&1 || {
        tail -n 30 "$folder.log" >&2
        die "meson could not set up ${folder##*/}"
    }
    mv "$folder.log" "$folder/setup.log"
}

compile() { # FOLDER [TARGET...]: shows ninja's progress on a terminal, one line elsewhere
    local folder=$1
    shift
    if [ -t 2 ]; then
        ninja -C "$folder" -j "$JOBS" "$@" >&2 || die "the build failed in ${folder##*/}"
        return
    fi
    local log=$folder/ninja.log
    if ! ninja -C "$folder" -j "$JOBS" "$@" >"$log" 2>&1; then
        grep -vE '^\[[0-9]+/[0-9]+\] (Compiling|Linking)' "$log" | tail -n 80 >&2
        die "the build failed in ${folder##*/}"
    fi
    say "built ${folder##*/}"
}

# The folder of a variant: build-asan and so on, beside the plain one.
variant() { printf '%s/build-%s' "$ROOT" "$1"; }
