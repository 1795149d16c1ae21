package line

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/codes/common"
)

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

func TestDetailsAreAText(t *testing.T) {
	for _, details := range []any{map[string]any{"message": "stopped"}, "stopped"} {
		if got := Terse(candor.New(common.Timeout, "", candor.WithDetails(details))).Details().String(); got != `"stopped"` {
			t.Errorf("%v: %s", details, got)
		}
	}
}
