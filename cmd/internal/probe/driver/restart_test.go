package driver_test

import (
	"net/http"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/probe/driver"
	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/wire"
)

// TestRestartedHTTPServerCountsAsCrash has a server over HTTP that is restarted at once, as by a supervisor, and has
// lost its sessions.
func TestRestartedHTTPServerCountsAsCrash(t *testing.T) {
	t.Parallel()
	cut := func(w http.ResponseWriter) {
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = conn.Close()
		}
	}
	dies := call(probe.CaseMissingRequired, "read", probe.ExpectRefusal)
	handle, calls := stateful(false, func(int) bool { return false }), 0
	s := open(t, func(w http.ResponseWriter, r *http.Request, message []byte) {
		if m := wire.Parse(message, wire.Limits{}); m.MethodIs("tools/call") {
			if calls++; calls == 1 {
				handle = stateful(false, func(int) bool { return false })
				first := []byte(`{"jsonrpc":"2.0","id":1,"method":"initialize"}`)
				for range 2 { // so that the next session has another id
					handle(nowhere{}, r, first)
				}
				cut(w)
				return
			}
		}
		handle(w, r, message)
	})
	run := driven(t, driver.Target{URL: s.URL, Transport: driver.TransportHTTP}, patient(dies, extra))
	expect(t, run, "missing_required crash", "extra_property answered")
	if run.Restarts != 1 {
		t.Errorf("%d restarts", run.Restarts)
	}
}

// nowhere discards a response.
type nowhere struct{}

func (nowhere) Header() http.Header         { return http.Header{} }
func (nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (nowhere) WriteHeader(int)             {}
