package drive_test

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/cmd/internal/probe/drive"
	"github.com/candor-mcp/candor/wire"
)

// TestRestartedHTTPServerCountsAsCrash has servers over HTTP that are restarted at once, as by a supervisor. One has
// lost its sessions, the other refuses connections for a moment.
func TestRestartedHTTPServerCountsAsCrash(t *testing.T) {
	t.Parallel()
	cut := func(w http.ResponseWriter) {
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = conn.Close()
		}
	}
	dies := call(probe.CaseMissingRequired, "read", probe.ExpectRefusal)
	t.Run("sessions", func(t *testing.T) {
		t.Parallel()
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
		run := driven(t, drive.Target{URL: s.URL, Transport: drive.TransportHTTP}, patient(dies, extra))
		expect(t, run, "missing_required crash", "extra_property answered")
		if run.Restarts != 1 {
			t.Errorf("%d restarts", run.Restarts)
		}
	})
	t.Run("connections", func(t *testing.T) {
		t.Parallel()
		calls := 0
		var s *site
		s = open(t, func(w http.ResponseWriter, r *http.Request, message []byte) {
			if m := wire.Parse(message, wire.Limits{}); m.MethodIs("tools/call") {
				if calls++; calls == 1 {
					at := s.Listener.Addr().String()
					_ = s.Listener.Close()
					time.AfterFunc(600*time.Millisecond, func() {
						if reconnect, err := net.Listen("tcp", at); err == nil {
							_ = http.Serve(reconnect, s.Config.Handler)
						}
					})
					cut(w)
					return
				}
			}
			modern(w, r, message)
		})
		run := driven(t, drive.Target{URL: s.URL}, patient(dies, extra))
		expect(t, run, "missing_required crash", "extra_property answered")
		if o := run.Observations[0]; !strings.Contains(o.Broken, "connection") {
			t.Errorf("kept as %+v", o)
		}
	})
}

// nowhere discards a response.
type nowhere struct{}

func (nowhere) Header() http.Header         { return http.Header{} }
func (nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (nowhere) WriteHeader(int)             {}
