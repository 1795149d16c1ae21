module github.com/candor-mcp/candor/bench/gateway

go 1.26.5

replace github.com/candor-mcp/candor => ../..

require github.com/candor-mcp/candor v0.0.0-00010101000000-000000000000

require (
	github.com/bits-and-blooms/bitset v1.24.4 // indirect
	github.com/failsafe-go/failsafe-go v0.9.8 // indirect
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // indirect
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)
