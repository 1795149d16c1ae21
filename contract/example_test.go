package contract_test

import (
	"fmt"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/wire"
)

// Read classifies an answer and, if it failed, returns the canonical error, whatever shape the server used.
func ExampleRead() {
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"21 degrees"}]}}`,
		`{"jsonrpc":"2.0","id":2,"result":{"isError":true,"content":[{"type":"text","text":"Error: 429 Too Many Requests"}]}}`,
		`{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"{\"ok\":false,\"error\":\"file not found\"}"}]}}`,
	} {
		r := contract.Read(&contract.Exchange{Response: wire.Parse([]byte(line), wire.Limits{})})
		fmt.Println(r.Verdict, r.Certainty, r.Error.Code())
	}
	// Output:
	// clean certain (no code)
	// tool certain candor/UPSTREAM_RATE_LIMITED
	// masked suspected kaiza/FILE_NOT_FOUND
}

// Normalise attaches the canonical error to a failing answer and keeps every other byte.
func ExampleNormalise() {
	m := wire.Parse([]byte(`{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"boom"}}`), wire.Limits{})
	e := candor.New(candor.CodeUpstreamError, "boom", candor.WithRef("r1"), candor.WithOrigin(candor.PartyServer, true))
	out, err := contract.Normalise(nil, &m, e, contract.Client{})
	if err != nil {
		fmt.Println(err)
		return
	}
	envelope := wire.Parse(out, wire.Limits{})
	fmt.Println(string(envelope.Error().Path("data", "dev.candor/error", "code").Raw()))
	fmt.Println(string(envelope.ID()), string(envelope.Error().Path("message").Raw()))
	// Output:
	// "UPSTREAM_ERROR"
	// 7 "boom"
}
