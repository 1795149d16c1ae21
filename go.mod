module github.com/candor-mcp/candor

go 1.26.5

require (
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3
	golang.org/x/mod v0.42.0
)

require golang.org/x/text v0.43.0 // indirect
