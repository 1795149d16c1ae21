# The released image: one static executable, no shell, a user without privileges. The build context has the executables of a release
# as linux/amd64/candor and linux/arm64/candor: GoReleaser prepares it, and .ci/image for `make release-image`.
# Nothing of the target platform runs during the build, so no emulation is needed.
#
# The default ledger is in /data. Keep it in a volume:
#   docker run -v candor:/data -p 8765:8765 IMAGE gateway --listen 0.0.0.0:8765 …
FROM --platform=$BUILDPLATFORM debian:stable-slim AS base
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && mkdir -m 0700 /data && mkdir -m 1777 /scratch

FROM scratch
ARG TARGETPLATFORM
COPY --from=base /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=base --chown=65532:65532 /data /data
COPY --from=base /scratch /tmp
COPY --chmod=0755 $TARGETPLATFORM/candor /usr/bin/candor
ENV HOME=/data XDG_STATE_HOME=/data
USER 65532:65532
WORKDIR /data
ENTRYPOINT ["/usr/bin/candor"]
