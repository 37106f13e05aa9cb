# SPDX-License-Identifier: Apache-2.0
# From the root of the repository: docker build -f deploy/images/groved.Dockerfile -t libgrove/groved:0.1.0 .
FROM debian:12 AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev meson ninja-build pkg-config python3 binutils \
    libyaml-dev libevent-dev libcurl4-openssl-dev libssl-dev
COPY . /src
RUN meson setup /build /src --buildtype=release -Dtests=disabled && ninja -C /build tools/groved/groved && \
    /src/deploy/images/collect.sh /build/tools/groved/groved /image

FROM scratch
COPY --from=build /image/ /
USER 65532:65532
ENTRYPOINT ["/usr/bin/groved"]
