# Every step of .ci/run can be run here, and nothing needs a tool that is not fetched by its version.
.DEFAULT_GOAL := check
FUZZ ?= 75s
N ?= 5000
ROUNDS ?= 50
SEED ?= 0
.PHONY: arm64 wine help check format fmt vet lint test slow race fuzz full crash fleet fleet-chaos soak bench bench-peers bench-gateway tools conform conform-all real real-all cover checklist codes-coverage generate readme demo release-dry release-files release-image release-repro release-install ci clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

check: format vet lint test ## what to run before every commit (the default)

format: ## check that gofmt and go mod tidy change nothing
	@.ci/run format

fmt: ## run gofmt and go mod tidy
	gofmt -w .
	.ci/tidy

vet: ## go vet
	go vet work

lint: ## golangci-lint, installed by version into a cache folder on first use
	@.ci/run lint

test: ## the quick tests with the race detector: a few minutes
	go test -race -short work

slow: ## every test, without the race detector
	go test work

race: ## every test with the race detector
	go test -race -timeout 60m work

fuzz: ## every fuzz target, FUZZ=75s for all together
	.ci/fuzz total $(FUZZ)

full: ## everything at full length: a million executions per fuzz target, race without -short, crashes, soak, the suite's alphas, all real servers, benchmarks
	.ci/fuzz each 1000000x
	$(MAKE) race crash fleet-chaos soak arm64 wine conform-all real-all bench bench-peers

crash: ## kill N=5000 writers of a ledger, and simulate 200 power failures for each
	go test -count=1 -timeout 0 -v -run '^Test(R[1-5]|Untouched|EveryFault|Service|K16Random|K17Torn)' ./ledger -all -kills $(N) -cuts $$((200 * $(N))) -lives $$((20 * $(N)))
	go test -count=1 -timeout 0 -v -run '^Test(R6|ProofVerifies)' ./ledger/verify ./ledger/proof -all
	go test -count=1 -timeout 0 -v -run '^TestR1' ./serve -kills $$(($(N) / 10))
	go test -count=1 -timeout 0 -v -run '^TestR10' ./cmd/internal/gateway/httpgate ./cmd/candor -hostile 25
	go test -count=1 -timeout 0 -v -run '^TestR21' ./cmd/internal/workbench/kaiza -sweep 1
	go test -count=1 -timeout 0 -v -run '^Test(W10Two|W12Servers|W18AKill)' ./cmd/internal/workbench/workrail -long
	go test -count=1 -timeout 0 -v -run '^Test(H9|H10|SessionSurvives|Sessions|Refused|PrivateAddresses|PageCannot|ContentAfter)' ./cmd/internal/workbench/harness ./cmd/internal/workbench/harness/browser -all

arm64: ## run some tests for linux/arm64 under qemu-user-static
	.ci/emulate arm64

wine: ## run some tests and the demo for windows/amd64 under wine64
	.ci/emulate windows

soak: ## a million entries in a ledger, and a million failing calls through two gateways to a failing cluster: memory and files do not grow
	go test -count=1 -timeout 0 -v -run '^TestSoak' ./ledger -soak 1000000
	go test -count=1 -timeout 0 -v -run '^TestR18' ./cmd/internal/testing/chaos -soak 1000000

fleet: ## ten rounds of faults in a cluster, and a hundred thousand failing calls shipped to another
	@.ci/run fleet

fleet-chaos: ## ROUNDS=50 rounds of faults in a cluster of three nats-server processes; SEED=n repeats a run; partitions need root
	go test -count=1 -timeout 0 -v -run '^TestR17' ./cmd/internal/testing/chaos -rounds $(ROUNDS) -seed $(SEED)

bench: ## benchmarks with allocations; compare only runs on the same machine
	go test -run '^$$' -bench . -benchmem -count 5 work

bench-peers: ## compare durable appends with SQLite and bbolt (a separate module with those dependencies)
	cd internal/tools/peers && GOWORK=off go test -run '^$$' -bench . -benchtime 5x -timeout 60m
	$(MAKE) bench-gateway

bench-gateway: ## compare the gateway with proxies from npm, net/http's reverse proxy and nginx
	go test -run '^$$' -bench . -benchtime 5x -timeout 60m ./cmd/internal/testing/gatewaybench

tools: ## install the pinned tools, the official suite and clients included, into a cache folder
	@.ci/run tools

conform: ## the official conformance suite, bare, with the boundary and through the gateway
	@.ci/run conform

conform-all: ## the same, and its alphas for both protocol eras
	go run ./internal/tools/conformance/run -install
	go run ./internal/tools/conformance/run -alpha

real: ## test three published servers, directly and through the gateway, with probe
	@.ci/run real

real-all: ## the same with all servers of cmd/internal/testing/realservers, and write the results to docs/probe-servers.md
	go run ./internal/tools/conformance/run -install
	go test -count=1 -run '^TestPublishedServers$$' -v ./cmd/internal/testing/realservers -args -servers all -install
	go test -count=1 -timeout 25m -run '^TestPublishedServers$$' -v ./cmd/internal/testing/realservers -args -servers all -markdown $$PWD/docs/probe-servers.md

cover: ## show which lines the tests cover
	go test -short -coverprofile=coverage.out -coverpkg=work work
	go tool cover -func=coverage.out | tail -1

checklist: ## list the statements about the workbench's systems with test and result
	@go test -json -count=1 -run '^Test[KWHD][1-9]' work | go run ./internal/tools/checklist -statements

codes-coverage: ## list the codes with the test that emits each and its result
	@go test -json -count=1 -run '^Test.*Every.*IsEmitted$$' work | go run ./internal/tools/checklist -codes

generate: ## rewrite generated files
	go generate work


readme: ## rewrite the transcripts of README.md
	go run ./internal/tools/readme/run

demo: ## run candor demo
	go run ./cmd/candor demo

# GoReleaser reads the address of the repository from the remote; a clone may not have one.
GORELEASER ?= go run github.com/goreleaser/goreleaser/v2@v2.13.3
REMOTE = GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=remote.origin.url GIT_CONFIG_VALUE_0=https://github.com/candor-mcp/candor
release-dry: release-files ## every release artefact, unpublished, into dist: archives, checksums, bills of materials, deb, rpm, npm, wheels, formula
	.ci/install dist
	go run ./internal/tools/release/run sizes --dir dist

release-files:
	$(GORELEASER) check deploy/release/goreleaser.yaml
	$(REMOTE) $(GORELEASER) release --config deploy/release/goreleaser.yaml --snapshot --clean --skip=docker
	version=$$(sed -n 's/.*"version":"\([^"]*\)".*/\1/p' dist/metadata.json) && \
		go run ./internal/tools/release/run packages --version $$version --dir dist && \
		go run ./internal/tools/release/run formula --version $$version --dir dist

release-image: ## build the container image from dist with Docker or buildah, and run the demo in it
	.ci/image dist

release-repro: ## build every release artefact twice, in two folders, and compare the bytes
	.ci/repro

release-install: ## install the npm package and the wheel of this machine offline, where there is no Go, and run the demo
	rm -rf build/release
	go run ./internal/tools/release/run build --dir build/release $$(go env GOOS)/$$(go env GOARCH)
	go run ./internal/tools/release/run packages --dir build/release
	.ci/install build/release

ci: ## all checks that a change must pass, with their times
	.ci/run

clean: ## remove built files
	rm -rf bin build dist
	rm -f candor coverage.out
