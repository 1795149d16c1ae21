package boundary

import (
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/internal/httpguard"
)

// httpDoors lists the ways in which the SDK serves HTTP, and the boundary's handler for both eras.
var httpDoors = []struct {
	name    string
	newEra  bool
	handler func(*Boundary, *mcp.Server) http.Handler
}{
	{"sessions, events", false, streamable(mcp.StreamableHTTPOptions{})},
	{"stateless, old era", false, streamable(mcp.StreamableHTTPOptions{Stateless: true})},
	{"stateless, JSON", true, streamable(mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})},
	{"both eras, old one", false, bothEras},
	{"both eras, new one", true, bothEras},
}

// httpMatrix is PROTOCOL 1.3 over HTTP: requests and the expected responses.
var httpMatrix = []struct {
	name, method, params string
	code                 string
	number               int64 // number of the JSON-RPC error; 0 for a result with isError
	status, newStatus    int   // in the old era and in the new one
}{
	{"plain error, typed", "tools/call", `{"name":"typed","arguments":{"path":"fire","mode":"r"}}`, "INTERNAL_ERROR", 0, 200, 200},
	{"plain error, raw", "tools/call", `{"name":"plain"}`, "INTERNAL_ERROR", 0, 200, 200},
	{"nil, nil", "tools/call", `{"name":"nothing"}`, "EMPTY_RESULT", 0, 200, 200},
	{"panic", "tools/call", `{"name":"panics"}`, "INTERNAL_ERROR", 0, 200, 200},
	{"numbered", "tools/call", `{"name":"rpc"}`, "E_PW_NAV", 2100, 200, 200},
	{"wrapped, typed", "tools/call", `{"name":"typed","arguments":{"path":"navigate","mode":"r"}}`, "E_PW_NAV", 0, 200, 200},
	{"wrapped, raw", "tools/call", `{"name":"wrapped"}`, "E_PW_NAV", 2100, 200, 200},
	{"not encodable", "tools/call", `{"name":"unwritable"}`, "RESULT_NOT_ENCODABLE", 0, 200, 200},
	{"not a number", "tools/call", `{"name":"nan"}`, "RESULT_NOT_ENCODABLE", 0, 200, 200},
	{"output schema", "tools/call", `{"name":"promises"}`, "OUTPUT_INVALID", 0, 200, 200},
	{"unknown tool", "tools/call", `{"name":"ecco"}`, "TOOL_NOT_FOUND", -32602, 200, 400},
	{"unknown method", "foo/bar", `{}`, "METHOD_NOT_FOUND", -32601, 400, 404},
	{"schema violation", "tools/call", `{"name":"echo","arguments":{"text":5,"more":1}}`, "INVALID_ARGUMENTS", 0, 200, 200},
	{"arguments not an object", "tools/call", `{"name":"echo","arguments":"hello"}`, "INVALID_ARGUMENTS", 0, 200, 200},
	{"params of the wrong type", "prompts/list", `{"cursor":5}`, "INVALID_REQUEST_PARAMS", -32602, 200, 400},
	{"params missing", "tools/call", "", "INVALID_REQUEST_PARAMS", -32602, 400, 400},
	{"unknown resource", "resources/read", `{"uri":"file:///missing"}`, "RESOURCE_NOT_FOUND", -32602, 200, 400},
	{"resource handler", "resources/read", `{"uri":"file:///broken"}`, "INTERNAL_ERROR", -32603, 200, 200},
	{"unknown prompt", "prompts/get", `{"name":"zzz"}`, "PROMPT_NOT_FOUND", -32602, 200, 400},
	{"prompt handler", "prompts/get", `{"name":"broken"}`, "INTERNAL_ERROR", -32603, 200, 200},
	{"bad cursor", "tools/list", `{"cursor":"%%%"}`, "INVALID_CURSOR", -32602, 200, 400},
	{"completion unsupported", "completion/complete", `{"ref":{"type":"ref/prompt","name":"broken"},"argument":{"name":"a","value":"b"}}`,
		"METHOD_NOT_FOUND", -32601, 200, 404},
}

func TestEveryFailureOverHTTPIsReadableRecordedAndCountedOnce(t *testing.T) {
	for _, door := range httpDoors {
		t.Run(door.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, door.handler, nil)
			r.newEra = door.newEra
			if !door.newEra {
				r.initialize(t)
			}
			for _, row := range httpMatrix {
				t.Run(row.name, func(t *testing.T) {
					before, _, _ := r.totals()
					res := r.call(t, "7", row.method, row.params)
					status := row.status
					if door.newEra {
						status = row.newStatus
					}
					if res.status != status {
						t.Errorf("status %d, want %d", res.status, status)
					}
					if kind := httpguard.MediaType(res.header); status >= 400 && kind != "application/json" {
						t.Errorf("Content-Type %s", kind)
					}
					if res.number() != row.number {
						t.Errorf("number %d, want %d", res.number(), row.number)
					}
					if res.id() != "7" {
						t.Errorf("id %s", res.id())
					}
					entries, counts, _ := r.totals()
					if entries != before+1 || counts != entries {
						t.Errorf("%d new entries, %d entries and %d counts in all", entries-before, entries, counts)
					}
					e := res.failure(t)
					if row.code == "RESOURCE_NOT_FOUND" { // clients recognise it by its exact form, which is kept
						e = r.last()
					}
					if e == nil || e.Code().Symbol() != row.code || e.Ref() != r.last().Ref() {
						t.Errorf("envelope %v, recorded %v", e, r.last())
					}
					if t.Failed() {
						t.Logf("%s", res.body)
					}
				})
			}
			if res := r.call(t, "8", "tools/call", `{"name":"echo","arguments":{"text":"still here"}}`); !strings.Contains(string(res.message), "still here") {
				t.Errorf("the server is gone: %d %s", res.status, res.body)
			}
		})
	}
}

// unreadable lists bodies that are not messages.
var unreadable = []struct {
	name, body, code string
	number           int64
	id               string
}{
	{"no JSON", `hello world`, "PARSE_ERROR", -32700, ""},
	{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "BATCH_UNSUPPORTED", -32600, ""},
	{"no version", `{"id":1,"method":"ping"}`, "INVALID_REQUEST", -32600, "1"},
}

func TestAnUnreadableBodyIsAnsweredAsJSONRPC(t *testing.T) {
	for _, door := range httpDoors {
		t.Run(door.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, door.handler, nil)
			if r.newEra = door.newEra; !door.newEra {
				r.initialize(t)
			}
			for i, row := range unreadable {
				res := r.do(t, http.MethodPost, row.body)
				e := res.failure(t)
				if res.status != 400 || e == nil || e.Code().Symbol() != row.code || res.number() != row.number || res.id() != row.id {
					t.Errorf("%s: %d %s", row.name, res.status, res.body)
				}
				if httpguard.MediaType(res.header) != "application/json" {
					t.Errorf("%s: %s", row.name, res.header.Get("Content-Type"))
				}
				if entries, counts, _ := r.totals(); entries != i+1 || counts != i+1 {
					t.Errorf("%s: %d entries, %d counts, want %d", row.name, entries, counts, i+1)
				}
			}
			if res := r.call(t, "8", "tools/list", `{}`); res.status != 200 {
				t.Errorf("the session is gone: %s", res.body)
			}
		})
	}
}

func TestRowsOfOneEra(t *testing.T) {
	old, both := newRig(t, streamable(mcp.StreamableHTTPOptions{}), nil), newRig(t, bothEras, nil)
	old.initialize(t)
	both.newEra = true
	header := []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list"}
	with := func(over ...string) []string { return append(append([]string(nil), header...), over...) }
	list := request("7", "tools/list", `{"_meta":`+clientMeta+`}`)
	for _, row := range []struct {
		name   string
		res    httpReply
		status int
		number int64
		code   string
		id     string
	}{
		{"a session that is gone", old.do(t, "POST", request("7", "ping", ""), "Mcp-Session-Id", "nope"), 404, 1004, "E_SESSION_NOT_FOUND", ""},
		{"an old version that never was", old.do(t, "POST", request("7", "ping", ""), "Mcp-Protocol-Version", "2020-01-01"), 400, -32022, "PROTOCOL_VERSION_UNSUPPORTED", "7"},
		{"the new era at an old door", old.do(t, "POST", list, header...), 400, -32022, "PROTOCOL_VERSION_UNSUPPORTED", "7"},
		{"no event streams wanted", old.do(t, "POST", request("7", "ping", ""), "Accept", "application/json"), 400, 4078, "MEDIA_TYPE_UNSUPPORTED", "7"},
		{"an unknown notification", old.do(t, "POST", request("", "notifications/nope", "")), 400, -32601, "METHOD_NOT_FOUND", ""},
		{"before initialize", old.do(t, "POST", request("7", "tools/list", `{}`), "Mcp-Session-Id", ""), 200, -32600, "NOT_INITIALIZED", "7"},
		{"a version to come", both.do(t, "POST", strings.ReplaceAll(list, "2026-07-28", "2099-01-01"), with("Mcp-Protocol-Version", "2099-01-01")...), 400, -32022, "PROTOCOL_VERSION_UNSUPPORTED", "7"},
		{"a method in the header only", both.do(t, "POST", list, with("Mcp-Method", "tools/call")...), 400, -32020, "HEADER_MISMATCH", "7"},
		{"a version in the body only", both.do(t, "POST", list), 400, -32020, "HEADER_MISMATCH", "7"},
		{"no client capabilities", both.do(t, "POST", request("7", "tools/list", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`), header...), 400, -32602, "INVALID_REQUEST_PARAMS", "7"},
		{"ping", both.call(t, "7", "ping", "{}"), 404, -32601, "METHOD_NOT_FOUND", "7"},
	} {
		e := row.res.failure(t)
		if row.res.status != row.status || row.res.number() != row.number || row.res.id() != row.id || e == nil || e.Code().Symbol() != row.code {
			t.Errorf("%s: %d %s", row.name, row.res.status, row.res.body)
		}
	}
	if entries, counts, _ := old.totals(); entries != 6 || counts != 6 {
		t.Errorf("%d entries, %d counts at the old door", entries, counts)
	}
	if entries, counts, _ := both.totals(); entries != 5 || counts != 5 {
		t.Errorf("%d entries, %d counts at the door of both eras", entries, counts)
	}
}

func TestIDsComeBackAsTheyWereSent(t *testing.T) {
	ids := []string{`0`, `-5`, `-0`, `1.5`, `1.0`, `1e3`, `9007199254740992`, `9007199254740993`, `123456789012345678901234567890`,
		`""`, `"a b"`, `"9007199254740993"`, `"\u00e9"`}
	for _, door := range httpDoors {
		t.Run(door.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, door.handler, nil)
			if r.newEra = door.newEra; !door.newEra {
				r.initialize(t)
			}
			for _, id := range ids {
				for _, call := range [][2]string{{"tools/list", `{}`}, {"foo/bar", `{}`}, {"tools/call", `{"name":"plain"}`}, {"resources/read", `{"uri":5}`}} {
					res := r.call(t, id, call[0], call[1])
					want := strings.ReplaceAll(id, `\u00e9`, "é")
					if got := strings.ReplaceAll(res.id(), `\u00e9`, "é"); got != want {
						t.Errorf("%s: %s came back as %s\n%s", call[0], id, got, res.body)
					}
				}
			}
		})
	}
}
