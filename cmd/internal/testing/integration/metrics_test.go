package integration_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/boundary"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/meter"
	meterotel "github.com/candor-mcp/candor/meter/otel"
	"github.com/candor-mcp/candor/meter/prom"
)

// lineClient sends JSON-RPC requests as lines.
type lineClient struct {
	t     *testing.T
	to    io.Writer
	lines *bufio.Reader
	id    int
}

// connect serves a server through a boundary over pipes and initializes the session.
func connect(t *testing.T, server *mcp.Server, o boundary.Options) *lineClient {
	t.Helper()
	b := boundary.Install(server, o)
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	go func() { _ = server.Run(context.WithoutCancel(t.Context()), b.Transport(fromClient, toClient)) }()
	t.Cleanup(func() { _ = toServer.Close() })
	c := &lineClient{t: t, to: toServer, lines: bufio.NewReaderSize(fromServer, 1<<20)}
	c.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
	return c
}

// ask sends a request and returns its response.
func (c *lineClient) ask(method, params string) json.RawMessage {
	c.t.Helper()
	c.id++
	if _, err := fmt.Fprintf(c.to, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", c.id, method, params); err != nil {
		c.t.Fatal(err)
	}
	line, err := c.lines.ReadBytes('\n')
	if err != nil {
		c.t.Fatal(err)
	}
	return line
}

func newMeter(t *testing.T) *meter.Meter {
	t.Helper()
	m, err := meter.New(meter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// failingServer has one tool, act, which fails with RATE_LIMITED.
func failingServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "failing", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "act", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return nil, candor.New(candor.CodeRateLimited, "")
		})
	return s
}

// TestH13PrometheusTextIsValidAndWhatHTTPServes scrapes after failures whose labels would break a careless writer.
func TestH13PrometheusTextIsValidAndWhatHTTPServes(t *testing.T) {
	m := newMeter(t)
	server := failingServer()
	server.AddTool(&mcp.Tool{Name: "quo.te", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, errors.New("no") })
	c := connect(t, server, boundary.Options{Meter: m})
	c.ask("tools/call", `{"name":"quo.te","arguments":{}}`)
	c.ask("tools/call", `{"name":"a\"b\\c\nd"}`)
	const secret = "sk-ant-api03-Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4"
	c.ask("tools/call", `{"name":"`+secret+`"}`)
	text, err := prom.Text(m)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text, secret) {
		t.Errorf("the metrics have the secret in the name of a tool:\n%s", text)
	}
	answer := httptest.NewRecorder()
	prom.Handler(m).ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	if body := answer.Body.String(); body != text {
		t.Errorf("HTTP serves\n%s\nand the text is\n%s", body, text)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if total := families["mcp_errors_total"].GetMetric()[0].GetCounter().GetValue(); total != 3 {
		t.Errorf("mcp_errors_total is %v", total)
	}
}

// TestSpansContinueTheTraceOfTheCaller reads what a collector gets of a failing call.
func TestSpansContinueTheTraceOfTheCaller(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	provider := trace.NewTracerProvider(trace.WithSyncer(spans))
	c := connect(t, failingServer(), boundary.Options{Tracer: meterotel.NewTracer(provider)})
	const traceID = "0af7651916cd43dd8448eb211c80319c"
	line := c.ask("tools/call", `{"name":"act","arguments":{"how":"coded"},"_meta":{"traceparent":"00-`+traceID+`-b7ad6b7169203331-01"}}`)
	var answer struct {
		Result struct {
			Meta map[string]struct{ Ref string } `json:"_meta"`
		}
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		t.Fatal(err)
	}
	for _, span := range spans.GetSpans() {
		if span.Name != "tools/call act" {
			continue
		}
		got := map[string]string{}
		for _, a := range span.Attributes {
			got[string(a.Key)] = a.Value.String()
		}
		if span.SpanContext.TraceID().String() != traceID || got["error.type"] != "RATE_LIMITED" || got["gen_ai.tool.name"] != "act" ||
			got["mcp.method.name"] != "tools/call" || got["candor.ref"] != answer.Result.Meta[dialect.MetaKey].Ref {
			t.Errorf("trace %s, attributes %v, answer %s", span.SpanContext.TraceID(), got, line)
		}
		return
	}
	t.Errorf("no span for the call in %v", spans.GetSpans().Snapshots())
}
