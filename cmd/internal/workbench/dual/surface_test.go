package dual_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// inventory lists the tools in the audit of the original: 19 that throw and 8 that return their failures as data.
var inventory = map[string]string{
	"server_ping": "A", "server_health": "A", "thought_record": "A", "thought_record_list": "A", "audit_verify_chain": "A", "skill_list": "A",
	"reputation_get": "A", "reputation_history": "A", "reputation_leaderboard": "A", "reputation_check_gates": "A",
	"consensus_propose": "A", "consensus_vote": "A", "consensus_finality": "A", "consensus_gossip": "A", "vrf_eval": "A",
	"router_score": "A", "router_call": "A", "router_fallback": "A", "router_stats": "A",
	"task_create": "B", "task_get": "B", "task_update": "B", "task_list": "B", "task_next_actions": "B",
	"audit_session_start": "B", "merkle_finalize": "B", "merkle_root": "B",
}

// TestD1The27ToolsAreListedWithStrictSchemas lists the tools of the running server.
func TestD1The27ToolsAreListedWithStrictSchemas(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	m := s.Ask("tools/list", `{}`)
	listed := 0
	for tool := range m.Result().Path("tools").Elements() {
		listed++
		name, _ := tool.Path("name").Str()
		if inventory[name] == "" {
			t.Errorf("%s is not in the inventory", name)
		}
		schema := tool.Path("inputSchema")
		if open, set := schema.Path("additionalProperties").Bool(); !set || open || !schema.Path("type").Is("object") {
			t.Errorf("%s takes anything: %s", name, schema.Raw())
		}
		if tool.Path("outputSchema").Present() || !tool.Path("_meta", "dev.candor/codes").Present() {
			t.Errorf("%s: %s", name, tool.Raw())
		}
		s.call(name, args{"zz_unknown": 1}).isA("INVALID_PARAMS")
		for argument, property := range tool.Path("inputSchema", "properties").Members() {
			wrong := any(json.RawMessage(`{"1e400":1e400}`))
			if property.Path("type").Is("integer") {
				wrong = json.RawMessage(`1e400`)
			}
			named, _ := argument.Str()
			if a := s.call(name, args{named: wrong}).isA("INVALID_PARAMS"); !a.detail("issues", 0, "rule").Present() {
				t.Errorf("%s.%s: %s", name, named, a.detail().Raw())
			}
		}
	}
	for _, limit := range []string{"50.0", "1e2", "5E+1", "-0.0"} { // integers of JSON Schema
		a := s.call("thought_record_list", args{"limit": json.RawMessage(limit), "after": json.RawMessage("-0.0")})
		if limit == "-0.0" {
			a.isA("INVALID_PARAMS")
		} else {
			a.fine()
		}
	}
	if listed != 27 || len(inventory) != 27 {
		t.Errorf("%d tools are listed, %d are in the inventory, want 27", listed, len(inventory))
	}
	if n := s.call("server_health", args{}).fine().number("tools"); n != 27 {
		t.Errorf("server_health counts %d tools", n)
	}
}

// golden has the four reproductions of the audit. D11 wants an unknown session to be told from an open one, so it has a reason.
var golden = []struct {
	tool   string
	in     args
	want   string
	marked bool
}{
	{"task_get", args{"id": missing}, `{"ok":true,"data":{"ok":false,"error":{"code":"ERR_NOT_FOUND","message":"No task has this id."}}}`, false},
	{"merkle_root", args{"session_id": "missing"},
		`{"ok":true,"data":{"ok":false,"error":{"code":"ERR_NOT_FINALIZED","message":"No session has this id, so none is finalized.","details":{"reason":"unknown_session"}}}}`, false},
	{"consensus_finality", args{"round_id": "bad"}, `{"ok":false,"error":{"code":"INVALID_PARAMS","message":"The parameters of the tool are not valid.","details":{"issues":[` +
		`{"path":"/round_id","rule":"pattern","message":"must match the pattern ^[0-9a-f]{64}$","expected":{"pattern":"^[0-9a-f]{64}$"},"got":"string",` +
		`"example":"` + strings.Repeat("0", 64) + `"}],"correctTemplate":{"round_id":"` + strings.Repeat("0", 64) + `"}}}}`, true},
	{"vrf_eval", args{"priv_key_hex": ""},
		`{"ok":false,"error":{"code":"HANDLER_ERROR","message":"INVALID_KEY: priv_key_hex must be 64 hexadecimal digits.","details":{"code":"INVALID_KEY"}}}`, true},
}

// TestD2ReproductionsOfTheAuditAreExact compares the bytes on the wire.
func TestD2ReproductionsOfTheAuditAreExact(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	for _, g := range golden {
		a := s.call(g.tool, g.in)
		if got := string(a.envelope().Raw()); got != g.want || a.marked() != g.marked {
			t.Errorf("%s\n got %s, marked %v\nwant %s, marked %v", g.tool, got, a.marked(), g.want, g.marked)
		}
		if raw := a.M.Result().Path("structuredContent").Raw(); string(raw) != g.want {
			t.Errorf("%s: structuredContent is %s", g.tool, raw)
		}
	}
	first := s.call("audit_session_start", args{"session_id": "open"}).fine()
	if first.data("session_id") != "open" {
		t.Error(first)
	}
	got := string(s.call("merkle_root", args{"session_id": "open"}).envelope().Raw())
	if want := `{"ok":true,"data":{"ok":false,"error":{"code":"ERR_NOT_FINALIZED","message":"The session is not finalized yet."}}}`; got != want {
		t.Errorf("got %s", got)
	}
}

// TestD2EveryToolOfPatternBFailsAsData causes a domain failure of each of the eight tools, and of a tool of pattern A
// with the same code.
func TestD2EveryToolOfPatternBFailsAsData(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	s.call("audit_session_start", args{"session_id": "taken"}).fine()
	for tool, fail := range map[string]struct {
		in   args
		code string
	}{
		"task_create":         {args{"title": " "}, "ERR_VALIDATION"},
		"task_get":            {args{"id": missing}, "ERR_NOT_FOUND"},
		"task_update":         {args{"id": missing, "status": "GATHER"}, "ERR_NOT_FOUND"},
		"task_list":           {args{"after_id": missing}, "ERR_NOT_FOUND"},
		"task_next_actions":   {args{"id": missing}, "ERR_NOT_FOUND"},
		"audit_session_start": {args{"session_id": "taken"}, "ERR_SESSION_EXISTS"},
		"merkle_finalize":     {args{"session_id": "none"}, "ERR_SESSION_NOT_FOUND"},
		"merkle_root":         {args{"session_id": "taken"}, "ERR_NOT_FINALIZED"},
	} {
		if inventory[tool] != "B" {
			t.Errorf("%s is not of pattern B", tool)
		}
		s.call(tool, fail.in).isB(fail.code)
		s.call(tool, args{"zz": 1}).isA("INVALID_PARAMS")
	}
	s.think(missing, nil).isA("ERR_NOT_FOUND")
	s.call("audit_verify_chain", args{"task_id": missing}).isA("ERR_NOT_FOUND")
}

// TestD4RaisedCodesAreMembers checks that a thrown failure has its code in details.code and in _meta.
func TestD4RaisedCodesAreMembers(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	s.call("vrf_eval", args{"priv_key_hex": "zz"}).isA("INVALID_KEY")
	s.call("consensus_finality", args{"round_id": strings.Repeat("0", 64)}).isA("ROUND_NOT_FOUND")
	if a := s.call("router_call", args{"tool": "x"}).isA("FALLBACK_CHAIN_EXHAUSTED"); !a.Canonical().Path("retry", "kind").Is("not_retryable") { // no upstream
		t.Errorf("%s", a.M.Bytes())
	}
}

// TestD3UnifiedMarksBothPatterns checks that the dialect of the server decides the shape of both patterns on the wire.
func TestD3UnifiedMarksBothPatterns(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	legacy, unified := p.start(), p.start("--dialect", "dual-unified")
	legacy.call("task_get", args{"id": missing}).isB("ERR_NOT_FOUND")
	legacy.call("vrf_eval", args{"priv_key_hex": ""}).isA("INVALID_KEY")
	for code, a := range map[string]answer{"ERR_NOT_FOUND": unified.call("task_get", args{"id": missing}), "INVALID_KEY": unified.call("vrf_eval", args{"priv_key_hex": ""})} {
		if e := a.is(code).envelope(); !a.marked() || !e.Path("error", "code").Is(code) {
			t.Errorf("%s: %s", code, a.M.Bytes())
		}
	}
}

// TestD5DataWithOKFalseIsASuccess checks that a task whose context looks like a failure is returned unmarked and unchanged.
func TestD5DataWithOKFalseIsASuccess(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	id := s.task(args{"context": args{"ok": false, "error": args{"code": "ERR_NOT_FOUND", "message": "a note"}}})
	if a := s.call("task_get", args{"id": id}).fine(); !a.value("context", "error", "code").Is("ERR_NOT_FOUND") {
		t.Errorf("%s", a.M.Bytes())
	}
}
