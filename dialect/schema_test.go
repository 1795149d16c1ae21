package dialect_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

// The rules of spec/schema, written by hand, because no part of this module reads JSON Schema. Each rule returns the fault it
// finds.
type rule func(v wire.Value) string

func isText(least, most int) rule {
	return func(v wire.Value) string {
		s, ok := v.Str()
		if n := utf8.RuneCountInString(s); !ok || n < least || n > most {
			return "is no text of that length"
		}
		return ""
	}
}

var (
	anyText  = isText(0, 1<<30)
	someText = isText(1, 1<<30)
	pattern  = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$`)
)

func anything(wire.Value) string { return "" }

func textOrNull(v wire.Value) string {
	if v.IsNull() {
		return ""
	}
	return anyText(v)
}

func isBool(v wire.Value) string { return when(v.Type() != wire.TypeBool, "is no boolean") }

func isTime(v wire.Value) string {
	s, _ := v.Str()
	return when(!pattern.MatchString(s), "is no time")
}

func isDateTime(v wire.Value) string {
	s, _ := v.Str()
	_, err := time.Parse(time.RFC3339, s)
	return when(err != nil, "is no date-time")
}

func oneOf(words ...string) rule {
	return func(v wire.Value) string {
		s, ok := v.Str()
		return when(!ok || !slices.Contains(words, s), "is not one of "+strings.Join(words, ", "))
	}
}

func isSymbol(v wire.Value) string {
	s, _ := v.Str()
	c, ok := candor.LookupSymbol(s)
	return when(!ok || c.Symbol() != s, "is no code")
}

func when(bad bool, problem string) string {
	if bad {
		return problem
	}
	return ""
}

// shape describes an object: its members, which of them are required, and whether others are allowed.
type shape struct {
	open     bool
	required []string
	members  map[string]rule
	also     rule
}

func (s shape) check(v wire.Value) string {
	if v.Type() != wire.TypeObject {
		return "is no object"
	}
	for _, name := range s.required {
		if _, ok := v.Get(name); !ok {
			return name + " is missing"
		}
	}
	for name, value := range v.Members() {
		key, _ := name.Str()
		r, known := s.members[key]
		if !known && !s.open {
			return key + " is no member"
		}
		if known {
			if problem := r(value); problem != "" {
				return key + ": " + problem
			}
		}
	}
	if s.also != nil {
		return s.also(v)
	}
	return ""
}

func listOf(item rule) rule {
	return func(v wire.Value) string {
		if v.Type() != wire.TypeArray {
			return "is no list"
		}
		for element := range v.Elements() {
			if problem := item(element); problem != "" {
				return problem
			}
		}
		return ""
	}
}

// ifObject applies a rule only to an object, because the members of details have a meaning only there.
func ifObject(s shape) rule {
	return func(v wire.Value) string {
		if v.Type() != wire.TypeObject {
			return ""
		}
		return s.check(v)
	}
}

func isRetry(v wire.Value) string {
	ms, hasMs := v.Path("afterMs").Int64()
	switch kind, _ := v.Path("kind").Str(); kind {
	case "not_retryable", "retryable_immediate":
		return when(v.Len() != 1, "has a member too many")
	case "retryable_after_ms":
		return when(v.Len() != 2 || !hasMs || ms < 1 || ms > 604_800_000, "has a wrong delay")
	default:
		return "is of no kind"
	}
}

func isPointer(v wire.Value) string {
	s, ok := v.Str()
	return when(!ok || s != "" && s[0] != '/', "is no pointer")
}

var issueShape = shape{required: []string{"path"}, members: map[string]rule{
	"path": isPointer, "rule": anyText, "message": anyText, "expected": anything, "got": anyText, "hint": anyText, "example": anything,
}}

var canonicalDetailsShape = shape{open: true, members: map[string]rule{"issues": listOf(issueShape.check)}}

var causeShape = shape{required: []string{"message", "code", "name"},
	members: map[string]rule{"message": anyText, "code": textOrNull, "name": textOrNull}}

func isCause(v wire.Value) string {
	if v.Type() == wire.TypeString {
		return ""
	}
	return causeShape.check(v)
}

var originShape = shape{required: []string{"by", "inferred"},
	members: map[string]rule{"by": oneOf("tool", "server", "gateway", "transport", "client"), "inferred": isBool}}

// isIdentity checks that class and number are those of the code.
func isIdentity(v wire.Value) string {
	domain, _ := v.Path("domain").Str()
	symbol, _ := v.Path("code").Str()
	number, _ := v.Path("number").Int64()
	c, ok := candor.LookupCode(domain, symbol)
	return when(!ok || c.Symbol() != symbol || int64(c.Number()) != number || !v.Path("class").Is(string(c.Class())), "is no code of that domain")
}

var errorMembers = map[string]rule{
	"code": isSymbol, "class": someText, "message": isText(1, 1024), "retry": isRetry, "suggestion": isText(1, 512),
	"details": ifObject(canonicalDetailsShape), "domain": someText, "number": anything, "origin": originShape.check, "ref": anyText,
	"tool": textOrNull, "role": textOrNull, "session_id": textOrNull, "workspace_root": textOrNull, "invariant_id": textOrNull,
	"phase_id": textOrNull, "plan_hash": textOrNull, "cause": isCause, "timestamp": isTime, "stack": anyText,
}

var errorShape = shape{
	required: []string{"code", "class", "message", "retry", "domain", "number", "origin", "ref"}, members: errorMembers, also: isIdentity,
}

var systemOrder = []string{"error_code", "human_message", "role", "session_id", "workspace_root", "tool_name", "invariant_id", "phase_id",
	"plan_hash", "cause", "timestamp", "stack_trace"}

func inSystemOrder(v wire.Value) string {
	i := 0
	for name := range v.Members() {
		if !name.Is(systemOrder[i]) {
			return "is out of order"
		}
		i++
	}
	return ""
}

func isSystemCause(v wire.Value) string {
	if v.IsNull() {
		return ""
	}
	return isCause(v)
}

var dualErrorShape = shape{required: []string{"code", "message"}, members: map[string]rule{"code": isSymbol, "message": someText,
	"details": ifObject(shape{open: true, members: map[string]rule{"code": isSymbol, "issues": listOf(issueShape.check)}})}}

func isFlag(want bool) rule {
	return func(v wire.Value) string {
		b, ok := v.Bool()
		return when(!ok || b != want, "is the wrong flag")
	}
}

var patternA = shape{required: []string{"ok", "error"}, members: map[string]rule{"ok": isFlag(false), "error": dualErrorShape.check}}

var patternB = shape{required: []string{"ok", "data"}, members: map[string]rule{"ok": isFlag(true), "data": patternA.check}}

func isDualEnvelope(v wire.Value) string {
	if ok, _ := v.Path("ok").Bool(); ok {
		return patternB.check(v)
	}
	return patternA.check(v)
}

var rpcData = shape{open: true, members: map[string]rule{"domain": someText, "symbol": isSymbol, "retryable": isBool,
	"retryAfterMs": anything, "stack": anyText, dialect.MetaKey: errorShape.check}}

func isRPCEnvelope(v wire.Value) string {
	n, _ := v.Path("code").Int64()
	_, registered := candor.LookupNumber(int(n))
	standard := slices.Contains([]int64{-32700, -32600, -32601, -32602, -32603, -32020, -32021, -32022}, n)
	data := v.Path("data")
	_, said := data.Path("retryable").Bool()
	retryable, _ := data.Path("retryable").Bool()
	ms, delayed := data.Path("retryAfterMs").Int64()
	switch {
	case !registered && !standard:
		return "has a wrong number"
	case someText(v.Path("message")) != "":
		return "has no message"
	case n > 0 && (!said || !data.Path("domain").Present() || !data.Path("symbol").Present()):
		return "has a number without an identity"
	case data.Path("retryAfterMs").Present() && (!delayed || !retryable || ms < 1):
		return "has a wrong delay"
	default:
		return rpcData.check(data)
	}
}

var dottedIssueShape = shape{open: true, required: []string{"path", "message"}, members: map[string]rule{"path": anyText, "message": anyText}}

func withoutMember(from map[string]rule, name string) map[string]rule {
	out := map[string]rule{"type": someText, "title": anyText, "status": anything, "detail": anyText, "instance": someText}
	for key, r := range from {
		if key != name {
			out[key] = r
		}
	}
	return out
}

// envelopeRules is one rule for the bare envelope of every dialect.
var envelopeRules = map[string]rule{
	"candor": errorShape.check,
	"system-error": shape{required: systemOrder[:11], also: inSystemOrder, members: map[string]rule{
		"error_code": isSymbol, "human_message": someText, "role": textOrNull, "session_id": textOrNull, "workspace_root": textOrNull,
		"tool_name": anyText, "invariant_id": textOrNull, "phase_id": textOrNull, "plan_hash": textOrNull, "cause": isSystemCause,
		"timestamp": isTime, "stack_trace": anyText}}.check,
	"tool-error": shape{required: []string{"code", "message", "retry"}, members: map[string]rule{
		"code": isSymbol, "message": someText, "retry": isRetry, "suggestion": isText(1, 512),
		"details": ifObject(shape{open: true, members: map[string]rule{"validationIssues": listOf(dottedIssueShape.check)}})}}.check,
	"rpc":          isRPCEnvelope,
	"dual":         isDualEnvelope,
	"dual-unified": patternA.check,
	"sep3313": shape{required: []string{"class", "code", "retryable", "correlationId"}, members: map[string]rule{
		"class": oneOf("capability", "reliability", "governance"), "code": isSymbol, "retryable": isBool, "retryNotBefore": isDateTime,
		"correlationId": anyText, "agentGuidance": anyText}}.check,
	"problem": shape{required: []string{"type", "title", "status", "code", "class", "retry", "domain", "number", "origin", "ref"},
		members: withoutMember(errorMembers, "message"), also: isIdentity}.check,
}

func TestWhatIsReadIsWrittenAsTheSchemasSay(t *testing.T) {
	eachLiteral(t, func(t *testing.T, from dialect.Dialect, input wire.Value) {
		e, err := from.Read(input)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range dialect.Names() {
			d := lookup(t, name)
			bare := d.Encode(nil, e, fullView)
			if problem := envelopeRules[name](parse(t, bare)); problem != "" {
				t.Errorf("%s: %s\n%s", name, problem, bare)
			}
			carrier := parse(t, d.Write(nil, e, fullView))
			if own, ok := dialect.Embedded(carrier); ok {
				if problem := errorShape.check(own); problem != "" {
					t.Errorf("%s beside: %s\n%s", name, problem, own.Raw())
				}
			}
			var inner struct {
				Content []struct{ Text string }
			}
			if json.Unmarshal(carrier.Raw(), &inner) == nil && len(inner.Content) > 0 && strings.HasPrefix(inner.Content[0].Text, "{") {
				if problem := envelopeRules[name](parse(t, []byte(inner.Content[0].Text))); problem != "" {
					t.Errorf("%s in a block: %s\n%s", name, problem, inner.Content[0].Text)
				}
			}
		}
	})
}

// TestTheRulesSeeWhatTheSchemasSee checks that the rules find the faults that the schemas would: each value breaks one rule.
func TestTheRulesSeeWhatTheSchemasSee(t *testing.T) {
	for name, envelopes := range map[string][]string{
		"candor":       {`{}`, strings.Replace(strictForm, `"ref"`, `"extra":1,"ref"`, 1), strings.Replace(strictForm, `4032`, `4033`, 1)},
		"tool-error":   {`{"code":"NOT_FOUND","message":"m"}`, `{"code":"NOT_FOUND","message":"m","retry":{"kind":"later"}}`},
		"rpc":          {`{"code":-32000,"message":"m"}`, `{"code":2400,"message":"m","data":{"domain":"kg"}}`},
		"dual-unified": {`{"ok":true,"data":{}}`, `{"ok":false,"error":{"code":"NOT_FOUND","message":"m","details":{"issues":[{"path":["a"]}]}}}`},
		"sep3313":      {`{"class":"weather","code":"NOT_FOUND","retryable":true,"correlationId":""}`},
		"system-error": {`{"error_code":"NOT_FOUND","human_message":"m"}`},
		"problem":      {`{"type":"about:blank","title":"x","status":404}`},
	} {
		for _, raw := range envelopes {
			if envelopeRules[name](parse(t, []byte(raw))) == "" {
				t.Errorf("%s allows %s", name, raw)
			}
		}
	}
}
