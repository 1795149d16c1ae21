package boundary

import (
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestClosedServersAreForgotten checks that collected servers are removed, because over HTTP a server may be created for each
// request.
func TestClosedServersAreForgotten(t *testing.T) {
	b := New(Options{Logger: quiet})
	var made []weak.Pointer[mcp.Server]
	for range 100 {
		server := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
		made = append(made, weak.Make(server))
		b.Install(server)
	}
	known := func() (n int) {
		for _, server := range made {
			if _, ok := guarded.Load(server); ok {
				n++
			}
		}
		return n
	}
	for range 500 {
		runtime.GC()
		if known() < 10 {
			return
		}
		time.Sleep(10 * time.Millisecond) // cleanups run asynchronously
	}
	t.Errorf("%d servers are remembered", known())
}
