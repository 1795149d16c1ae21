package implname

import (
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestOfReadsTheNameOfAServer(t *testing.T) {
	if got := Of(mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, nil)); got != "shop" {
		t.Errorf("got %q", got)
	}
	for _, server := range []any{nil, (*mcp.Server)(nil), &mcp.Server{}, "shop"} {
		if got := Of(server); got != "" {
			t.Errorf("got %q", got)
		}
	}
}
