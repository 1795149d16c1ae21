package harness_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/candor-mcp/candor/wire"
)

func TestH17CountersAreExportedAtTheEnd(t *testing.T) {
	t.Parallel()
	ends := map[string]func(*harness) int{
		"SIGTERM":      func(h *harness) int { return h.stop(syscall.SIGTERM) },
		"SIGINT":       func(h *harness) int { return h.stop(os.Interrupt) },
		"end of input": (*harness).end,
	}
	for name, end := range ends {
		for _, mcp := range []bool{false, true} {
			h := start(t, setup{mcp: mcp, env: []string{"MCP_ERROR_METRICS=1"}})
			for range 3 {
				h.call("sys/ping", `{"x":1}`).fails(1000, "common/E_INVALID_PARAMS")
			}
			if code := end(h); code != 0 {
				t.Errorf("%s, MCP %v: exit code %d, %s", name, mcp, code, &h.said)
			}
			stats := counters(t, filepath.Join(h.state, "error-metrics.json"))
			total, _ := stats.Path("total").Int64()
			if n, _ := stats.Path("byCode", "1000").Int64(); n != 3 || total != 3 {
				t.Errorf("%s, MCP %v: %s", name, mcp, stats.Raw())
			}
		}
	}
	t.Run("to a named file", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "counters.json")
		h := start(t, setup{env: []string{"MCP_ERROR_METRICS=on", "MCP_ERROR_METRICS_FILE=" + file}})
		h.ask("no/such", "{}")
		h.stop(syscall.SIGTERM)
		if total, _ := counters(t, file).Path("total").Int64(); total != 1 {
			t.Errorf("total is %d", total)
		}
	})
	t.Run("not if they are off", func(t *testing.T) {
		h := start(t, setup{})
		h.ask("no/such", "{}")
		h.stop(syscall.SIGTERM)
		if _, err := os.Stat(filepath.Join(h.state, "error-metrics.json")); !os.IsNotExist(err) {
			t.Errorf("counters were exported: %v", err)
		}
	})
}

// TestUnwrittenCountersHaveExitCode1 removes the directory of the counters while the harness runs.
func TestUnwrittenCountersHaveExitCode1(t *testing.T) {
	t.Parallel()
	for _, mcp := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "counters")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		h := start(t, setup{mcp: mcp, env: []string{"MCP_ERROR_METRICS=1", "MCP_ERROR_METRICS_FILE=" + filepath.Join(dir, "c.json")}})
		if err := os.Remove(dir); err != nil {
			t.Fatal(err)
		}
		if code := h.end(); code != 1 || !strings.Contains(h.said.String(), "counters") {
			t.Errorf("MCP %v: exit code %d: %s", mcp, code, &h.said)
		}
	}
}

func TestH18EndOfInputDrains(t *testing.T) {
	t.Parallel()
	h := start(t, setup{})
	h.send(strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"sys/metrics"}`+"\n", 99) + `{"jsonrpc":"2.0","id":1,"method":"no/such"}`)
	_ = h.in.Close()
	for range 100 {
		h.line()
	}
	if code := h.end(); code != 0 {
		t.Errorf("exit code %d: %s", code, &h.said)
	}
}

func TestH18ClosedOutputEndsCleanly(t *testing.T) {
	t.Parallel()
	s := setup{}
	cmd := s.command(t)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = stdout.Close(), out.Close()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	_, _ = io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"sys/ping"}`+"\n")
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("closed output: %v", err)
		}
	case <-time.After(patience):
		_ = cmd.Process.Kill()
		t.Error("closed output: the process goes on")
	}
}

// TestH18SlowCallsInFlightAreAnswered closes the input, or sends SIGTERM, while three calls wait for a service: one
// will succeed, one will fail, and one gets no answer before its time limit. All of them are answered and counted
// before the process exits with 0. In MCP mode SIGTERM cancels them.
func TestH18SlowCallsInFlightAreAnswered(t *testing.T) {
	t.Parallel()
	finished := map[string]string{`"good"`: "", `"bad"`: "tavily/E_TAVILY_HTTP", `"none"`: "tavily/E_TAVILY_NETWORK"}
	cancelled := map[string]string{`"good"`: "candor/CANCELLED", `"bad"`: "candor/CANCELLED", `"none"`: "candor/CANCELLED"}
	endInput := func(h *harness) { _ = h.in.Close() }
	terminate := func(h *harness) { _ = h.cmd.Process.Signal(syscall.SIGTERM) }
	for name, c := range map[string]struct {
		mcp  bool
		end  func(*harness)
		want map[string]string
	}{
		"line mode, end of input": {false, endInput, finished},
		"line mode, SIGTERM":      {false, terminate, finished},
		"MCP mode, end of input":  {true, endInput, finished},
		"MCP mode, SIGTERM":       {true, terminate, cancelled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			endInFlight(t, c.mcp, c.end, c.want)
		})
	}
}

func endInFlight(t *testing.T, mcp bool, end func(*harness), want map[string]string) {
	t.Helper()
	arrived, release := make(chan struct{}, 3), make(chan struct{})
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		arrived <- struct{}{}
		<-release
		switch {
		case bytes.Contains(body, []byte("good")):
			_, _ = io.WriteString(w, `{"results":[]}`)
		case bytes.Contains(body, []byte("bad")):
			w.WriteHeader(http.StatusInternalServerError)
		default:
			<-r.Context().Done()
		}
	}))
	t.Cleanup(func() {
		service.CloseClientConnections()
		service.Close()
	})
	releaseAll := sync.OnceFunc(func() { close(release) })
	t.Cleanup(releaseAll) // before the service is closed
	h := start(t, setup{mcp: mcp, ledger: true, flags: []string{"--domain", "tavily"}, env: []string{"MCP_ERROR_METRICS=1",
		"MCP_TAVILY_BASE_URL=" + service.URL, "TAVILY_API_KEY=key", "MCP_HTTP_TIMEOUT_MS=3000"}})
	for _, query := range []string{"good", "bad", "none"} {
		format := `{"jsonrpc":"2.0","id":%q,"method":"tavily/search","params":{"query":%[1]q}}`
		if mcp {
			format = `{"jsonrpc":"2.0","id":%q,"method":"tools/call","params":{"name":"tavily_search","arguments":{"query":%[1]q}}}`
		}
		h.send(fmt.Sprintf(format, query))
	}
	for range 3 {
		<-arrived
	}
	end(h)
	if want[`"good"`] == "" {
		releaseAll()
	}
	got := map[string]string{}
	for range 3 {
		r := reply{t, wire.Parse(h.line(), wire.Limits{})}
		got[string(r.m.ID())] = r.code()
	}
	if !maps.Equal(got, want) {
		t.Errorf("answered %v, want %v", got, want)
	}
	if code := h.end(); code != 0 {
		t.Errorf("exit code %d: %s", code, &h.said)
	}
	failures := int64(0)
	for _, code := range want {
		if code != "" {
			failures++
		}
	}
	stats := countedIn(counters(t, filepath.Join(h.state, "error-metrics.json")))
	if n := int64(len(recorded(t, filepath.Join(h.state, "ledger")))); stats.total != failures || stats.suppressed != 0 || n != failures {
		t.Errorf("%+v, %d recorded, want %d", stats, n, failures)
	}
}

func counters(t *testing.T, file string) wire.Value {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	v, err := wire.ParseValue(data, wire.Limits{})
	if err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return v
}
