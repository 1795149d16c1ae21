# Every step of .ci/run can be run here, and nothing needs a tool that is not fetched by its version.
.DEFAULT_GOAL := check
FUZZ ?= 75s
N ?= 5000
.PHONY: help check format fmt vet lint test slow race fuzz full crash soak bench bench-peers bench-gateway tools conform conform-all real real-all realservers probeservers cover checklist codes-coverage generate prose demo ci clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

check: format vet lint test ## what to run before every commit (the default)

format: ## gofmt and go mod tidy change nothing
	@.ci/run format

fmt: ## write what format asks for
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

fuzz: ## every fuzz target, FUZZ=75s in all
	.ci/fuzz total $(FUZZ)

full: ## the long forms: a million executions per fuzz target, race without -short, crashes, soak, the suite's alphas, all real servers, benchmarks
	.ci/fuzz each 1000000x
	$(MAKE) race crash soak conform-all real-all bench bench-peers

crash: ## kill N=5000 writers of a ledger, and cut the power two hundred times as often
	go test -count=1 -timeout 0 -v -run '^Test(R[1-5]|Untouched|EveryFault|Service|K16Random|K17Torn)' ./ledger -all -kills $(N) -cuts $$((200 * $(N))) -lives $$((20 * $(N)))
	go test -count=1 -timeout 0 -v -run '^Test(R6|ProofVerifies)' ./ledger/verify ./ledger/proof -all
	go test -count=1 -timeout 0 -v -run '^TestR1' ./serve -kills $$(($(N) / 10))
	go test -count=1 -timeout 0 -v -run '^TestR10' ./cmd/internal/gateway/http ./cmd/candor -hostile 25
	go test -count=1 -timeout 0 -v -run '^TestR21' ./cmd/internal/workbench/kaiza -sweep 1
	go test -count=1 -timeout 0 -v -run '^Test(W10Two|W12Servers|W18AKill|Scripted|AgentWithout)' ./cmd/internal/workbench/workrail -long
	go test -count=1 -timeout 0 -v -run '^Test(H9|H10|SessionSurvives|Sessions|Refused|Addresses|PageCannot|ContentAfter)' ./cmd/internal/workbench/harness ./cmd/internal/workbench/harness/browser -all

soak: ## append to a ledger for long, and see that nothing grows
	go test -count=1 -timeout 0 -v -run '^TestSoak' ./ledger -soak 1000000

bench: ## benchmarks with allocations; compare two runs of one machine, never two machines
	go test -run '^$$' -bench . -benchmem -count 5 work

bench-peers: ## durable appending beside SQLite and bbolt, in turns; a module of its own, so that they stay out of ours
	cd bench/peers && GOWORK=off go test -run '^$$' -bench . -benchtime 5x -timeout 60m
	$(MAKE) bench-gateway

bench-gateway: ## the gateway beside npm's proxies, net/http's reverse proxy and nginx, in turns
	cd bench/gateway && GOWORK=off go test -run '^$$' -bench . -benchtime 5x -timeout 60m

tools: ## install the pinned tools, among them the official suite and clients, into a cache folder
	@.ci/run tools

conform: ## the official conformance suite, bare, with the boundary and through the gateway
	@.ci/run conform

conform-all: ## the same, and its alphas for both protocol eras
	go run ./cmd/internal/testing/conformance/run -install
	go run ./cmd/internal/testing/conformance/run -alpha

real: ## three published servers, directly and through the gateway, and put through probe
	@.ci/run real

real-all: ## the same with all that cmd/internal/testing/realservers lists
	go run ./cmd/internal/testing/conformance/run -install
	go run ./cmd/internal/testing/realservers/run -all -install
	go run ./cmd/internal/testing/realservers/run -all
	go run ./cmd/internal/testing/realservers/run -all -probe

realservers: ## the same, and write what was seen to docs/realservers.md
	go run ./cmd/internal/testing/conformance/run -install
	go run ./cmd/internal/testing/realservers/run -all -install
	go run ./cmd/internal/testing/realservers/run -all -markdown docs/realservers.md

probeservers: ## put them all through probe, and write what was seen to docs/probe-servers.md
	go run ./cmd/internal/testing/conformance/run -install
	go run ./cmd/internal/testing/realservers/run -all -install
	go run ./cmd/internal/testing/realservers/run -all -probe -markdown docs/probe-servers.md

cover: ## which lines the tests reach
	go test -short -coverprofile=coverage.out -coverpkg=work work
	go tool cover -func=coverage.out | tail -1

checklist: ## statement, test, result for the workbench's systems; ONLY=K for one of them
	@go run ./internal/checklist/run $(if $(ONLY),--letters $(ONLY))

codes-coverage: ## code, the test that makes a running program emit it, result; DOMAIN=kaiza for one domain
	@go run ./internal/checklist/run --codes $(if $(DOMAIN),--domain $(DOMAIN))

generate: ## rewrite generated files
	go generate work

prose: ## how often comments use habits that the standard library avoids, beside net/http and log/slog
	go run ./internal/prose/run --by-package

demo: ## see it work
	go run ./cmd/candor demo

ci: ## everything that must hold before a change lands, with its times
	.ci/run

clean: ## remove what was built
	rm -rf bin
	rm -f candor coverage.out
