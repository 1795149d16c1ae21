package httpgate_test

import (
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
)

// busyLine is a transport on which the first attempts cannot connect.
type busyLine struct {
	fails int64
	why   error
	tries atomic.Int64
}

func (b *busyLine) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.tries.Add(1) <= b.fails {
		return nil, b.why
	}
	return httpgatetest.TestTransport.RoundTrip(r)
}

// TestACallThatNeverReachedTheServerIsMadeAgain checks that such a call is retried even if it is not idempotent, and that a call
// that may have reached the server is not.
func TestACallThatNeverReachedTheServerIsMadeAgain(t *testing.T) {
	t.Parallel()
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	broken := &net.OpError{Op: "read", Net: "tcp", Err: errors.New("connection reset")}
	for name, row := range map[string]struct {
		why  error
		mode gateway.Mode
		want int64
		code string
	}{
		"refused":                     {refused, gateway.ModeAnnotate, 2, ""},
		"broken off":                  {broken, gateway.ModeAnnotate, 1, "UPSTREAM_GONE"},
		"refused, and only looked at": {refused, gateway.ModeObserve, 1, "UPSTREAM_UNREACHABLE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			line := &busyLine{fails: 1, why: row.why}
			g := httpgatetest.NewGate(t, httpgatetest.Says(200, "application/json", good), gateway.Options{Mode: row.mode, Retry: gateway.RetryPolicy{Attempts: 3}}, httpgate.Options{Transport: line})
			m := g.Post(t, httpgatetest.ToolCall).Terminal(t, "7")
			if got := line.tries.Load(); got != row.want || httpgatetest.CodeOf(m) != row.code {
				t.Errorf("%d tries, %s", got, m.Bytes())
			}
		})
	}
}
