package dialect_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

// eachLiteral calls f with every input of the vectors that its dialect reads, as it was on the wire.
func eachLiteral(t *testing.T, f func(t *testing.T, from dialect.Dialect, input wire.Value)) {
	t.Helper()
	files, err := filepath.Glob("../spec/vectors/dialect/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var rows []vector
		if err := json.Unmarshal(raw, &rows); err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if row.Refused == "" {
				t.Run(filepath.Base(file)+"/"+row.Name, func(t *testing.T) {
					f(t, lookup(t, row.Dialect), parse(t, []byte(compact(t, row.Input))))
				})
			}
		}
	}
}

// TestTheWireGoesThroughAnyDialectAndComesBack checks that an error that was read from the wire and passed through another dialect
// is written in its own dialect with the same bytes, as a carrier and as a bare envelope.
func TestTheWireGoesThroughAnyDialectAndComesBack(t *testing.T) {
	eachLiteral(t, func(t *testing.T, a dialect.Dialect, input wire.Value) {
		first, err := a.Read(input)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range []dialect.Options{{}, fullView, {Response: true, ID: []byte("7"), Readable: true, Sep3313: true, Complete: true}} {
			carrier, bare := string(a.Write(nil, first, o)), string(a.Encode(nil, first, o))
			if again := string(a.Write(nil, read(t, a, []byte(carrier)), o)); again != carrier {
				t.Errorf("%s is no fixed point\nonce  %s\ntwice %s", a.Name(), carrier, again)
			}
			for _, name := range dialect.Names() {
				b := lookup(t, name)
				back := read(t, b, b.Write(nil, first, shown(o)))
				if name == "rpc" { // it shows only frames, not the text that another runtime prints around them
					back = back.With(candor.WithStack(first.Stack()))
				}
				if got := string(a.Write(nil, back, o)); got != carrier {
					t.Errorf("%s → %s → %s\nwant %s\n got %s", a.Name(), name, a.Name(), carrier, got)
				}
				if got := string(a.Encode(nil, back, o)); got != bare {
					t.Errorf("%s → %s → %s, bare\nwant %s\n got %s", a.Name(), name, a.Name(), bare, got)
				}
			}
		}
	})
}

// shown lets the dialect in the middle show the whole error, because parts that a writer hides are lost.
func shown(o dialect.Options) dialect.Options {
	o.PlainRoot, o.Stack = true, fullView.Stack
	return o
}

// literals are bare envelopes as the seed systems write them. added holds the members that the contract requires and these systems
// omit.
var literals = []struct{ dialect, envelope, added string }{
	{"system-error", `{"error_code":"FILE_READ_FAILED","human_message":"inner","role":"WINDSURF","session_id":"s","workspace_root":"/w",` +
		`"tool_name":"read_file","invariant_id":null,"phase_id":null,"plan_hash":null,` +
		`"cause":{"message":"inner","code":"ENOENT","name":"Error"},"timestamp":"2026-11-15T01:21:55.016Z"}`, ``},
	{"system-error", `{"error_code":"BOOTSTRAP_FAILURE","human_message":"Failed","role":null,"session_id":null,"workspace_root":null,` +
		`"tool_name":"startup","invariant_id":null,"phase_id":null,"plan_hash":null,"cause":null,"timestamp":"2026-11-15T01:21:55.016Z"}`, ``},
	{"system-error", `{"error_code":"INVARIANT_VIOLATION","human_message":"Failed","role":"ANTIGRAVITY","session_id":"s","workspace_root":"/w",` +
		`"tool_name":"write_file","invariant_id":"INV_1","phase_id":"PHASE_5A","plan_hash":"abc","cause":"a text","timestamp":"2026-11-15T01:21:55.016Z"}`, ``},
	{"tool-error", `{"code":"VALIDATION_ERROR","message":"Invalid input","retry":{"kind":"not_retryable"},"suggestion":"Check your input format",` +
		`"details":{"validationIssues":[{"path":"stateToken","message":"Required"}]}}`, ``},
	{"tool-error", `{"code":"TOKEN_INVALID_FORMAT","message":"Expected a continue token (ct_...).","retry":{"kind":"not_retryable"}}`, ``},
	{"tool-error", `{"code":"TOKEN_SESSION_LOCKED","message":"Session is locked by another process","retry":{"kind":"retryable_after_ms","afterMs":2000},` +
		`"suggestion":"Retry in a few seconds; if this persists >10s, ensure no other WorkRail process is running for this session."}`, ``},
	{"tool-error", `{"code":"NOT_FOUND","message":"Workflow not found: does-not-exist","retry":{"kind":"not_retryable"}}`, ``},
	{"tool-error", `{"code":"TIMEOUT","message":"late","retry":{"kind":"retryable_immediate"},"details":"text"}`, ``},
	{"tool-error", `{"code":"SESSION_NOT_HEALTHY","message":"corrupt","retry":{"kind":"not_retryable"},` +
		`"details":{"health":{"kind":"corrupt_tail","reason":{"code":"digest_mismatch","message":"Segment digest mismatch"}}}}`, ``},
	{"tool-error", `{"code":"VALIDATION_ERROR","message":"too large","retry":{"kind":"not_retryable"},` +
		`"details":{"kind":"context_budget_exceeded","tool":"continue_workflow","measuredBytes":262165,"maxBytes":262144,"measuredAs":"jcs_utf8_bytes"}}`, ``},
	{"rpc", `{"code":2300,"message":"invalid file","data":{"domain":"memory-bank","symbol":"E_MB_FILE_NOT_FOUND","details":"../secret"}}`, `{"retryable":false}`},
	{"rpc", `{"code":2400,"message":"triple store full","data":{"domain":"kg","symbol":"E_KG_FULL","retryable":true,"details":"1"}}`, ``},
	{"rpc", `{"code":3000,"message":"rate limit exceeded","data":{"domain":"rate-limit","symbol":"E_RL_EXCEEDED","details":"try later"}}`,
		`{"retryable":true,"retryAfterMs":1000}`},
	{"rpc", `{"code":-32602,"message":"Invalid params: level","data":{"allowed":["debug","info","warn","error"]}}`,
		`{"domain":"candor","symbol":"INVALID_REQUEST_PARAMS","retryable":false}`},
	{"rpc", `{"code":-32601,"message":"Method not found","data":{}}`, `{"domain":"candor","symbol":"METHOD_NOT_FOUND","retryable":false}`},
	{"rpc", `{"code":2100,"message":"Navigation failed","data":{"domain":"playwright","symbol":"E_PW_NAV","details":"net::ERR","retryable":true}}`, ``},
	{"rpc", `{"code":-32602,"message":"Resource not found","data":{"uri":"mem://a"}}`, ``},
}

func TestTheEnvelopesOfTheSeedsComeBackMemberForMember(t *testing.T) {
	for _, l := range literals {
		want := l.envelope
		if l.added != "" {
			want = withData(t, l.envelope, l.added)
		}
		d := lookup(t, l.dialect)
		e := read(t, d, []byte(l.envelope))
		sameJSON(t, want, string(d.Encode(nil, e, dialect.Options{})))
		for _, name := range dialect.Names() {
			b := lookup(t, name)
			back := read(t, b, b.Write(nil, e, shown(dialect.Options{})))
			sameJSON(t, want, string(d.Encode(nil, back, dialect.Options{})))
		}
	}
}

// withData adds members to data.
func withData(t *testing.T, envelope, added string) string {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(envelope), &v); err != nil {
		t.Fatal(err)
	}
	data, _ := v["data"].(map[string]any)
	if err := json.Unmarshal([]byte(added), &data); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
