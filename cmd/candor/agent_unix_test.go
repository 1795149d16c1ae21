//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// recorder is a service that records every request as an effect, and then fails in the way that the request names.
type recorder struct {
	mu      sync.Mutex
	effects map[string]int
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	name := req.PathValue("name")
	r.mu.Lock()
	r.effects[name]++
	r.mu.Unlock()
	var status int
	if n, _ := fmt.Sscanf(name, "status%d", &status); n == 0 {
		panic(http.ErrAbortHandler) // closes the connection
	}
	w.Header().Set("Retry-After", "1")
	w.WriteHeader(status)
}

func (r *recorder) count(name string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.effects[name]
}

// TestAgentCausesNoSecondEffectThroughWrap follows only the advice of each envelope, on a tool that writes and itself advises
// a retry.
func TestAgentCausesNoSecondEffectThroughWrap(t *testing.T) {
	t.Parallel()
	service := &recorder{effects: map[string]int{}}
	mux := http.NewServeMux()
	mux.Handle("/records/{name}", service)
	upstream := httptest.NewServer(mux)
	upstream.Config.SetKeepAlivesEnabled(false) // otherwise the tool's HTTP client would retry a request whose connection was closed
	t.Cleanup(upstream.Close)
	p := launch(t, "wrap", "--", term.ProgramName, "zoo", "--defect", "up-unsafe", "--upstream", upstream.URL)
	p.say(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	p.hear()
	p.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	id := 0
	for _, name := range []string{"status500", "status502", "status503", "status504", "hangup"} {
		for range 4 {
			id++
			p.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"up-unsafe","arguments":{"name":%q,"mode":"brief"}}}`, id, name))
			retry, again := retryAdvice(t, p.hear())
			if !again {
				break
			}
			time.Sleep(retry)
		}
		if n := service.count(name); n != 1 {
			t.Errorf("%s: %d effects", name, n)
		}
	}
	if err := p.in.Close(); err != nil {
		t.Fatal(err)
	}
	p.ends()
}

// retryAdvice returns the advice of a failed call.
func retryAdvice(t *testing.T, line string) (wait time.Duration, again bool) {
	t.Helper()
	var m struct {
		Result struct {
			Meta struct {
				E struct {
					Retry struct {
						Kind    string
						AfterMs int64
					}
				} `json:"dev.candor/error"`
			} `json:"_meta"`
		}
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil || m.Result.Meta.E.Retry.Kind == "" {
		t.Fatalf("answered %s (%v)", line, err)
	}
	retry := m.Result.Meta.E.Retry
	return time.Duration(retry.AfterMs) * time.Millisecond, retry.Kind != "not_retryable"
}

// TestProbeFindsNoUnsafeAdviceThroughWrap probes a tool that writes and advises a retry, directly and through the gateway.
func TestProbeFindsNoUnsafeAdviceThroughWrap(t *testing.T) {
	t.Parallel()
	server := []string{shippedCandor(t), "zoo", "--defect", "up-unsafe", "--upstream", "http://api.example.com/records"}
	flags := []string{"--timeout", "2s", "--allow", "up-unsafe", "--fake-upstream", "--"}
	for _, c := range []struct {
		through []string
		want    int
	}{{nil, 1}, {[]string{shippedCandor(t), "wrap", "--ledger", "none", "--"}, 0}} {
		r := probing(t, append(append(append([]string{}, flags...), c.through...), server...)...)
		found := 0
		for _, f := range r.Findings {
			if f.Rule == "EC025" {
				found++
				t.Logf("%+v", f)
			}
		}
		if found != c.want {
			t.Errorf("through %v: %d findings EC025, want %d", c.through, found, c.want)
		}
	}
}
