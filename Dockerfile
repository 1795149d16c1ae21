# The released image: one static executable, no shell, a user without privileges. The build context has the executables of a release
# as linux/amd64/candor and linux/arm64/candor: GoReleaser prepares it, and .ci/image for `make release-image`.
# Nothing of the target platform runs during the build, so no emulation is needed.
#
# The default ledger is in /data. Keep it in a volume:
#   docker run -v candor:/data IMAGE gateway --help
FROM --platform=$BUILDPLATFORM debian:stable-slim AS base
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && \
    mkdir -p /rootfs && mkdir -m 0700 /rootfs/data && mkdir -m 1777 /rootfs/tmp

FROM scratch
ARG TARGETPLATFORM
COPY --from=base /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=base --chown=65532:65532 /rootfs/ /
COPY --chmod=0755 $TARGETPLATFORM/candor /usr/bin/candor
ENV HOME=/data XDG_STATE_HOME=/data
USER 65532:65532
WORKDIR /data
ENTRYPOINT ["/usr/bin/candor"]
