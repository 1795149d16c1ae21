package otlp_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	collectorpb "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/candor-mcp/candor/cmd/internal/telemetry/otlp"
)

// export sends one span to a receiver with these responses, one after the other, and returns the number of requests.
func export(t *testing.T, timeout time.Duration, responses ...http.HandlerFunc) (int64, error) {
	t.Helper()
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := requests.Add(1)
		responses[min(int(n), len(responses))-1](w, r)
	}))
	defer server.Close()
	exporter := otlp.NewSpanExporter(otlp.Settings{URL: server.URL, Timeout: timeout, Headers: map[string]string{"Authorization": "secret"}})
	err := exporter.ExportSpans(t.Context(), []sdktrace.ReadOnlySpan{tracetest.SpanStub{Name: "ping"}.Snapshot()})
	return requests.Load(), err
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func TestExportRetriesOnlyWhatMayPass(t *testing.T) {
	t.Parallel()
	if n, err := export(t, 10*time.Second, status(http.StatusServiceUnavailable), status(http.StatusTooManyRequests), status(http.StatusOK)); n != 3 || err != nil {
		t.Errorf("after two refusals: %d requests, %v", n, err)
	}
	for _, code := range []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusInternalServerError, http.StatusFound} {
		if n, err := export(t, 10*time.Second, status(code)); n != 1 || err == nil {
			t.Errorf("status %d: %d requests, %v", code, n, err)
		}
	}
	began := time.Now()
	if _, err := export(t, 300*time.Millisecond, status(http.StatusServiceUnavailable)); err == nil || time.Since(began) > time.Minute {
		t.Errorf("a receiver that is down: %v after %v", err, time.Since(began))
	}
}

func TestRejectedItemsAreReported(t *testing.T) {
	t.Parallel()
	_, err := export(t, time.Second, func(w http.ResponseWriter, _ *http.Request) {
		text, err := proto.Marshal(&collectorpb.ExportTraceServiceResponse{PartialSuccess: &collectorpb.ExportTracePartialSuccess{RejectedSpans: 1, ErrorMessage: "no: password=hunter2pw99"}})
		if err == nil {
			_, _ = w.Write(text) // the client may be gone
		}
	})
	if rejected, ok := errors.AsType[*otlp.RejectedError](err); !ok || rejected.Count != 1 || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v", err)
	}
}

func TestJSONHasIDsInHexadecimal(t *testing.T) {
	t.Parallel()
	var body, kind string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err == nil {
			body, kind = string(text), r.Header.Get("Content-Type")
			_, _ = io.WriteString(w, `{"partialSuccess":{"rejectedSpans":"1","errorMessage":"full"},"later":0}`)
		}
	}))
	defer server.Close()
	exporter := otlp.NewSpanExporter(otlp.Settings{URL: server.URL, Timeout: time.Second, JSON: true})
	context := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{15: 0xab}, SpanID: trace.SpanID{7: 0xcd}})
	err := exporter.ExportSpans(t.Context(), []sdktrace.ReadOnlySpan{tracetest.SpanStub{Name: "ping", SpanContext: context, SpanKind: trace.SpanKindServer}.Snapshot()})
	if rejected, ok := errors.AsType[*otlp.RejectedError](err); !ok || rejected.Count != 1 || kind != "application/json" {
		t.Errorf("%v, content type %q", err, kind)
	}
	var got struct {
		ResourceSpans []struct {
			ScopeSpans []struct {
				Spans []struct {
					TraceID, SpanID, Name string
					Kind                  int
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	if s := got.ResourceSpans[0].ScopeSpans[0].Spans[0]; s.TraceID != "000000000000000000000000000000ab" || s.SpanID != "00000000000000cd" || s.Name != "ping" || s.Kind != 2 {
		t.Errorf("%s", body)
	}
}

// A redirect could send the headers, and the credential in them, to another host.
func TestRedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	var reached atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	defer other.Close()
	_, err := export(t, time.Second, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	})
	if err == nil || reached.Load() {
		t.Errorf("%v, reached %t", err, reached.Load())
	}
}
