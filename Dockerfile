# The released image: one static executable, no shell, a user without privileges. GoReleaser builds it for each platform from the
# executables of the release. Keep the ledger in a volume: docker run -v candor:/data … gateway --ledger /data/ledger
FROM debian:stable-slim AS base
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && mkdir -m 0700 /data && chown 65532:65532 /data

FROM scratch
ARG TARGETPLATFORM
COPY --from=base /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=base --chown=65532:65532 /data /data
COPY $TARGETPLATFORM/candor /usr/bin/candor
USER 65532:65532
WORKDIR /data
ENTRYPOINT ["/usr/bin/candor"]
