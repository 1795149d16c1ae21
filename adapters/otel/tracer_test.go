package otel_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/candor-mcp/candor"
	meterotel "github.com/candor-mcp/candor/adapters/otel"
	"github.com/candor-mcp/candor/codes/kg"
)

// The interface that boundary declares to avoid importing this package.
var _ interface {
	StartCall(ctx context.Context, method, tool string, meta map[string]any) (context.Context, func(*candor.Error))
} = (*meterotel.Tracer)(nil)

func recorded() (*meterotel.Tracer, *tracetest.InMemoryExporter, trace.Tracer) {
	exporter := tracetest.NewInMemoryExporter()
	provider := sdk.NewTracerProvider(sdk.WithSyncer(exporter))
	return meterotel.NewTracer(provider), exporter, provider.Tracer("test")
}

func TestFailedCallSpan(t *testing.T) {
	tracer, exporter, _ := recorded()
	_, end := tracer.StartCall(t.Context(), "tools/call", "kg/add", nil)
	sent := candor.New(kg.Full, "The graph is full.", candor.WithRef("r-1"))
	end(sent)
	end(nil)
	spans := exporter.GetSpans()
	if len(spans) != 1 {
		t.Fatalf("%d spans, want 1", len(spans))
	}
	span := spans[0]
	if span.Name != "tools/call kg/add" || span.SpanKind != trace.SpanKindServer {
		t.Errorf("span %q of kind %v", span.Name, span.SpanKind)
	}
	if span.Status.Code != codes.Error || span.Status.Description != sent.Message() {
		t.Errorf("status %+v", span.Status)
	}
	wantAttributes(t, span, map[string]string{
		"mcp.method.name": "tools/call", "gen_ai.tool.name": "kg/add", "gen_ai.operation.name": "execute_tool",
		"error.type": "tool_error", "candor.code": "E_KG_FULL", "candor.domain": "kg", "candor.class": "unavailable", "candor.ref": "r-1",
	})
}

func TestSuccessfulCallSpanHasNoError(t *testing.T) {
	tracer, exporter, _ := recorded()
	_, end := tracer.StartCall(t.Context(), "tools/list", "", nil)
	end(nil)
	span := exporter.GetSpans()[0]
	if span.Name != "tools/list" || span.Status.Code != codes.Unset {
		t.Errorf("span %q, status %v", span.Name, span.Status)
	}
	wantAttributes(t, span, map[string]string{"mcp.method.name": "tools/list"})
}

const (
	traceID     = "4bf92f3577b34da6a3ce929d0e0e4736"
	parentID    = "00f067aa0ba902b7"
	traceparent = "00-" + traceID + "-" + parentID + "-01"
)

func TestSpanContinuesTraceOfRequest(t *testing.T) {
	tracer, exporter, _ := recorded()
	ctx, end := tracer.StartCall(t.Context(), "tools/call", "a", map[string]any{
		"traceparent": traceparent, "tracestate": "rojo=1", "baggage": "user=alice",
	})
	end(nil)
	span := exporter.GetSpans()[0]
	if span.SpanContext.TraceID().String() != traceID || span.Parent.SpanID().String() != parentID || !span.Parent.IsRemote() {
		t.Errorf("trace %v, parent %v", span.SpanContext.TraceID(), span.Parent.SpanID())
	}
	if got := span.SpanContext.TraceState().Get("rojo"); got != "1" {
		t.Errorf("tracestate has %q", got)
	}
	if got := baggage.FromContext(ctx).Member("user").Value(); got != "alice" {
		t.Errorf("baggage has %q", got)
	}
	if got := trace.SpanContextFromContext(ctx); !got.Equal(span.SpanContext) {
		t.Error("the handler does not run under the span")
	}
	if len(span.Links) != 0 {
		t.Errorf("links %v to nothing", span.Links)
	}
}

func TestTransportSpanIsLinkOrParent(t *testing.T) {
	tracer, exporter, http := recorded()
	ctx, transport := http.Start(t.Context(), "POST /mcp")
	_, end := tracer.StartCall(ctx, "ping", "", map[string]any{"traceparent": traceparent})
	end(nil)
	_, end = tracer.StartCall(ctx, "ping", "", nil)
	end(nil)
	spans := exporter.GetSpans()
	if links := spans[0].Links; len(links) != 1 || !links[0].SpanContext.Equal(transport.SpanContext()) {
		t.Errorf("with a trace in _meta the links are %v", links)
	}
	if spans[0].SpanContext.TraceID().String() != traceID {
		t.Errorf("the trace of _meta is not continued")
	}
	if len(spans[1].Links) != 0 || spans[1].Parent.SpanID() != transport.SpanContext().SpanID() {
		t.Errorf("without one the parent is %v, links %v", spans[1].Parent.SpanID(), spans[1].Links)
	}
}

func TestHostileMetaStartsNewTrace(t *testing.T) {
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { t.Errorf("a peer can write to the log: %v", err) }))
	t.Cleanup(func() { otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {})) })
	for _, bad := range []any{
		nil, 7, true, []any{traceparent}, map[string]any{"a": 1}, "", "nonsense", strings.Repeat("0", 1<<20),
		"00-00000000000000000000000000000000-0000000000000000-01", "ff-" + traceparent[3:], traceparent + "\n",
	} {
		tracer, exporter, _ := recorded()
		_, end := tracer.StartCall(t.Context(), "ping", "", map[string]any{"traceparent": bad, "tracestate": bad, "baggage": bad})
		end(nil)
		if span := exporter.GetSpans()[0]; span.Parent.IsValid() || !span.SpanContext.IsValid() {
			t.Errorf("%.40v: parent %v", bad, span.Parent)
		}
	}
}

func TestLongTraceStateIsIgnored(t *testing.T) {
	tracer, exporter, _ := recorded()
	var members []string
	for i := range 32 { // each is valid, and so is the combination
		members = append(members, fmt.Sprintf("k%d=%s", i, strings.Repeat("v", 256)))
	}
	_, end := tracer.StartCall(t.Context(), "ping", "", map[string]any{
		"traceparent": traceparent, "tracestate": strings.Join(members, ","),
	})
	end(nil)
	span := exporter.GetSpans()[0]
	if span.SpanContext.TraceState().Len() != 0 || span.SpanContext.TraceID().String() != traceID {
		t.Errorf("tracestate has %d members, trace %v", span.SpanContext.TraceState().Len(), span.SpanContext.TraceID())
	}
}

func TestInventedNamesAreNotSpanNames(t *testing.T) {
	tracer, exporter, _ := recorded()
	long := strings.Repeat("x", 1<<20)
	_, end := tracer.StartCall(t.Context(), "tools/call", "no\nsuch"+long, nil)
	end(candor.New(candor.CodeToolNotFound, ""))
	_, end = tracer.StartCall(t.Context(), "made/up"+long, "", nil)
	end(candor.New(candor.CodeMethodNotFound, ""))
	_, end = tracer.StartCall(t.Context(), "ping", "", nil)
	end(&candor.Error{})
	spans := exporter.GetSpans()
	for i, want := range []string{"tools/call", "unknown method", "ping"} {
		if spans[i].Name != want {
			t.Errorf("span %d is called %.60q, want %q", i, spans[i].Name, want)
		}
		for _, a := range spans[i].Attributes {
			if text := a.Value.AsString(); len(text) > 256 || strings.Contains(text, "\n") {
				t.Errorf("attribute %s is %.60q of %d bytes", a.Key, text, len(text))
			}
		}
	}
	if got := attributes(spans[2]); got["candor.code"] != "UNCODED_ERROR" || got["error.type"] != "4002" || got["rpc.response.status_code"] != "4002" {
		t.Errorf("an error without a code has %v", got)
	}
	if got := attributes(spans[1]); got["error.type"] != "-32601" || spans[1].Status.Code != codes.Unset {
		t.Errorf("an unknown method, the client's fault, has %v, %v", got, spans[1].Status)
	}
}

func wantAttributes(t *testing.T, span tracetest.SpanStub, want map[string]string) {
	t.Helper()
	got := attributes(span)
	for key, value := range want {
		if got[key] != value {
			t.Errorf("%s is %q, want %q", key, got[key], value)
		}
	}
	if len(got) != len(want) {
		t.Errorf("attributes are %v, want %v", got, want)
	}
}

func attributes(span tracetest.SpanStub) map[string]string {
	out := map[string]string{}
	for _, a := range span.Attributes {
		if a.Value.Type() == attribute.STRING {
			out[string(a.Key)] = a.Value.AsString()
		}
	}
	return out
}

func TestRecordedCallHasTimesAndOutcome(t *testing.T) {
	tracer, exporter, _ := recorded()
	began := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	sent := candor.New(kg.Full, "The graph is full.", candor.WithRef("r-1"))
	call := meterotel.Call{
		Method: "tools/call", Tool: "kg/add", Server: "graph", Session: "s-1", RequestID: "7", Transport: "pipe",
		Meta: map[string]any{"traceparent": traceparent}, Began: began, Ended: began.Add(time.Second), Attempts: 2, Outcome: "tool", Error: sent,
	}
	ctx := tracer.RecordCall(t.Context(), &call)
	call.Suspected, call.Outcome, call.Attempts = true, "suspected", 1
	tracer.RecordCall(t.Context(), &call)
	tracer.RecordCall(t.Context(), &meterotel.Call{Began: began, Ended: began, Error: sent, Outcome: "stray"})
	spans := exporter.GetSpans()
	failed, suspected, stray := spans[0], spans[1], spans[2]
	if failed.Name != "tools/call kg/add" || !failed.StartTime.Equal(began) || failed.EndTime.Sub(began) != time.Second || failed.Status.Code != codes.Error {
		t.Errorf("span %q from %v to %v: %v", failed.Name, failed.StartTime, failed.EndTime, failed.Status)
	}
	if failed.SpanContext.TraceID().String() != traceID || !trace.SpanContextFromContext(ctx).Equal(failed.SpanContext) {
		t.Errorf("trace %v", failed.SpanContext.TraceID())
	}
	wantAttributes(t, failed, map[string]string{
		"mcp.method.name": "tools/call", "gen_ai.tool.name": "kg/add", "gen_ai.operation.name": "execute_tool", "candor.server": "graph", "mcp.session.id": "s-1",
		"jsonrpc.request.id": "7", "network.transport": "pipe", "candor.outcome": "tool",
		"error.type": "tool_error", "candor.code": "E_KG_FULL", "candor.domain": "kg", "candor.class": "unavailable", "candor.ref": "r-1",
	})
	if got := attributes(suspected); suspected.Status.Code != codes.Unset || got["candor.suspected"] != "E_KG_FULL" || got["candor.ref"] != "r-1" || got["error.type"] != "" {
		t.Errorf("a suspected failure has %v, %v", got, suspected.Status)
	}
	if stray.Name != "unknown method" || attributes(stray)["candor.ref"] != "r-1" {
		t.Errorf("span %q has %v", stray.Name, attributes(stray))
	}
}
