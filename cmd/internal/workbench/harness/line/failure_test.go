package line

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/codes/common"
	"github.com/candor-mcp/candor/codes/kg"
	"github.com/candor-mcp/candor/meter/prom"
)

func TestDevelopmentShowsCauses(t *testing.T) {
	for _, method := range []string{"t/plain", "t/panic"} {
		c := start(t, func(o *Options) { o.Development = true })
		r := c.ask(`{"jsonrpc":"2.0","id":1,"method":"` + method + `"}`)
		if !strings.Contains(string(r.Error.Data.Details), "no such file") && !strings.Contains(string(r.Error.Data.Details), "panic: ") {
			t.Errorf("%s", r.line)
		}
	}
}

func TestCausesAreRecorded(t *testing.T) {
	c := start(t, nil)
	c.ask(`{"jsonrpc":"2.0","id":1,"method":"t/plain"}`)
	if entries := c.record.all(); len(entries) != 1 || !strings.Contains(entries[0].cause, "no such file") {
		t.Errorf("%+v", entries)
	}
}

func TestRefusedRecordReplacesTheResponse(t *testing.T) {
	c := start(t, nil)
	c.record.refuse = errors.New("no space")
	r := c.ask(`{"jsonrpc":"2.0","id":1,"method":"t/full"}`)
	if r.Error == nil || r.Error.Data.Symbol != "AUDIT_LOG_FAILED" || string(r.ID) != "1" {
		t.Error(r.line)
	}
	if stats := c.meter.Stats(); stats.Total != 0 || stats.Unrecorded != 1 {
		t.Errorf("%+v", stats)
	}
}

func TestRateLimitTellsWhenToRetry(t *testing.T) {
	for _, perMethod := range []bool{false, true} {
		now := time.Unix(1000, 0)
		c := start(t, func(o *Options) {
			o.RateLimit = RateLimit{Capacity: 3, Refill: 3 * time.Second, PerMethod: perMethod}
			o.Now = func() time.Time { return now }
		})
		echo := `{"jsonrpc":"2.0","id":1,"method":"t/echo","params":{"text":""}}`
		for range 3 {
			if r := c.ask(echo); r.Error != nil {
				t.Fatal(r.line)
			}
		}
		r := c.ask(echo)
		if r.Error == nil || r.Error.Code != 3000 || r.Error.Data.Symbol != "E_RL_EXCEEDED" || r.Error.Data.Domain != "rate-limit" ||
			!*r.Error.Data.Retryable || r.Error.Data.RetryAfterMs != 1000 {
			t.Fatal(r.line)
		}
		if r := c.ask(`{"jsonrpc":"2.0","id":1,"method":"t/raw"}`); (r.Error == nil) != perMethod {
			t.Errorf("per method %v: %s", perMethod, r.line)
		}
		if r := c.ask(strings.TrimSpace(pingLine)); r.Error != nil {
			t.Errorf("sys is limited: %s", r.line)
		}
		now = now.Add(time.Duration(r.Error.Data.RetryAfterMs)*time.Millisecond - time.Nanosecond)
		if r := c.ask(echo); r.Error == nil {
			t.Error("served before the delay was over")
		}
		now = now.Add(time.Nanosecond)
		if r := c.ask(echo); r.Error != nil {
			t.Errorf("refused after the delay: %s", r.line)
		}
		if r := c.ask(echo); r.Error == nil {
			t.Error("one token was there, two were taken")
		}
	}
}

func TestSysMethods(t *testing.T) {
	c := start(t, nil)
	c.ask(`{"jsonrpc":"2.0","id":1,"method":"t/full"}`)
	c.ask(`nonsense`)
	r := c.ask(`{"jsonrpc":"2.0","id":1,"method":"sys/errorStats"}`)
	var stats struct {
		Total                      uint64
		ByCode, ByDomain, BySymbol map[string]uint64
	}
	if err := json.Unmarshal(r.Result, &stats); err != nil || stats.Total != 2 || stats.ByCode["2400"] != 1 || stats.ByCode["-32700"] != 1 ||
		stats.ByDomain["kg"] != 1 || stats.BySymbol["E_KG_FULL"] != 1 {
		t.Errorf("%v: %s", err, r.line)
	}
	r = c.ask(`{"jsonrpc":"2.0","id":1,"method":"sys/metrics"}`)
	var metrics struct{ Methods map[string]methodStats }
	if err := json.Unmarshal(r.Result, &metrics); err != nil || metrics.Methods["t/full"] != (methodStats{1, 1}) ||
		metrics.Methods["sys/errorStats"] != (methodStats{1, 0}) || len(metrics.Methods) != len(c.ready.Methods) {
		t.Errorf("%v: %s", err, r.line)
	}
	r = c.ask(`{"jsonrpc":"2.0","id":1,"method":"sys/promMetrics"}`)
	var text struct{ ContentType, Body string }
	if err := json.Unmarshal(r.Result, &text); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	prom.Handler(c.meter).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if body, _ := io.ReadAll(w.Body); string(body) != text.Body || w.Header().Get("Content-Type") != text.ContentType {
		t.Errorf("the endpoint differs:\n%s\n%s", body, text.Body)
	}
}

func TestSetLogLevel(t *testing.T) {
	level := new(slog.LevelVar)
	c := start(t, func(o *Options) { o.Level = level })
	if r := c.ask(`{"jsonrpc":"2.0","id":1,"method":"sys/setLogLevel","params":{"level":"warn"}}`); r.Error != nil || level.Level() != slog.LevelWarn {
		t.Errorf("%v %s", level, r.line)
	}
	for _, params := range []string{`{"level":"loud"}`, `{"level":7}`, `{}`, `[]`} {
		r := c.ask(`{"jsonrpc":"2.0","id":1,"method":"sys/setLogLevel","params":` + params + `}`)
		if params == `[]` {
			if r.Error == nil {
				t.Errorf("%s: %s", params, r.line)
			}
			continue
		}
		if r.Error == nil || r.Error.Code != -32602 || !slices.Equal(r.Error.Data.Allowed, logLevels) || r.Error.Message != "Invalid params: level" {
			t.Errorf("%s: %s", params, r.line)
		}
	}
	if level.Level() != slog.LevelWarn {
		t.Error(level)
	}
}

func TestCallHasTheOutcomesOfServe(t *testing.T) {
	s, err := New([]domain.Domain{testDomain()}, Options{Timeout: 20 * time.Millisecond, Disabled: []Disabled{{"py", "switch it on"}}})
	if err != nil {
		t.Fatal(err)
	}
	for method, want := range map[string]candor.Code{
		"t/full": kg.Full, "t/plain": candor.CodeInternalError, "t/panic": candor.CodeInternalError,
		"t/goexit": candor.CodeInternalError, "t/wait": common.Timeout, "t/stuck": common.Timeout,
		"t/echo": common.InvalidParams, "t/no": candor.CodeMethodNotFound, "py/run": common.Unsupported,
	} {
		if _, e := s.Call(context.Background(), method, nil); e.Code() != want {
			t.Errorf("%s: %v, want %v", method, e, want)
		}
	}
	if result, e := s.Call(context.Background(), "t/echo", json.RawMessage(`{"text":"a"}`)); e != nil || string(result) != `{"text":"a"}` {
		t.Errorf("%s %v", result, e)
	}
}

func TestNewRefusesBadMethods(t *testing.T) {
	run := func(context.Context, json.RawMessage) (any, error) { return nil, nil }
	for name, methods := range map[string][]domain.Method{
		"twice": {{Name: "a/b", Run: run}, {Name: "a/b", Run: run}}, "sys": {{Name: "sys/ping", Run: run}}, "no name": {{Run: run}},
		"no function": {{Name: "a/b"}}, "bad input": {{Name: "a/b", Run: run, Input: "{"}}, "bad schema": {{Name: "a/b", Run: run, Input: `{"a":{"type":7}}`}},
	} {
		if _, err := New([]domain.Domain{{Name: "a", Methods: methods}}, Options{}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
