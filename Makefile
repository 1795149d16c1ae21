# Every step of .ci/run can be run here, and nothing needs a tool that is not fetched by its version.
.DEFAULT_GOAL := check
FUZZ ?= 75s
.PHONY: help check format fmt vet lint test slow race fuzz full bench cover generate demo ci clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

check: format vet lint test ## what to run before every commit (the default)

format: ## gofmt and go mod tidy change nothing
	@.ci/run format

fmt: ## write what format asks for
	gofmt -w .
	go mod tidy

vet: ## go vet
	go vet ./...

lint: ## golangci-lint, installed by version into a cache folder on first use
	@.ci/run tools lint

test: ## the quick tests with the race detector: seconds, so that nobody leaves them out
	go test -race -short ./...

slow: ## every test, without the race detector, which makes the long ones many times longer
	go test ./...

race: ## every test with the race detector
	go test -race -timeout 60m ./...

fuzz: ## every fuzz target, FUZZ=75s in all
	.ci/fuzz total $(FUZZ)

full: ## the long forms: a million executions per fuzz target, race without -short, benchmarks
	.ci/fuzz each 1000000x
	$(MAKE) race bench

bench: ## benchmarks with allocations; compare two runs of one machine, never two machines
	go test -run '^$$' -bench . -benchmem -count 5 ./...

cover: ## which lines the tests reach
	go test -short -coverprofile=coverage.out -coverpkg=./... ./...
	go tool cover -func=coverage.out | tail -1

generate: ## rewrite generated files
	go generate ./...

demo: ## see it work
	go run ./cmd/candor demo

ci: ## everything that must hold before a change lands, with its times
	.ci/run

clean: ## remove what was built
	rm -rf bin
	rm -f candor coverage.out
