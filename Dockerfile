# The released images: static executables, no shell, a user without privileges. The target candor, the default, has candor alone; the
# target cluster also has candor-cluster (docs/fleet.md). The build context has the executables of a release as linux/amd64/candor and
# so on: GoReleaser prepares it, and .ci/image for `make release-image`.
# Nothing of the target platform runs during the build, so no emulation is needed.
#
# The default ledger is in /data. Keep it in a volume:
#   docker run -v candor:/data IMAGE gateway --help
FROM --platform=$BUILDPLATFORM debian:stable-slim AS base
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && \
    mkdir -p /rootfs && mkdir -m 0700 /rootfs/data && mkdir -m 1777 /rootfs/tmp

FROM scratch AS system
COPY --from=base /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=base --chown=65532:65532 /rootfs/ /
ENV HOME=/data XDG_STATE_HOME=/data
USER 65532:65532
WORKDIR /data

FROM system AS cluster
ARG TARGETPLATFORM
COPY --chmod=0755 $TARGETPLATFORM/candor $TARGETPLATFORM/candor-cluster /usr/bin/
ENTRYPOINT ["/usr/bin/candor-cluster"]

FROM system AS candor
ARG TARGETPLATFORM
COPY --chmod=0755 $TARGETPLATFORM/candor /usr/bin/candor
ENTRYPOINT ["/usr/bin/candor"]
