package integration_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/adapters/prom"
	"github.com/candor-mcp/candor/boundary"
	"github.com/candor-mcp/candor/internal/testing/planted"
	"github.com/candor-mcp/candor/meter"
)

// connect returns a client of a server with a boundary.
func connect(t *testing.T, server *mcp.Server, o boundary.Options) *mcp.ClientSession {
	t.Helper()
	boundary.Install(server, o)
	toServer, toClient := mcp.NewInMemoryTransports()
	go func() { _ = server.Run(t.Context(), toServer) }()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil).Connect(t.Context(), toClient, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
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

// TestH13PrometheusTextIsValidAndWhatHTTPServes scrapes after failures with labels that would break a careless writer.
func TestH13PrometheusTextIsValidAndWhatHTTPServes(t *testing.T) {
	m := newMeter(t)
	server := failingServer()
	server.AddTool(&mcp.Tool{Name: "quo.te", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, errors.New("no") })
	c := connect(t, server, boundary.Options{Meter: m})
	for _, tool := range []string{"quo.te", "a\"b\\c\nd", "no_such_tool"} {
		_, _ = c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool}) // it fails
	}
	text, err := prom.Text(m)
	if err != nil {
		t.Fatal(err)
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

// TestR12MetricsHaveNoPlantedSecret plants every kind of secret in the names that a client sends and in the errors and names of tools.
func TestR12MetricsHaveNoPlantedSecret(t *testing.T) {
	m := newMeter(t)
	server := mcp.NewServer(&mcp.Implementation{Name: "leaky", Version: "1"}, nil)
	server.AddPrompt(&mcp.Prompt{Name: "greet"}, nil)
	server.AddTool(&mcp.Tool{Name: "leak", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var in struct{ Text, How string }
			if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
				return nil, err
			}
			switch in.How {
			case "panic":
				panic(in.Text)
			case "code":
				return nil, candor.New(candor.CodeUnavailable, in.Text, candor.WithDetails(map[string]any{"said": in.Text}),
					candor.WithCallInfo(candor.CallInfo{Tool: in.Text, SessionID: in.Text}))
			}
			return nil, errors.New(in.Text)
		})
	c := connect(t, server, boundary.Options{Meter: m, Logger: slog.New(slog.DiscardHandler)})
	all, r := planted.NewSweep(), rand.New(rand.NewPCG(17, 18))
	for i, maker := range planted.Makers {
		secret := maker.Make(r)
		all.Add(planted.Secret{Way: "a call", Kind: maker.Kind, Text: secret})
		for _, how := range []string{"error", "panic", "code"} {
			text := planted.Templates[i%len(planted.Templates)].Text(secret)
			_, _ = c.CallTool(t.Context(), &mcp.CallToolParams{Name: "leak", Arguments: map[string]any{"text": text, "how": how}}) // it fails
		}
		_, _ = c.CallTool(t.Context(), &mcp.CallToolParams{Name: secret}) // it fails, and so does the prompt
		_, _ = c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: secret})
	}
	if got, want := m.Stats().Total, uint64(5*len(planted.Makers)); got != want {
		t.Errorf("%d failures counted, want %d", got, want)
	}
	text, err := prom.Text(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, leak := range all.Over("the Prometheus text", text) {
		t.Error(leak)
	}
}
