package boundary

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/httpguard"
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/wire"
)

// tally is a ledger and a meter.
type tally struct {
	fakeLedger
	fakeMeter
}

func (l *tally) totals() (entries, counts, suppressed int) {
	counts, suppressed, _ = l.counts()
	return len(l.all()), counts, suppressed
}

func (l *tally) last() *candor.Error {
	entries := l.all()
	if len(entries) == 0 {
		return nil
	}
	return entries[len(entries)-1].err
}

var quiet = slog.New(slog.DiscardHandler)

type echoIn struct {
	Text string `json:"text"`
}

// demoServer returns the server of the stream tests with two more tools.
func demoServer() *mcp.Server {
	s := rowServer()
	mcp.AddTool(s, &mcp.Tool{Name: "echo"}, func(_ context.Context, _ *mcp.CallToolRequest, in echoIn) (*mcp.CallToolResult, any, error) {
		return text(in.Text), nil, nil
	})
	s.AddTool(&mcp.Tool{Name: "wrapped", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return nil, fmt.Errorf("while navigating: %w", navigation())
		})
	return s
}

// rig is a server behind the boundary, over real HTTP.
type rig struct {
	*httptest.Server
	*tally
	newEra  bool
	session string
}

func newRig(t *testing.T, handler func(*Boundary, *mcp.Server) http.Handler, change func(*Options)) *rig {
	t.Helper()
	r := &rig{tally: new(tally)}
	o := Options{Ledger: r.tally, Meter: r.tally, Logger: quiet}
	if change != nil {
		change(&o)
	}
	server := demoServer()
	b := Install(server, o)
	r.Server = httptest.NewServer(b.HTTP(handler(b, server)))
	t.Cleanup(r.Close)
	return r
}

func streamable(o mcp.StreamableHTTPOptions) func(*Boundary, *mcp.Server) http.Handler {
	return func(_ *Boundary, s *mcp.Server) http.Handler {
		return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &o)
	}
}

func bothEras(b *Boundary, s *mcp.Server) http.Handler { return b.eras(s) }

// httpReply is a response.
type httpReply struct {
	status  int
	header  http.Header
	body    []byte
	message []byte // the body, or the data of the last event
}

func (r *rig) do(t *testing.T, method, body string, header ...string) httpReply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, r.URL, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	if r.session != "" {
		req.Header.Set("Mcp-Session-Id", r.session)
	}
	for i := 0; i < len(header); i += 2 {
		switch {
		case header[i] == "Host":
			req.Host = header[i+1]
		case header[i+1] == "":
			req.Header.Del(header[i])
		default:
			req.Header.Set(header[i], header[i+1])
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	out := httpReply{status: res.StatusCode, header: res.Header}
	if out.body, err = io.ReadAll(res.Body); err != nil {
		t.Fatal(err)
	}
	out.message = out.body
	if httpguard.MediaType(res.Header) == "text/event-stream" {
		out.message = nil
		events := framing.NewEventReader(bytes.NewReader(out.body), wire.Limits{})
		for e, err := events.Next(); err == nil; e, err = events.Next() {
			if len(e.Data) > 0 {
				out.message = bytes.Clone(e.Data)
			}
		}
	}
	return out
}

const clientMeta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// call sends a request in the era of the rig.
func (r *rig) call(t *testing.T, id, method, params string) httpReply {
	t.Helper()
	if !r.newEra {
		return r.do(t, http.MethodPost, request(id, method, params))
	}
	header := []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method}
	if v, err := wire.ParseValue([]byte(params), wire.Limits{}); err == nil && v.Type() == wire.TypeObject {
		for _, member := range []string{"name", "uri"} {
			if name, ok := v.Path(member).Str(); ok {
				header = append(header, "Mcp-Name", name)
			}
		}
		with, err := splice.SetMember(nil, []byte(params), []string{"_meta"}, []byte(clientMeta))
		if err != nil {
			t.Fatal(err)
		}
		params = string(with)
	}
	return r.do(t, http.MethodPost, request(id, method, params), header...)
}

func request(id, method, params string) string {
	body := `{"jsonrpc":"2.0",`
	if id != "" {
		body += `"id":` + id + `,`
	}
	body += `"method":` + string(jsontext.AppendString(nil, method))
	if params != "" {
		body += `,"params":` + params
	}
	return body + "}"
}

// initialize opens a session if the handler has sessions.
func (r *rig) initialize(t *testing.T) {
	t.Helper()
	res := r.call(t, "1", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
	if res.status != http.StatusOK {
		t.Fatalf("initialize: %d %s", res.status, res.body)
	}
	r.session = res.header.Get("Mcp-Session-Id")
	if res := r.call(t, "", "notifications/initialized", "{}"); res.status != http.StatusAccepted {
		t.Fatalf("initialized: %d %s", res.status, res.body)
	}
}

// failure returns the error in the envelope of the response, or nil.
func (res httpReply) failure(t *testing.T) *candor.Error {
	t.Helper()
	v, err := wire.ParseValue(res.message, wire.Limits{})
	if err != nil {
		t.Fatalf("not JSON: %v\n%s", err, res.body)
	}
	own, ok := dialect.Embedded(v)
	if !ok {
		return nil
	}
	e, err := dialect.ReadCandor(own)
	if err != nil {
		t.Fatalf("%v\n%s", err, res.body)
	}
	return e
}

func (res httpReply) number() int64 {
	v, _ := wire.ParseValue(res.message, wire.Limits{})
	n, _ := v.Path("error", "code").Int64()
	return n
}

func (res httpReply) id() string {
	v, _ := wire.ParseValue(res.message, wire.Limits{})
	return string(v.Path("id").Raw())
}
