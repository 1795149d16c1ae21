package gateway_test

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/testing/emits"
	"github.com/candor-mcp/candor/wire"
)

//go:embed testdata/emits.txt
var emitsText string

// emitter is a gateway to a server that answers every request with the same line.
type emitter struct {
	*httpgatetest.Gate
	t *testing.T
}

// newEmitter starts a server that answers every request with answer, in which %s is replaced by the id of the request.
func newEmitter(t *testing.T, answer string, o gateway.Options, h httpgate.Options) *emitter {
	t.Helper()
	return &emitter{t: t, Gate: httpgatetest.NewGate(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		m := wire.Parse(body, wire.Limits{})
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Mcp-Session-Id", string(m.ID()))
		fmt.Fprintf(w, answer, m.ID())
	}), o, h)}
}

// call posts a request and returns the code of the failure in the response, or "".
func (e *emitter) call(id int, method string) string {
	e.t.Helper()
	var session []string
	if method != "initialize" {
		session = []string{"Mcp-Session-Id", "1"}
	}
	return emittedCode(e.Post(e.t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"name":"act","arguments":{}}}`, id, method), session...).Body)
}

func emittedCode(raw []byte) string {
	m := wire.Parse(raw, wire.Limits{})
	own, ok := dialect.Embedded(m.Value())
	if !ok {
		return ""
	}
	failure, err := dialect.ReadCandor(own)
	if err != nil {
		return err.Error()
	}
	return failure.Code().String()
}

const (
	emitsMissing = `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"File not found"}],"isError":true}}`
	emitsBoth    = `{"jsonrpc":"2.0","id":%s,"result":{},"error":{"code":1,"message":"both"}}`
	emitsFine    = `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"x","version":"1"}}}`
)

// refusingLedger refuses every entry with the same error.
type refusingLedger struct{ err error }

func (l refusingLedger) RecordFailure(context.Context, candor.Failure) error { return l.err }

// TestEveryCodeOfTheGatewayIsEmitted makes a gateway emit each code of testdata/emits.txt to a client over HTTP.
func TestEveryCodeOfTheGatewayIsEmitted(t *testing.T) {
	emit := map[string]func(t *testing.T) string{
		"candor/UPSTREAM_MALFORMED": func(t *testing.T) string {
			return newEmitter(t, emitsBoth, gateway.Options{}, httpgate.Options{}).call(1, "tools/call")
		},
		"candor/CIRCUIT_OPEN": func(t *testing.T) string {
			e := newEmitter(t, emitsBoth, gateway.Options{Breaker: gateway.BreakerPolicy{Failures: 2}}, httpgate.Options{})
			e.call(1, "tools/call")
			e.call(2, "tools/list")
			return e.call(3, "tools/call")
		},
		"candor/REPEATED_FAILURE": func(t *testing.T) string {
			e := newEmitter(t, emitsMissing, gateway.Options{Repeats: gateway.RepeatPolicy{After: 1}}, httpgate.Options{})
			e.call(1, "tools/call")
			return e.call(2, "tools/call")
		},
		"candor/TOO_MANY_SESSIONS": func(t *testing.T) string {
			e := newEmitter(t, emitsFine, gateway.Options{}, httpgate.Options{Sessions: 1})
			e.call(1, "initialize")
			return e.call(2, "initialize")
		},
		"candor/GATEWAY_DRAINING": func(t *testing.T) string {
			e := newEmitter(t, emitsFine, gateway.Options{}, httpgate.Options{})
			e.Up.Drain()
			return e.call(1, "tools/call")
		},
		"candor/AUDIT_LOG_FAILED": func(t *testing.T) string {
			e := newEmitter(t, emitsMissing, gateway.Options{}, httpgate.Options{})
			e.Up.Options.Ledger, e.Up.Options.Meter = refusingLedger{errors.New("no space left on device")}, nil // the counter of the test expects every failure to be recorded
			return e.call(1, "tools/call")
		},
		"candor/AUDIT_LOCK_FAILED": func(t *testing.T) string {
			e := newEmitter(t, emitsMissing, gateway.Options{}, httpgate.Options{})
			e.Up.Options.Ledger, e.Up.Options.Meter = refusingLedger{candor.New(candor.CodeLedgerLocked, "")}, nil // the counter of the test expects every failure to be recorded
			return e.call(1, "tools/call")
		},
		"candor/TOKEN_REQUIRED": func(t *testing.T) string {
			return newEmitter(t, emitsFine, gateway.Options{}, httpgate.Options{Token: "t"}).call(1, "tools/call")
		},
	}
	emits.Check(t, emitsText, emit)
}
