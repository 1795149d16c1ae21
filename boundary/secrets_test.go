package boundary_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/boundary"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/limits"
	"github.com/candor-mcp/candor/internal/testing/planted"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/meter"
)

// way is one way in which a failure can contain a secret: in the output of a tool, or in the request of a client.
type way struct {
	name string
	fail func(text, secret string) (*mcp.CallToolResult, error) // nil if the tool is not called
	line string                                                 // a request with $id, $secret and $meta; "" calls the tool
}

// toolWays lists the ways in which a tool fails. Text contains the secret.
var toolWays = []way{
	{name: "error", fail: func(text, _ string) (*mcp.CallToolResult, error) { return nil, errors.New(text) }},
	{name: "wrapped cause", fail: func(text, _ string) (*mcp.CallToolResult, error) {
		return nil, fmt.Errorf("loading the settings: %w", fmt.Errorf("asking the vault: %w", errors.New(text)))
	}},
	{name: "joined errors", fail: func(text, _ string) (*mcp.CallToolResult, error) {
		return nil, errors.Join(fs.ErrNotExist, errors.New(text))
	}},
	{name: "error with a code", fail: func(text, secret string) (*mcp.CallToolResult, error) {
		return nil, candor.New(candor.CodeUnavailable, text, candor.WithSuggestion("Try "+text), candor.WithCause(errors.New(text)),
			candor.WithDetails(map[string]any{"said": text, "nested": []any{map[string]any{"text": secret}}}))
	}},
	{name: "url", fail: func(_, secret string) (*mcp.CallToolResult, error) {
		return nil, &url.Error{Op: "Get", URL: "https://bot:" + secret + "@api.example.com/v1?access_token=" + secret, Err: errors.New("connection refused")}
	}},
	{name: "header dump", fail: func(_, secret string) (*mcp.CallToolResult, error) {
		return nil, fmt.Errorf("401 for %v", http.Header{"Authorization": {"Bearer " + secret}, "X-Api-Key": {secret}})
	}},
	{name: "panic with a text", fail: func(text, _ string) (*mcp.CallToolResult, error) { panic(text) }},
	{name: "panic with an error", fail: func(text, _ string) (*mcp.CallToolResult, error) { panic(errors.New(text)) }},
	{name: "panic with a value", fail: func(_, secret string) (*mcp.CallToolResult, error) {
		panic(struct{ Host, Token string }{"db", secret})
	}},
	{name: "text of a failed result", fail: func(text, _ string) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}, &mcp.TextContent{Text: "more: " + text}}}, nil
	}},
	{name: "structured content of a failed result", fail: func(text, secret string) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "it failed"}},
			StructuredContent: map[string]any{"error": text, "nested": []any{secret}}}, nil
	}},
	{name: "meta of a failed result", fail: func(text, _ string) (*mcp.CallToolResult, error) {
		r := &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "it failed"}}}
		r.Meta = mcp.Meta{"com.example/debug": map[string]any{"said": text}}
		return r, nil
	}},
	{name: "resource in a failed result", fail: func(text, _ string) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "it failed"},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "log:///last", MIMEType: "text/plain", Text: text}}}}, nil
	}},
	{name: "failed result with an envelope", fail: func(text, _ string) (*mcp.CallToolResult, error) {
		r := &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}}
		r.Meta = mcp.Meta{"dev.candor/error": ownEnvelope(text)}
		return r, nil
	}},
	{name: "message of a JSON-RPC error", fail: func(text, _ string) (*mcp.CallToolResult, error) {
		return nil, &jsonrpc.Error{Code: 2100, Message: text}
	}},
	{name: "data of a JSON-RPC error", fail: func(text, secret string) (*mcp.CallToolResult, error) {
		data, _ := json.Marshal(map[string]any{"domain": "playwright", "symbol": "E_PW_NAV", "said": text, "nested": []any{secret}})
		return nil, &jsonrpc.Error{Code: 2100, Message: "Navigation failed", Data: data}
	}},
	{name: "text data of a JSON-RPC error", fail: func(text, _ string) (*mcp.CallToolResult, error) {
		data, _ := json.Marshal(text)
		return nil, &jsonrpc.Error{Code: 2100, Message: "Navigation failed", Data: data}
	}},
}

// ownEnvelope returns a handwritten envelope with a text that package candor would have redacted.
func ownEnvelope(text string) (envelope map[string]any) {
	raw, err := json.Marshal(candor.New(candor.CodeUnavailable, "", candor.WithRef("r-1")))
	if err == nil {
		err = json.Unmarshal(raw, &envelope)
	}
	if err != nil {
		return nil
	}
	envelope["message"], envelope["suggestion"] = text, text
	return envelope
}

// clientWays lists requests that contain a secret, which a refusal might quote.
var clientWays = []way{
	{name: "bad value of an argument", line: `{"jsonrpc":"2.0","id":$id,"method":"tools/call","params":{"name":"strict","arguments":{"mode":"$secret","n":"$secret","key":"$secret"},$meta}}`},
	{name: "unknown argument", line: `{"jsonrpc":"2.0","id":$id,"method":"tools/call","params":{"name":"strict","arguments":{"mode":"r","n":1,"key":"k","$secret":1},$meta}}`},
	{name: "arguments of a wrong type", line: `{"jsonrpc":"2.0","id":$id,"method":"tools/call","params":{"name":"strict","arguments":"$secret",$meta}}`},
	{name: "name of a tool", line: `{"jsonrpc":"2.0","id":$id,"method":"tools/call","params":{"name":"$secret","arguments":{},$meta}}`},
	{name: "name of a method", line: `{"jsonrpc":"2.0","id":$id,"method":"$secret","params":{$meta}}`},
	{name: "name of a prompt", line: `{"jsonrpc":"2.0","id":$id,"method":"prompts/get","params":{"name":"$secret",$meta}}`},
	{name: "params of a wrong type", line: `{"jsonrpc":"2.0","id":$id,"method":"tools/call","params":"$secret"}`},
	{name: "params of a wrong inner type", line: `{"jsonrpc":"2.0","id":$id,"method":"tools/call","params":{"name":{"x":"$secret"},$meta}}`},
	{name: "version", line: `{"jsonrpc":"$secret","id":$id,"method":"tools/list","params":{$meta}}`},
	{name: "duplicate member", line: `{"jsonrpc":"2.0","id":$id,"method":"tools/list","params":{"$secret":1,"$secret":2,$meta}}`},
}

// plant is one secret in one failure.
type plant struct {
	way          way
	kind, secret string
	text         string
}

// edge is the length at which messages are truncated.
const edge = limits.Message

// plants returns every kind of secret in every way, at varying positions in the text, and across the length at which texts are
// truncated.
func plants(r *rand.Rand) (all []plant) {
	for i, maker := range planted.Makers {
		if testing.Short() && i%4 != 0 {
			continue
		}
		for j, w := range toolWays {
			secret := maker.Make(r)
			all = append(all, plant{w, maker.Kind, secret, planted.Templates[(i+j)%len(planted.Templates)].Text(secret)})
			if w.name == "error" || w.name == "text of a failed result" || w.name == "message of a JSON-RPC error" {
				secret := maker.Make(r)
				all = append(all, plant{w, maker.Kind, secret, planted.Across(edge, i+j, secret)})
			}
		}
		for _, w := range clientWays {
			all = append(all, plant{w, maker.Kind, maker.Make(r), ""})
		}
	}
	return all
}

// leakyServer returns a server with a tool that fails as a plant specifies, and a tool with a schema.
func leakyServer(all []plant, logger *slog.Logger) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "leaky", Version: "1"}, &mcp.ServerOptions{Logger: logger})
	s.AddPrompt(&mcp.Prompt{Name: "greet"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) { return nil, nil })
	s.AddTool(&mcp.Tool{Name: "leak", InputSchema: &jsonschema.Schema{Type: "object"}},
		func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var in struct{ N int }
			if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
				return nil, err
			}
			return all[in.N].way.fail(all[in.N].text, all[in.N].secret)
		})
	mcp.AddTool(s, &mcp.Tool{Name: "strict", InputSchema: &jsonschema.Schema{Type: "object", Required: []string{"mode"},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
		Properties: map[string]*jsonschema.Schema{"mode": {Type: "string", Enum: []any{"r", "w"}}, "n": {Type: "integer"},
			"key": {Type: "string", MaxLength: new(3)}}}},
		func(context.Context, *mcp.CallToolRequest, map[string]any) (*mcp.CallToolResult, any, error) {
			return nil, nil, nil
		})
	return s
}

// requests returns the request of each plant; its id is the index of the plant.
func requests(all []plant) []string {
	lines := make([]string, len(all))
	for i, p := range all {
		line := p.way.line
		if line == "" {
			line = fmt.Sprintf(`{"jsonrpc":"2.0","id":$id,"method":"tools/call","params":{"name":"leak","arguments":{"n":%d},$meta}}`, i)
		}
		lines[i] = strings.NewReplacer("$id", fmt.Sprint(i), "$secret", p.secret, "$meta", statelessMeta).Replace(line)
	}
	return lines
}

const statelessMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// overPipes sends lines to a server with a boundary and returns its answers by id; answers without an id are under -1.
func overPipes(t *testing.T, server *mcp.Server, o boundary.Options, lines []string) map[int]string {
	t.Helper()
	fromClient, in := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan error, 1)
	b := boundary.Install(server, o)
	go func() { ended <- server.Run(context.Background(), b.Transport(fromClient, out)) }()
	end := func() { _ = in.Close() } // calls that are open at the end of the input have a limited time
	late := time.AfterFunc(5*time.Minute, end)
	defer late.Stop()
	go func() {
		for _, line := range lines {
			if _, err := io.WriteString(in, line+"\n"); err != nil {
				t.Error(err)
				break
			}
		}
	}()
	answers := map[int]string{}
	scan := bufio.NewScanner(fromServer)
	scan.Buffer(nil, 16<<20)
	for scan.Scan() {
		m := struct{ ID *int }{}
		if err := json.Unmarshal(scan.Bytes(), &m); err != nil {
			t.Errorf("%v in %s", err, scan.Bytes())
		}
		id := -1
		if m.ID != nil {
			id = *m.ID
		}
		answers[id] += scan.Text() + "\n"
		if len(answers) == len(lines) {
			end()
		}
	}
	if err := <-ended; err != nil {
		t.Errorf("the session ended with %v", err)
	}
	return answers
}

// TestR12NoPlantedSecretIsShown searches all outputs for every planted secret.
func TestR12NoPlantedSecretIsShown(t *testing.T) {
	all := plants(rand.New(rand.NewPCG(7, 8)))
	dir := t.TempDir()
	trail, err := ledger.Open(dir, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	counts, err := meter.New(meter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	log := &planted.Page{}
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	answers := overPipes(t, leakyServer(all, logger), boundary.Options{Ledger: trail, Meter: counts, Logger: logger}, requests(all))
	if err := trail.Close(); err != nil {
		t.Error(err)
	}
	kinds := map[string]bool{}
	leaks := map[string]int{}
	for i, p := range all {
		kinds[p.kind] = true
		if answers[i] == "" {
			t.Fatalf("%s: no answer", p.way.name)
		}
		if piece := planted.Leaked(answers[i], p.secret); piece != "" {
			if leaks[p.way.name]++; leaks[p.way.name] == 1 {
				t.Errorf("%s (%s): the client sees %q of %q in %s", p.way.name, p.kind, piece, p.secret, answers[i])
			}
		}
	}
	for name, n := range leaks {
		t.Errorf("%s: %d secrets reached the client", name, n)
	}
	kept, err := planted.Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	left := planted.NewSweep()
	for _, p := range all {
		left.Add(planted.Secret{Way: p.way.name, Kind: p.kind, Text: p.secret})
	}
	for where, text := range map[string]string{"the metrics": string(counts.AppendStats(nil)), "the log": log.String(), "the ledger": kept} {
		for _, leak := range left.Over(where, text) {
			t.Error(leak)
		}
	}
	t.Logf("%d secrets of %d kinds in %d ways; %d bytes in the ledger, %d in the log", len(all), len(kinds), len(toolWays)+len(clientWays),
		len(kept), len(log.String()))
	if !testing.Short() && (len(all) < 1000 || len(kinds) < 40) {
		t.Error("too few secrets to mean anything")
	}
}

// TestR12NoDialectShowsASecret enables all optional output, in every dialect.
func TestR12NoDialectShowsASecret(t *testing.T) {
	all := plants(rand.New(rand.NewPCG(13, 14)))
	quiet := slog.New(slog.DiscardHandler)
	for k, name := range dialect.Names() {
		var some []plant
		for i := k; i < len(all); i += 13 { // in each dialect other kinds of secrets, in every way
			some = append(some, all[i])
		}
		d, err := dialect.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		o := boundary.Options{Dialect: d, Sep3313: true, Stack: candor.StackPolicy{Debug: true, Verbose: -1}, Logger: quiet}
		answers := overPipes(t, leakyServer(some, quiet), o, requests(some))
		for i, p := range some {
			if piece := planted.Leaked(answers[i], p.secret); piece != "" || answers[i] == "" {
				t.Errorf("%s, %s (%s): the client sees %q of %q in %q", name, p.way.name, p.kind, piece, p.secret, answers[i])
			}
		}
	}
}

// TestR12ResultsOfOtherSDKsLeaveWithoutSecrets plants secrets in the results and errors of handlers of [boundary.Boundary.CallTool].
func TestR12ResultsOfOtherSDKsLeaveWithoutSecrets(t *testing.T) {
	b := boundary.New(boundary.Options{Logger: slog.New(slog.DiscardHandler)})
	for _, p := range plants(rand.New(rand.NewPCG(11, 12))) {
		if p.way.fail == nil || strings.HasPrefix(p.way.name, "panic") {
			continue
		}
		result, err := p.way.fail(p.text, p.secret)
		var raw json.RawMessage
		if result != nil {
			raw, _ = json.Marshal(result)
		}
		out, _ := b.CallTool(t.Context(), boundary.Call{Tool: "leak"}, func(context.Context) (json.RawMessage, error) { return raw, err })
		if piece := planted.Leaked(string(out), p.secret); piece != "" {
			t.Fatalf("%s (%s): the client sees %q of %q in %s", p.way.name, p.kind, piece, p.secret, out)
		}
	}
}

// TestSecretOverTwoBlocksIsNotShown names a secret at the end of one block of a failure and begins the next with it.
func TestSecretOverTwoBlocksIsNotShown(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "leaky", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "leak", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "no login with password="}, &mcp.TextContent{Text: "hunter2pw99 at db"},
			&mcp.TextContent{Text: "Authorization: Bearer"}, &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "a://b", Text: "hunter2pw98"}}}}, nil
	})
	answer := string(talkTo(t, server, boundary.Options{Logger: slog.New(slog.DiscardHandler)}).ask("tools/call", `{"name":"leak","arguments":{}}`))
	if strings.Contains(answer, "hunter2pw9") || !strings.Contains(answer, "at db") {
		t.Errorf("%s", answer)
	}
}
