module github.com/candor-mcp/candor/bench/gateway

go 1.26.5

replace github.com/candor-mcp/candor => ../..

require github.com/candor-mcp/candor v0.0.0-00010101000000-000000000000
