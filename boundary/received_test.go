package boundary

import (
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

// received returns the error in the envelope that a client received, or nil.
func received(result *mcp.CallToolResult, err error) *candor.Error {
	if err == nil && result != nil {
		return attached(result)
	}
	said, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok {
		return nil
	}
	v, err := wire.ParseValue(said.Data, wire.Limits{})
	if err != nil {
		return nil
	}
	e, err := dialect.ReadCandor(v.Path(dialect.MetaKey))
	if err != nil {
		return nil
	}
	return e
}
