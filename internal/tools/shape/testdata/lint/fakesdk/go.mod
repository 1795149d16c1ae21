module github.com/modelcontextprotocol/go-sdk
