module github.com/candor-mcp/candor

go 1.26.5
