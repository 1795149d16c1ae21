package conformance_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/tools/conformance"
)

// call is one tool call and the outcome that its application must see.
type call struct {
	conformance.Call

	wantCode  string // "" is a success
	wantRetry string
	wantAfter int64
	wantText  string // in the first block, in addition to the code
	thrown    int    // the JSON-RPC code, for errors other than tool failures
}

// calls returns the calls that every client makes. A client must not throw for a tool's failure, and must throw for an
// unknown tool.
func calls() []call {
	path := func(tool string, path any) conformance.Call {
		return conformance.Call{Name: tool, Arguments: map[string]any{"path": path}}
	}
	var all []call
	for _, suffix := range []string{"", schemaSuffix} {
		all = append(all,
			call{Call: path("works"+suffix, "a")},
			call{Call: path("plain"+suffix, "a"), wantCode: "INTERNAL_ERROR", wantRetry: "not_retryable", wantText: "disk on fire"},
			call{Call: path("limited"+suffix, "a"), wantCode: "RATE_LIMITED", wantRetry: "retryable_after_ms", wantAfter: 1500,
				wantText: "one call in two seconds, please"},
			call{Call: path("wrapped"+suffix, "a"), wantCode: "NOT_FOUND", wantRetry: "not_retryable", wantText: "there is no such book"},
			call{Call: path("panics"+suffix, "a"), wantCode: "INTERNAL_ERROR", wantRetry: "not_retryable"},
			call{Call: path("works"+suffix, 5), wantCode: "INVALID_ARGUMENTS", wantRetry: "not_retryable", wantText: "/path"},
		)
	}
	return append(all, call{Call: path("no_such_tool", "a"), wantCode: "TOOL_NOT_FOUND", wantRetry: "not_retryable", thrown: jsonrpc.CodeInvalidParams})
}

// canonical has the fields of the error that an application needs to decide how to react.
type canonical struct {
	Code  string `json:"code"`
	Retry struct {
		Kind    string `json:"kind"`
		AfterMs int64  `json:"afterMs"`
	} `json:"retry"`
}

func stdio() conformance.Door {
	return conformance.Door{Command: []string{os.Args[0]}, Env: serveEnvironment()}
}

func TestGoClientReadsEveryError(t *testing.T) {
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version+"/stdio", func(t *testing.T) { judge(t, lookGo(t, version, stdio())) })
		t.Run(version+"/http", func(t *testing.T) { judge(t, lookGo(t, version, conformance.Door{URL: serveHTTP(t)})) })
	}
}

func TestTypeScriptV1ClientReadsEveryError(t *testing.T) { judgeClient(t, conformance.V1) }

func TestTypeScriptV2ClientReadsEveryError(t *testing.T) {
	for _, c := range []conformance.Client{conformance.V2Legacy, conformance.V2Modern} {
		t.Run(c.Version, func(t *testing.T) { judgeClient(t, c) })
	}
}

func judgeClient(t *testing.T, c conformance.Client) {
	t.Helper()
	box, err := conformance.OpenToolbox()
	conformance.OkOrSkip(t, err)
	application, err := box.Application(t.Context(), c, t.TempDir())
	conformance.OkOrSkip(t, err)
	for name, open := range map[string]func() conformance.Door{
		"stdio": stdio, "http": func() conformance.Door { return conformance.Door{URL: serveHTTP(t)} },
	} {
		t.Run(name, func(t *testing.T) {
			var made []conformance.Call
			for _, c := range calls() {
				made = append(made, c.Call)
			}
			seen, err := application.Look(t.Context(), open(), made)
			if err != nil {
				t.Fatal(err)
			}
			judge(t, seen.Calls)
		})
	}
}

func judge(t *testing.T, seen []conformance.Sight) {
	t.Helper()
	for i, want := range calls() {
		t.Run(want.Name, func(t *testing.T) { judgeOne(t, want, seen[i]) })
	}
}

func judgeOne(t *testing.T, want call, got conformance.Sight) {
	t.Helper()
	if want.wantCode == "" {
		if got.Thrown != nil || got.IsError || got.Error != nil || got.Text == "" {
			t.Errorf("a success was seen as %+v", got)
		}
		return
	}
	switch {
	case want.thrown == 0 && got.Thrown != nil:
		t.Fatalf("a tool's failure was thrown: %+v", *got.Thrown)
	case want.thrown != 0 && (got.Thrown == nil || got.Thrown.Code != want.thrown):
		t.Fatalf("want %d thrown, got %+v", want.thrown, got)
	case want.thrown == 0 && !got.IsError:
		t.Error("isError is not set")
	}
	read := readCanonical(t, got.Error)
	if read == nil {
		t.Fatalf("the application cannot read the error: %+v", got)
	}
	if read.Code != want.wantCode || read.Retry.Kind != want.wantRetry || read.Retry.AfterMs != want.wantAfter {
		t.Errorf("read %+v, want code %s, retry %s %d", *read, want.wantCode, want.wantRetry, want.wantAfter)
	}
	if want.thrown == 0 && (!strings.Contains(got.Text, want.wantCode) || !strings.Contains(got.Text, want.wantText)) {
		t.Errorf("the first block is %q, want %s and %q in it", got.Text, want.wantCode, want.wantText)
	}
	judgeStructured(t, got)
}

// judgeStructured checks that an error has no structuredContent. The first generation of the TypeScript client
// validates it against the tool's outputSchema even for errors, and discards the actual error.
func judgeStructured(t *testing.T, got conformance.Sight) {
	t.Helper()
	if len(got.Structured) > 0 {
		t.Errorf("structuredContent is %s, want none", got.Structured)
	}
}

// toolOrSkip returns Node and the directory of a package, or skips the test and names the missing tool.
func toolOrSkip(t *testing.T, p conformance.Package) (node, modules string) {
	t.Helper()
	box, err := conformance.OpenToolbox()
	if err == nil {
		node, err = box.Node(t.Context())
	}
	if err == nil {
		modules, err = box.Modules(p)
	}
	conformance.OkOrSkip(t, err)
	return node, modules
}

func lookGo(t *testing.T, version string, d conformance.Door) []conformance.Sight {
	t.Helper()
	var transport mcp.Transport = &mcp.StreamableClientTransport{Endpoint: d.URL}
	if d.URL == "" {
		cmd := exec.CommandContext(t.Context(), d.Command[0], d.Command[1:]...)
		cmd.Env = append(os.Environ(), d.Env...)
		transport = &mcp.CommandTransport{Command: cmd}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "look-go", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := session.ListTools(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	var seen []conformance.Sight
	for _, c := range calls() {
		seen = append(seen, outcomeGo(t.Context(), t, session, c))
	}
	return seen
}

func outcomeGo(ctx context.Context, t *testing.T, session *mcp.ClientSession, c call) conformance.Sight {
	t.Helper()
	seen := conformance.Sight{Tool: c.Name}
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: c.Name, Arguments: c.Arguments})
	if err != nil {
		seen.Thrown = &conformance.Thrown{Message: err.Error()}
		if e := (*jsonrpc.Error)(nil); errors.As(err, &e) {
			seen.Thrown.Code = int(e.Code)
			var data map[string]json.RawMessage
			if json.Unmarshal(e.Data, &data) == nil {
				seen.Error = data[dialect.MetaKey]
			}
		}
		return seen
	}
	seen.IsError = result.IsError
	if text, ok := result.Content[0].(*mcp.TextContent); ok {
		seen.Text = text.Text
	}
	if result.StructuredContent != nil {
		seen.Structured = reencode(t, result.StructuredContent)
	}
	if found, ok := result.Meta[dialect.MetaKey]; ok {
		seen.Error = reencode(t, found)
	}
	return seen
}

func readCanonical(t *testing.T, raw json.RawMessage) *canonical {
	t.Helper()
	if raw == nil {
		return nil
	}
	var c canonical
	if err := json.Unmarshal(raw, &c); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return &c
}

func reencode(t *testing.T, v any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
