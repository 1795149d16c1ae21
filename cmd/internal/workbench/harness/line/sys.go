package line

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/adapters/prom"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/internal/jsontext"
)

const sysPrefix = "sys/"

// sys returns the enabled methods about the server itself.
func (s *Server) sys() domain.Domain {
	d := domain.Domain{Name: "sys", About: "The server itself."}
	add := func(name, about string, run func(context.Context, json.RawMessage) (any, error)) *domain.Method {
		d.Methods = append(d.Methods, domain.Method{Name: sysPrefix + name, About: about, ReadOnly: true, Idempotent: true, Run: run})
		return &d.Methods[len(d.Methods)-1]
	}
	add("ping", "Returns an empty object.", ping)
	add("metrics", "Returns the number of calls and errors of each method.", s.sysMetrics)
	if s.o.Meter != nil && s.o.ErrorStats {
		add("errorStats", "Returns the number of errors since the start: in total, by code, domain and symbol.", s.sysErrorStats)
	}
	if s.o.Meter != nil {
		add("promMetrics", "Returns the error counters in the text format of Prometheus.", s.sysPromMetrics)
	}
	if s.o.Level != nil {
		m := add("setLogLevel", "Sets the level of the log.", s.sysSetLogLevel)
		m.Input, m.ReadOnly = `{"level":{"description":"debug, info, warn or error"}}`, false
	}
	return d
}

var emptyObject any = json.RawMessage("{}")

func ping(context.Context, json.RawMessage) (any, error) { return emptyObject, nil }

// methodStats are the counters of one method.
type methodStats struct {
	Calls  uint64 `json:"calls"`
	Errors uint64 `json:"errors"`
}

func (s *Server) sysMetrics(context.Context, json.RawMessage) (any, error) {
	all := make(map[string]methodStats, len(s.methods))
	for name, m := range s.methods {
		errors := m.errors.Load() // before calls, so that there are never more errors than calls
		all[name] = methodStats{Calls: m.calls.Load(), Errors: errors}
	}
	return map[string]any{"methods": all}, nil
}

func (s *Server) sysErrorStats(context.Context, json.RawMessage) (any, error) {
	return json.RawMessage(s.o.Meter.AppendStats(nil)), nil
}

func (s *Server) sysPromMetrics(context.Context, json.RawMessage) (any, error) {
	body, err := prom.Text(s.o.Meter)
	if err != nil {
		return nil, err
	}
	return map[string]string{"contentType": prom.ContentType, "body": body}, nil
}

var logLevels = []string{"debug", "info", "warn", "error"}

// sysSetLogLevel validates its parameter itself because the taxonomy requires the number -32602 and the allowed values
// in the error.
func (s *Server) sysSetLogLevel(_ context.Context, params json.RawMessage) (any, error) {
	var in struct {
		Level string `json:"level"`
	}
	if len(params) > 0 && json.Unmarshal(params, &in) != nil || !slices.Contains(logLevels, in.Level) {
		return nil, candor.New(candor.CodeInvalidRequestParams, "Invalid params: level", byServer,
			candor.WithDetails(map[string]any{"allowed": logLevels}))
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(strings.ToUpper(in.Level))); err != nil {
		return nil, err
	}
	s.o.Level.Set(level)
	return in, nil
}

// errorCodesVersion is the version of the numeric taxonomy in the ready line.
const errorCodesVersion = "1"

func (s *Server) appendReady(dst []byte) []byte {
	dst = append(dst, `{"type":"ready","methods":[`...)
	for i, name := range s.names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsontext.AppendString(dst, name)
	}
	dst = append(dst, `],"schema":{"errorCodes":`+errorCodesVersion+`}`...)
	if s.o.Name != "" {
		dst = jsontext.AppendString(append(dst, `,"server":`...), s.o.Name)
	}
	return append(dst, '}', '\n')
}
