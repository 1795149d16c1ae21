module github.com/candor-mcp/candor

go 1.26.5

require github.com/modelcontextprotocol/go-sdk v0.0.0
require github.com/spf13/cobra v1.0.0
replace github.com/modelcontextprotocol/go-sdk => ./fakesdk
replace github.com/spf13/cobra => ./fakecobra
