package boundary

import (
	"runtime"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Over HTTP a server may be made for each request.
func TestServersThatAreGoneAreForgotten(t *testing.T) {
	b := New(Options{Logger: quiet})
	for range 100 {
		b.Install(mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil))
	}
	known := func() (n int) {
		b.guarded.Range(func(any, any) bool { n++; return true })
		return n
	}
	for range 500 {
		runtime.GC()
		if known() < 10 {
			return
		}
		time.Sleep(10 * time.Millisecond) // clean-ups run in their own time
	}
	t.Errorf("%d servers are remembered", known())
}
