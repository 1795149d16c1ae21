// Package gateway is planted.
package gateway

import (
	"log/slog"
	"net/http"
	"time"

	_ "github.com/candor-mcp/candor/ledger" // planted
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// F may read the clock.
func F() {
	_ = time.Now()
	slog.Info("x", "k", mcp.X)
	r, _ := http.Get("http://x")
	_ = r
	x := 1 //nolint
	_ = x
}
