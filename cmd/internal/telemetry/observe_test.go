package telemetry

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/candor-mcp/candor"
	meterotel "github.com/candor-mcp/candor/adapters/otel"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/wire"
)

// TestFailureOutsideACallIsObserved has a failure without a request, such as an answer that no call waits for, and hostile texts.
func TestFailureOutsideACallIsObserved(t *testing.T) {
	t.Parallel()
	spans := tracetest.NewInMemoryExporter()
	var out bytes.Buffer
	o := Observer{
		Export: &Export{tracer: meterotel.NewTracer(sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))), transport: "pipe"},
		JSON:   slog.New(slog.NewJSONHandler(&out, nil)),
	}
	now := time.Now()
	stray := candor.New(candor.CodeStrayAnswer, "", candor.WithRef("r-1"))
	o.CallEnded(&gateway.Ending{Failure: candor.Failure{Upstream: "shop", Verdict: "stray", Error: stray, Attempt: 1}, Request: &wire.Message{}, Began: now, Ended: now})
	o.CallEnded(&gateway.Ending{
		Failure: candor.Failure{Upstream: "shop\x1b[2J", Method: "tools/call", Suspected: true, Error: stray.With(candor.WithRef("r-2")), Attempt: 1},
		Tool:    strings.Repeat("é", 1<<16), Request: &wire.Message{}, IsCall: true, Began: now, Ended: now, Trace: gateway.Trace{Parent: "nonsense", State: "\xff"},
	})
	o.CallEnded(&gateway.Ending{Failure: candor.Failure{Upstream: "shop"}, Request: &wire.Message{}, IsCall: true, Began: now, Ended: now})
	o.CallEnded(&gateway.Ending{Failure: candor.Failure{Upstream: "shop", Verdict: "tool", Error: stray}, Request: &wire.Message{}, IsCall: true, Began: now, Ended: now, Unrecorded: true})
	if n := len(spans.GetSpans()); n != 4 {
		t.Errorf("%d spans, want 4", n)
	}
	type line struct{ Level, Msg, Ref, Outcome, Trace_id string } //nolint:revive,staticcheck // named as in the log
	var lines []line
	for text := range strings.Lines(out.String()) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil || len(text) > 8<<10 {
			t.Errorf("%v in a line of %d bytes", err, len(text))
		}
		if l.Trace_id == "" {
			t.Errorf("no trace in %s", text)
		}
		l.Trace_id = ""
		lines = append(lines, l)
	}
	want := []line{{"WARN", "failure outside a call", "r-1", "stray", ""}, {"INFO", "answer looks like a failure", "r-2", "suspected", ""}}
	if len(lines) != 2 || lines[0] != want[0] || lines[1] != want[1] {
		t.Errorf("lines are %+v, want %+v", lines, want)
	}
}
