package conformance_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/candor-mcp/candor/internal/tools/conformance"
)

// These tests validate every answer of the fail server, as sent, against the JSON Schema of its protocol version. The
// schemas are the official ones, from the conformance suite.

func TestEveryAnswerFitsTheProtocolSchema(t *testing.T) {
	schemas := protocolSchemas(t)
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		s, ok := schemas[version]
		if !ok {
			t.Fatalf("the suite has no schema of %s", version)
		}
		asked := requests(t, version)
		t.Run(version+"/stdio", func(t *testing.T) { s.judge(t, asked, exchangeLines(t, asked)) })
		t.Run(version+"/http", func(t *testing.T) { s.judge(t, asked, exchangePosts(t, version, asked)) })
	}
}

// request is a message to send, and whether it must be answered.
type request struct {
	name, method string
	message      string
	silent       bool
}

// requests returns the calls that every client makes, and messages that no client would send.
func requests(t *testing.T, version string) []request {
	t.Helper()
	var all []request
	add := func(name, method string, params map[string]any) {
		if version >= "2026" && params != nil {
			params["_meta"] = map[string]any{
				"io.modelcontextprotocol/protocolVersion":    version,
				"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "raw", "version": "1"},
				"io.modelcontextprotocol/clientCapabilities": map[string]any{},
			}
		}
		message := map[string]any{"jsonrpc": "2.0", "id": len(all) + 1, "method": method}
		if params != nil {
			message["params"] = params
		}
		all = append(all, request{name: name, method: method, message: string(reencode(t, message))})
	}
	if version < "2026" {
		add("initialize", "initialize", map[string]any{"protocolVersion": version, "capabilities": map[string]any{},
			"clientInfo": map[string]any{"name": "raw", "version": "1"}})
		all = append(all, request{name: "initialized", silent: true, message: `{"jsonrpc":"2.0","method":"notifications/initialized"}`})
	} else {
		add("discover", "server/discover", map[string]any{})
	}
	add("list", "tools/list", map[string]any{})
	for _, c := range calls() {
		add(c.Name, "tools/call", map[string]any{"name": c.Name, "arguments": c.Arguments})
	}
	add("arguments are text", "tools/call", map[string]any{"name": "works", "arguments": "hello"})
	add("name is a number", "tools/call", map[string]any{"name": 5})
	add("no params", "tools/call", nil)
	add("unknown method", "no/such", map[string]any{})
	add("unknown resource", "resources/read", map[string]any{"uri": "file:///missing"})
	add("unknown prompt", "prompts/get", map[string]any{"name": "none"})
	all = append(all,
		request{name: "not JSON", message: "hello world"},
		request{name: "no request", message: `{"hello":"world"}`},
		request{name: "batch", message: `[{"jsonrpc":"2.0","id":90,"method":"tools/list"}]`},
	)
	add("still alive", "tools/list", map[string]any{})
	return all
}

// exchangeLines sends the requests to the server over stdio, one after the other.
func exchangeLines(t *testing.T, asked []request) [][]byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a missing answer fails the test instead of blocking the run
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), serveEnvironment()...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	answers := make([][]byte, len(asked))
	for i, r := range asked {
		if _, err := io.WriteString(in, r.message+"\n"); err != nil {
			t.Fatalf("%s: %v", r.name, err)
		}
		if r.silent {
			continue
		}
		if answers[i], err = lines.ReadBytes('\n'); err != nil {
			t.Fatalf("%s is not answered: %v", r.name, err)
		}
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	return answers
}

// exchangePosts sends the requests to the server over streamable HTTP.
func exchangePosts(t *testing.T, version string, asked []request) [][]byte {
	t.Helper()
	url := serveHTTP(t)
	answers := make([][]byte, len(asked))
	session := ""
	for i, r := range asked {
		post, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(r.message))
		if err != nil {
			t.Fatal(err)
		}
		setHeaders(t, post.Header, version, r)
		if session != "" {
			post.Header.Set("Mcp-Session-Id", session)
		}
		answer, err := http.DefaultClient.Do(post)
		if err != nil {
			t.Fatalf("%s: %v", r.name, err)
		}
		if id := answer.Header.Get("Mcp-Session-Id"); id != "" {
			session = id
		}
		body, err := io.ReadAll(answer.Body)
		if err := answer.Body.Close(); err != nil {
			t.Error(err)
		}
		if err != nil {
			t.Fatalf("%s: %v", r.name, err)
		}
		if !r.silent {
			answers[i] = messageOf(t, r, answer, body)
		}
	}
	return answers
}

func setHeaders(t *testing.T, h http.Header, version string, r request) {
	t.Helper()
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, text/event-stream")
	if r.method != "initialize" {
		h.Set("Mcp-Protocol-Version", version)
	}
	if version < "2026" || r.method == "" {
		return
	}
	h.Set("Mcp-Method", r.method)
	var message struct {
		Params struct {
			Name json.RawMessage `json:"name"`
			URI  string          `json:"uri"`
		} `json:"params"`
	}
	if err := json.Unmarshal([]byte(r.message), &message); err != nil {
		t.Fatal(err)
	}
	if name := strings.Trim(string(message.Params.Name), `"`) + message.Params.URI; name != "" {
		h.Set("Mcp-Name", name)
	}
}

// messageOf returns the only message of a body, which is JSON or an event stream.
func messageOf(t *testing.T, r request, answer *http.Response, body []byte) []byte {
	t.Helper()
	media, _, _ := strings.Cut(answer.Header.Get("Content-Type"), ";")
	switch media {
	case "application/json":
		return body
	case "text/event-stream":
		for line := range bytes.Lines(body) {
			if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok && bytes.Contains(data, []byte(`"jsonrpc"`)) {
				return data
			}
		}
	}
	t.Errorf("%s is answered with %s, %q: %s", r.name, answer.Status, media, body)
	return nil
}

// protocolSchema is the schema of one protocol version.
type protocolSchema struct {
	definitions map[string]definition
	compiler    *jsonschema.Compiler
	address     string
}

// definition has the parts of a schema definition that identify its purpose.
type definition struct {
	Properties struct {
		Method struct{ Const string }
		Code   struct{ Const int }
		Error  struct {
			AllOf []struct {
				Properties struct{ Code struct{ Const int } }
			}
		}
	}
}

func protocolSchemas(t *testing.T) map[string]*protocolSchema {
	t.Helper()
	node, modules := toolOrSkip(t, conformance.Alpha)
	bundle := filepath.Join(modules, filepath.FromSlash(conformance.Alpha.Name), "dist", "index.js")
	out, err := exec.CommandContext(t.Context(), node, filepath.Join("clients", "schemas.mjs"), bundle).Output()
	if err != nil {
		t.Fatalf("reading the schemas: %v", err)
	}
	var texts map[string]json.RawMessage
	if err := json.Unmarshal(out, &texts); err != nil {
		t.Fatal(err)
	}
	schemas := map[string]*protocolSchema{}
	for version, text := range texts {
		s := &protocolSchema{address: "mcp://" + version + "/schema.json", compiler: jsonschema.NewCompiler()}
		var outline struct {
			Defs map[string]definition `json:"$defs"`
		}
		if err := json.Unmarshal(text, &outline); err != nil {
			t.Fatal(err)
		}
		s.definitions = outline.Defs
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.compiler.AddResource(s.address, document); err != nil {
			t.Fatal(err)
		}
		schemas[version] = s
	}
	return schemas
}

func (s *protocolSchema) judge(t *testing.T, asked []request, answers [][]byte) {
	t.Helper()
	judged := 0
	for i, r := range asked {
		if r.silent || answers[i] == nil {
			continue
		}
		judged++
		if asked, answered := idOf(r.message), idOf(string(answers[i])); asked != answered {
			t.Errorf("%s: asked with id %q, answered with id %q: %s", r.name, asked, answered, answers[i])
		}
		for _, complaint := range s.complaints(t, r.method, answers[i]) {
			t.Errorf("%s: %s\n%s", r.name, complaint, answers[i])
		}
	}
	t.Logf("%d answers held against the schema", judged)
}

// idOf returns the id of a message, "" if it has none or the id cannot be read.
func idOf(message string) string {
	var m struct{ ID json.RawMessage }
	if json.Unmarshal([]byte(message), &m) != nil {
		return ""
	}
	return string(m.ID)
}

// complaints lists the schema violations of the answer to a method. An answer is checked as a response and, depending
// on its content, as the result of the method or as the error with its code.
func (s *protocolSchema) complaints(t *testing.T, method string, answer []byte) []string {
	t.Helper()
	var response struct{ Result, Error json.RawMessage }
	if err := json.Unmarshal(answer, &response); err != nil {
		return []string{err.Error()}
	}
	if response.Error == nil {
		return append(s.check(t, "JSONRPCResultResponse", answer), s.check(t, s.resultOf(method), response.Result)...)
	}
	found := s.check(t, "JSONRPCErrorResponse", answer)
	var e struct{ Code int }
	if err := json.Unmarshal(response.Error, &e); err != nil || e.Code == 0 {
		return append(found, "the code is no number, or 0")
	}
	for name, d := range s.definitions {
		if d.Properties.Code.Const == e.Code {
			found = append(found, s.check(t, name, response.Error)...)
		}
		for _, part := range d.Properties.Error.AllOf {
			if part.Properties.Code.Const == e.Code {
				found = append(found, s.check(t, name, answer)...)
			}
		}
	}
	return found
}

// resultOf returns the name of the definition of a method's result: CallToolResult if CallToolRequest has this method.
func (s *protocolSchema) resultOf(method string) string {
	for name, d := range s.definitions {
		if base, ok := strings.CutSuffix(name, "Request"); ok && d.Properties.Method.Const == method {
			return base + "Result"
		}
	}
	return "no result of " + method
}

func (s *protocolSchema) check(t *testing.T, name string, text []byte) []string {
	t.Helper()
	schema, err := s.compiler.Compile(s.address + "#/$defs/" + name)
	if err != nil {
		t.Fatalf("the schema of %q: %v", name, err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err == nil {
		err = schema.Validate(value)
	}
	if err != nil {
		return []string{fmt.Sprintf("is no %s: %v", name, err)}
	}
	return nil
}
