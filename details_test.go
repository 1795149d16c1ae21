package candor_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/limits"
	"github.com/candor-mcp/candor/internal/redact"
)

// The limits and the mark of the package, which it does not export.
const (
	cutMark  = "…"
	maxItems = 100
	maxKey   = 128
)

// fakeToken has the shape of a secret but is not valid.
var fakeToken = "ghp_" + strings.Repeat("aB3dE5gH7j", 3) + "kL9mN1"

// TestW5DetailsAreSafeByConstruction checks that details are valid, bounded JSON, whatever Go value they are made from, and that
// the error keeps its code.
func TestW5DetailsAreSafeByConstruction(t *testing.T) {
	for name, v := range hostile() {
		for place, v := range map[string]any{"": v, " in a map": map[string]any{"v": v}, " in a list": []any{v, 1}, " in a struct": struct{ V any }{v}} {
			e := candor.New(candor.CodeTimeout, "", candor.WithDetails(v))
			if e.Code() != candor.CodeTimeout {
				t.Errorf("%s%s: code %v", name, place, e.Code())
			}
			checkDetails(t, name+place, e.Details())
			if raw := marshal(t, e); len(raw) > 32<<10 {
				t.Errorf("%s%s: %d bytes", name, place, len(raw))
			}
		}
	}
}

func parseDetails(raw []byte) (d candor.Details, err error) {
	err = json.Unmarshal(raw, &d)
	return d, err
}

// checkDetails checks all guarantees of Details.
func checkDetails(t testing.TB, name string, d candor.Details) {
	t.Helper()
	out := d.String()
	if d.IsZero() {
		return
	}
	if !json.Valid([]byte(out)) || !utf8.ValidString(out) {
		t.Fatalf("%s: not JSON: %.300q", name, out)
	}
	if len(out) > limits.Details {
		t.Errorf("%s: %d bytes", name, len(out))
	}
	if n := depthOf(out); n > limits.Depth {
		t.Errorf("%s: depth %d: %.300s", name, n, out)
	}
	if again := candor.DetailsOf(json.RawMessage(out)); again != d {
		t.Errorf("%s: not a fixed point:\n%s\n%s", name, out, again)
	}
	if parsed, err := parseDetails([]byte(out)); err != nil || parsed != d {
		t.Errorf("%s: reading it again: %v", name, err)
	}
}

// depthOf returns the depth of nested brackets in JSON.
func depthOf(s string) int {
	depth, most, quoted := 0, 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			most = max(most, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return most
}

func TestDetailsSayWhatTheValueSays(t *testing.T) {
	type Base struct {
		ID    int
		Label string
	}
	type embedding struct {
		Base
		*node
		Label  string // hides Base.Label, as in Go
		Skip   string `json:"-"`
		Dash   string `json:"-,"`
		Named  string `json:"named"`
		Empty  string `json:"empty,omitempty"`
		Zero   int    `json:"zero,omitzero"`
		hidden string
	}
	number := 7
	for name, test := range map[string]struct {
		v    any
		want string
	}{
		"nothing":            {nil, ``},
		"nil pointer":        {(*node)(nil), ``},
		"nil map":            {map[string]int(nil), ``},
		"null":               {json.RawMessage(" null "), ``},
		"text":               {"a\"b", `"a\"b"`},
		"numbers":            {[]any{1, -2, uint8(3), 1.5, float32(0.1), 1e21, 1e-7, math.MaxInt64, uint64(math.MaxUint64)}, `[1,-2,3,1.5,0.1,1e+21,1e-07,9223372036854775807,18446744073709551615]`},
		"not numbers":        {[]any{math.NaN(), math.Inf(1), math.Inf(-1)}, `["NaN","+Inf","-Inf"]`},
		"pointers":           {[]any{&number, (*int)(nil)}, `[7,null]`},
		"map order":          {map[string]any{"b": 1, "a": nil, "c": true}, `{"a":null,"b":1,"c":true}`},
		"numbered map":       {map[int]string{2: "b", 10: "a"}, `{"10":"a","2":"b"}`},
		"struct":             {embedding{Base: Base{1, "inner"}, Label: "outer", Dash: "d", hidden: "h"}, `{"ID":1,"Label":"outer","-":"d","named":""}`},
		"bytes":              {[]byte("hi"), `"aGk="`},
		"error":              {errors.New("e"), `"e"`},
		"time":               {past, `"2001-02-03T04:05:06.789654321+01:00"`},
		"text marshaler":     {map[string]any{"ip": big.NewInt(12)}, `{"ip":12}`},
		"things JSON lacks":  {[]any{make(chan int), func() {}, complex(1, 2)}, `["[unencodable]","[unencodable]","[unencodable]"]`},
		"cycle":              {cyclicMap(), `{"a":1,"self":"[cycle]"}`},
		"shared is no cycle": {func() any { n := &node{Name: "n"}; return []*node{n, n} }(), `[{"Name":"n","Next":null,"Kids":null},{"Name":"n","Next":null,"Kids":null}]`},
		"failing":            {[]any{unwilling{}, unwillingly{}, json.RawMessage(`{"a":`), json.RawMessage(`1 2`)}, `["[unencodable]","[unencodable]","[unencodable]","[unencodable]"]`},
		"details":            {candor.DetailsOf([]int{1}), `[1]`},
		"details inside":     {[]any{candor.DetailsOf([]int{1}), candor.Details{}}, `[[1],null]`},
	} {
		if got := candor.DetailsOf(test.v).String(); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

func TestReadDetailsKeepOrderAndSpelling(t *testing.T) {
	for in, want := range map[string]string{
		`{"z":1e400,"a":9007199254740993,"m":1.0,"x":-0,"y":1E+2}`: `{"z":1e400,"a":9007199254740993,"m":1.0,"x":-0,"y":1E+2}`,
		" { \"b\" : [ 1 , 2 ] ,\n\"a\":{} } ":                      `{"b":[1,2],"a":{}}`,
		`"é\u00e9\ud83d\ude00\/"`:                                  `"éé😀/"`,
		`"\ud800"`:                                                 `"` + "\ufffd" + `"`,
		`{"a":1,"a":2}`:                                            `{"a":1}`,
		`""`:                                                       `""`, `0`: `0`, `false`: `false`, `[]`: `[]`, `{}`: `{}`, `null`: ``,
		`{"…":1,"a":"…"}`: `{"…":1,"a":"…"}`,
	} {
		got, err := parseDetails([]byte(in))
		if err != nil || got.String() != want {
			t.Errorf("%s was read as %s, %v", in, got, err)
		}
	}
	for _, bad := range []string{``, ` `, `{`, `{"a":1,}`, `1 2`, `nul`, `'a'`, `{"a":01}`, "\ufeff{}", `NaN`, strings.Repeat("[", 1e5)} {
		if got, err := parseDetails([]byte(bad)); err == nil || !got.IsZero() {
			t.Errorf("%.20q was read as %s", bad, got)
		}
	}
}

func TestDetailsHoldNoSecrets(t *testing.T) {
	long := strings.Repeat("very_", 40) + "long_password"
	type login struct {
		User     string
		Password string `json:"password"`
		Token    *string
		Verified bool `json:"has_password"`
	}
	for name, v := range map[string]any{
		"map":           map[string]any{"password": "hunter2hunter2", "user": "ann"},
		"any map":       map[any]any{"password": "hunter2hunter2"},
		"struct":        login{"ann", "hunter2hunter2", &fakeToken, true},
		"nested":        map[string]any{"a": []any{map[string]any{"client_secret": map[string]any{"x": "hunter2hunter2"}}}},
		"raw":           json.RawMessage(`{"Authorization":"Bearer hunter2hunter2hunter2","x":[{"apiKey":"hunter2hunter2"}]}`),
		"number":        map[string]any{"password": 222222222},
		"list":          map[string]any{"passwords": []string{"hunter2hunter2"}},
		"text":          "login with password=hunter2hunter2 failed",
		"token":         []string{"bad token " + fakeToken},
		"as a name":     map[string]any{"password=hunter2hunter2": 1, fakeToken: 2},
		"long name":     map[string]any{long: "hunter2hunter2"},
		"hidden name":   map[string]any{"pass\u200bword": "hunter2hunter2"},
		"error":         map[string]any{"err": errors.New("password=hunter2hunter2")},
		"path":          "open /home/ann/hunter2/plan.txt",
		"marshaler":     []any{json.RawMessage(`"password=hunter2hunter2"`)},
		"not a number":  []any{json.Number(`{"password":"hunter2hunter2"}`), json.Number(`"password=hunter2hunter2"`)},
		"flag":          map[string]any{"argv": []string{"--token", "hunter2hunter2", "x"}},
		"raw flag":      json.RawMessage(`{"argv":["-password","hunter2hunter2"]}`),
		"label":         map[string]any{"env": []any{map[string]any{"name": "API_KEY", "value": "hunter2hunter2"}}},
		"raw label":     json.RawMessage(`[{"value":"hunter2hunter2","key":"db.password"}]`),
		"key as number": map[string]any{"token": json.Number("2222222222")},
	} {
		out := candor.DetailsOf(v).String()
		for _, secret := range []string{"hunter2", "2222", fakeToken, fakeToken[:12]} {
			if strings.Contains(out, secret) {
				t.Errorf("%s: %s", name, out)
			}
		}
		checkDetails(t, name, candor.DetailsOf(v))
	}
	t.Run("a flag or nothing is no secret", func(t *testing.T) {
		for name, v := range map[string]any{
			"map": map[string]any{"password": nil, "token": true}, "struct": struct {
				Password *string `json:"password"`
				Token    bool    `json:"token"`
			}{nil, true}, "raw": json.RawMessage(`{"password":null,"token":true}`),
		} {
			if got := candor.DetailsOf(v).String(); got != `{"password":null,"token":true}` {
				t.Errorf("%s: %s", name, got)
			}
		}
	})
}

func TestCutDetailsAreMarked(t *testing.T) {
	list := candor.DetailsOf(make([]int, 101)).String()
	if !strings.HasSuffix(list, `,0,"…"]`) || strings.Count(list, "0") != maxItems {
		t.Error(list)
	}
	if whole := candor.DetailsOf(make([]int, 100)).String(); strings.Contains(whole, "…") || strings.Count(whole, "0") != 100 {
		t.Error(whole)
	}
	if m := candor.DetailsOf(hugeMap(101)).String(); !strings.HasSuffix(m, `,"…":true}`) || strings.Count(m, ":") != maxItems+1 {
		t.Error(m)
	}
	if m := candor.DetailsOf(hugeMap(100)).String(); strings.Contains(m, "…") {
		t.Error(m)
	}
	if s := candor.DetailsOf(strings.Repeat("a", 2000)).String(); len(s) != limits.Text+2 || !strings.HasSuffix(s, `…"`) {
		t.Error(len(s), s)
	}
	if d := candor.DetailsOf(deep(17)).String(); depthOf(d) != limits.Depth || !strings.Contains(d, `"…"`) {
		t.Error(d)
	}
	if d := candor.DetailsOf(deep(16)).String(); strings.Contains(d, "…") {
		t.Error(d)
	}
	dup := `{` + strings.Repeat(`"a":1,`, 150) + `"b":2}`
	if d := candor.DetailsOf(json.RawMessage(dup)).String(); d != `{"a":1,"b":2}` {
		t.Errorf("repeated names hide the rest: %s", d)
	}
}

// TestTheCutMarkInDataMeansNothing checks that a member named "…" is kept like any other, even beside the cut mark.
func TestTheCutMarkInDataMeansNothing(t *testing.T) {
	m := map[string]any{"…": "mine", "!": 1}
	for i := range 200 {
		m[fmt.Sprintf("\uffe0%03d", i)] = strings.Repeat("x", 100) // sorts after the mark
	}
	d := candor.DetailsOf(m)
	checkDetails(t, "mark in data", d)
	if !strings.Contains(d.String(), `"…":"mine"`) || strings.Count(d.String(), `"…":`) != 1 {
		t.Error(d)
	}
	checkDetails(t, "marks", candor.DetailsOf([]any{"…", "a…", map[string]any{"…": true}, "……"}))
}

func TestDetailsWithKeepsTheRest(t *testing.T) {
	d := candor.DetailsOf(map[string]any{"a": 1, "b": []int{2}})
	for _, test := range []struct {
		got  candor.Details
		want string
	}{
		{d.With("c", 3), `{"c":3,"a":1,"b":[2]}`},
		{d.With("a", nil), `{"a":null,"b":[2]}`},
		{candor.DetailsOf([]int{1}).With("a", 2), `{"a":2,"value":[1]}`},
		{candor.Details{}.With("a", 2), `{"a":2}`},
		{d.Get("b"), `[2]`},
		{d.Get("x"), ``},
		{candor.DetailsOf("text").Get("x"), ``},
		{candor.Details{}.Get("x"), ``},
	} {
		if test.got.String() != test.want {
			t.Errorf("%s, want %s", test.got, test.want)
		}
	}
	if d.String() != `{"a":1,"b":[2]}` {
		t.Errorf("With changed its receiver: %s", d)
	}
	big := candor.DetailsOf(hugeMap(100)).With("first", "kept").With("issues", []int{1})
	checkDetails(t, "with", big)
	if big.Get("first").String() != `"kept"` || big.Get("issues").String() != `[1]` {
		t.Errorf("%.80s", big)
	}
}

func TestIssuesComeBack(t *testing.T) {
	issue := candor.Issue{Path: "/tags/1", Rule: "type", Message: "must be a text", Expected: map[string]any{"type": "string"}, Got: "number", Hint: "quote it", Example: "a"}
	e := candor.New(candor.CodeTimeout, "", candor.WithIssues(issue), candor.WithDetails(map[string]any{"x": 1}), candor.WithIssues(issue, candor.Issue{}))
	want := `{"issues":[{"path":"/tags/1","rule":"type","message":"must be a text","expected":{"type":"string"},"got":"number","hint":"quote it","example":"a"},{"path":""}],"x":1}`
	if e.Details().String() != want {
		t.Errorf("%s\nwant %s", e.Details(), want)
	}
	if got := e.Details().Issues(); len(got) != 2 || got[0].Path != "/tags/1" || got[0].Got != "number" || got[0].Example != "a" {
		t.Errorf("%+v", got)
	}
	if got := candor.New(candor.CodeTimeout, "", candor.WithIssues()).Details(); !got.IsZero() {
		t.Errorf("no issues gave %s", got)
	}
	for _, d := range []candor.Details{{}, candor.DetailsOf("x"), candor.DetailsOf(map[string]any{"issues": 3})} {
		if d.Issues() != nil {
			t.Errorf("%s has issues", d)
		}
	}
}

func TestDetailsAreJSONBothWays(t *testing.T) {
	var holder struct{ A, B, C candor.Details }
	if err := json.Unmarshal([]byte(`{"A":{"z":1.0,"a":2},"B":null}`), &holder); err != nil {
		t.Fatal(err)
	}
	if got := marshal(t, holder); got != `{"A":{"z":1.0,"a":2},"B":null,"C":null}` {
		t.Error(got)
	}
	var into struct{ Z float64 }
	if err := holder.A.Decode(&into); err != nil || into.Z != 1 {
		t.Errorf("%+v, %v", into, err)
	}
	if err := holder.B.Decode(&into); err != nil {
		t.Errorf("without details Decode does nothing: %v", err)
	}
	if err := candor.DetailsOf("x").Decode(&into); err == nil {
		t.Error("a text was decoded into a struct")
	}
}

// TestExampleOfASecretIsRedacted checks that the path of an issue says of what its example is, in any order of the
// members.
func TestExampleOfASecretIsRedacted(t *testing.T) {
	const secret = "correct horse 9"
	for path, hidden := range map[string]bool{"/params/Authorization": true, "/api_key": true, "/name": false, "": false} {
		for _, option := range []candor.Option{
			candor.WithIssues(candor.Issue{Path: "/token"}, candor.Issue{Path: path, Message: "is missing", Example: secret}),
			candor.WithDetails(map[string]any{"issues": []any{map[string]any{"path": path, "example": secret}}}),
			candor.WithDetails(json.RawMessage(`{"issues":[{"example":"` + secret + `", "path" : "` + path + `"}]}`)),
		} {
			e := candor.New(candor.CodeInvalidArguments, "", option)
			if got := e.Details().String(); strings.Contains(got, secret) == hidden || e.With(candor.WithDetails(e.Details())).Details().String() != got {
				t.Errorf("%q: %s", path, got)
			}
		}
	}
}

func TestIssuePathsAreNoFiles(t *testing.T) {
	paths := []string{"/tmp/x", "/config/settings.json", "/home/ana/a.txt", "/steps/0/a.b", "/etc/passwd", ""}
	var issues []candor.Issue
	for _, p := range paths {
		issues = append(issues, candor.Issue{Path: p, Message: "see /home/ana/secret/plan.txt"})
	}
	e := candor.New(candor.CodeInvalidArguments, "", candor.WithIssues(issues...))
	again, err := parseDetails([]byte(e.Details().String()))
	if err != nil || again != e.Details() {
		t.Fatalf("not a fixed point: %v\n%s\n%s", err, e.Details(), again)
	}
	for i, got := range again.Issues() {
		if got.Path != paths[i] {
			t.Errorf("path %q became %q", paths[i], got.Path)
		}
		if got.Message != "see …/plan.txt" {
			t.Errorf("message %q keeps a folder", got.Message)
		}
	}
}

func TestPathsElsewhereInDetailsAreShortened(t *testing.T) {
	for _, d := range []any{
		map[string]any{"path": "/home/ana/a.txt"},
		map[string]any{"issues": "/home/ana/a.txt"},
		map[string]any{"x": map[string]any{"issues": []any{map[string]any{"path": "/home/ana/a.txt"}}}},
	} {
		raw, err := json.Marshal(candor.DetailsOf(d))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(raw); len(got) == 0 || strings.Contains(got, "ana") {
			t.Errorf("%v keeps a folder: %s", d, got)
		}
	}
}

// TestW6BoundsAreInBytesAndCutOnRuneBorders checks that every text is within its limit in bytes and valid UTF-8, and that a text
// that was cut is a prefix of the original followed by the mark, inside the limit.
func TestW6BoundsAreInBytesAndCutOnRuneBorders(t *testing.T) {
	bounds := map[string]struct {
		limit int
		read  func(text string) string
	}{
		"message":    {limits.Message, func(s string) string { return candor.New(candor.CodeTimeout, s).Message() }},
		"suggestion": {limits.Suggestion, func(s string) string { return build(candor.WithSuggestion(s)).Suggestion() }},
		"cause":      {limits.Cause, func(s string) string { return build(candor.WithCause(errors.New(s))).Cause().Message }},
		"cause text": {limits.Cause, func(s string) string { return build(candor.WithCauseText(candor.Cause{Message: s})).Cause().Message }},
		"cause code": {limits.CallInfo, func(s string) string {
			return build(candor.WithCauseText(candor.Cause{Message: "", Code: s, Name: ""})).Cause().Code
		}},
		"cause name": {limits.CallInfo, func(s string) string {
			return build(candor.WithCauseText(candor.Cause{Message: "", Code: "", Name: s})).Cause().Name
		}},
		"detail":  {limits.Text, func(s string) string { return text(t, candor.DetailsOf(s)) }},
		"member":  {maxKey, func(s string) string { return name(t, candor.DetailsOf(map[string]int{s: 1})) }},
		"tool":    {limits.CallInfo, func(s string) string { return build(candor.WithTool(s)).CallInfo().Tool }},
		"ref":     {limits.CallInfo, func(s string) string { return build(candor.WithRef(s)).Ref() }},
		"session": {limits.CallInfo, func(s string) string { return build(candor.WithSession(s, "", "")).CallInfo().SessionID }},
		"role":    {limits.CallInfo, func(s string) string { return build(candor.WithSession("", s, "")).CallInfo().Role }},
		"root":    {limits.Text, func(s string) string { return build(candor.WithSession("", "", s)).CallInfo().WorkspaceRoot }},
		"invariant": {limits.CallInfo, func(s string) string {
			return build(candor.WithCallInfo(candor.CallInfo{InvariantID: s})).CallInfo().InvariantID
		}},
		"phase": {limits.CallInfo, func(s string) string {
			return build(candor.WithCallInfo(candor.CallInfo{PhaseID: s})).CallInfo().PhaseID
		}},
		"plan": {limits.CallInfo, func(s string) string {
			return build(candor.WithCallInfo(candor.CallInfo{PlanHash: s})).CallInfo().PlanHash
		}},
		"stack": {limits.Stack, func(s string) string { return build(candor.WithStack(s)).Stack() }},
	}
	for where, bound := range bounds {
		for _, unit := range []string{"a", "é", "世", "😀", "a世😀é", "\xff"} {
			clean := strings.Repeat(unit, 9000)
			if unit == "\xff" {
				clean = strings.Repeat("\ufffd", 9000)
			}
			for n := bound.limit - 9; n <= bound.limit+9; n++ {
				in := clean[:n]
				for !utf8.ValidString(in) {
					in = in[:len(in)-1]
				}
				got := bound.read(in)
				switch {
				case len(in) <= bound.limit && got != in:
					t.Fatalf("%s: %d bytes fit into %d and were changed to %d: %q", where, len(in), bound.limit, len(got), tail(got))
				case len(in) > bound.limit:
					checkCut(t, where, in, got, bound.limit)
				}
			}
			checkCut(t, where, clean, bound.read(strings.Repeat(unit, 9000)), bound.limit)
		}
	}
}

func build(options ...candor.Option) *candor.Error {
	return candor.New(candor.CodeTimeout, "", options...)
}

func text(t *testing.T, d candor.Details) string {
	t.Helper()
	var s string
	if err := d.Decode(&s); err != nil {
		t.Fatal(err)
	}
	return s
}

func name(t *testing.T, d candor.Details) string {
	t.Helper()
	var m map[string]int
	if err := d.Decode(&m); err != nil || len(m) != 1 {
		t.Fatal(d, err)
	}
	for k := range m {
		return k
	}
	return ""
}

func tail(s string) string { return s[max(0, len(s)-20):] }

func checkCut(t *testing.T, where, in, got string, limit int) {
	t.Helper()
	rest, marked := strings.CutSuffix(got, cutMark)
	switch {
	case len(got) > limit || len(got) < limit-utf8.UTFMax-len(cutMark):
		t.Fatalf("%s: cut to %d bytes, the bound is %d", where, len(got), limit)
	case !utf8.ValidString(got):
		t.Fatalf("%s: cut inside a rune: %q", where, tail(got))
	case !marked || !strings.HasPrefix(in, rest):
		t.Fatalf("%s: no mark, or not a prefix: %q", where, tail(got))
	}
}

// worst are texts that grow when they are encoded.
var worst = []string{"\"", "\\", "\n", "é\"", "\xff", "\u2028", "\x00", "a", "😀\\"}

// TestEnvelopesStayBelow32KiB fills every field with texts that grow when they are encoded.
func TestEnvelopesStayBelow32KiB(t *testing.T) {
	for _, unit := range worst {
		s := strings.Repeat(unit, 20000)
		wide := map[string]any{}
		for i := range 200 {
			wide[s[:i]] = []any{s, map[string]any{s: s}}
		}
		e := candor.New(candor.CodeTimeout, s, candor.WithSuggestion(s), candor.WithDetails(wide), candor.WithIssues(candor.Issue{Path: s, Message: s, Expected: s}),
			candor.WithCause(&kaizaError{s, s}), candor.WithCauseText(candor.Cause{Message: s, Code: s, Name: s}), candor.WithRef(s), candor.WithTime(past), candor.WithStack(s),
			candor.WithCallInfo(candor.CallInfo{Tool: s, Role: s, SessionID: s, WorkspaceRoot: s, InvariantID: s, PhaseID: s, PlanHash: s}))
		raw := e.AppendJSON(nil, candor.JSONOptions{Stack: true, PlainRoot: true})
		if !json.Valid(raw) || !utf8.Valid(raw) {
			t.Errorf("%q: not JSON", unit)
		}
		if len(raw) >= 32<<10 {
			t.Errorf("%q: %d bytes", unit, len(raw))
		}
	}
}

// checkPublic checks the guarantees of publicText for one text.
func checkPublic(t testing.TB, in string, limit int) {
	t.Helper()
	out := candor.Public(in, limit)
	switch {
	case len(out) > limit:
		t.Fatalf("limit %d: %d bytes from %q", limit, len(out), in)
	case !utf8.ValidString(out):
		t.Fatalf("limit %d: invalid UTF-8 from %q: %q", limit, in, out)
	case redact.Text(out) != out:
		t.Fatalf("limit %d: redaction is not done:\n  in %q\n out %q\nthen %q", limit, in, out, redact.Text(out))
	case candor.Public(out, limit) != out:
		t.Fatalf("limit %d: not a fixed point:\n  in %q\n out %q\nthen %q", limit, in, out, candor.Public(out, limit))
	}
	if whole := redact.Text(in); len(whole) <= limit && out != whole {
		t.Fatalf("limit %d: %q fits and was changed to %q", limit, whole, out)
	} else if len(whole) > limit && limit >= len(cutMark) && !strings.HasSuffix(out, cutMark) {
		t.Fatalf("limit %d: cut without a mark: %q", limit, out)
	}
}

// TestCuttingAndRedactionAgree checks that a result is both redacted and within its limit, although redaction lengthens texts and
// cutting splits redaction marks.
func TestCuttingAndRedactionAgree(t *testing.T) {
	for _, secret := range []string{
		"password=hunter2hunter2 rest", "token " + fakeToken + " rest", "open /home/ann/src/app/main.go rest", "https://ann:hunter2@example.com/x rest",
		`{"api_key":"hunter2hunter2"}`, "Authorization: Bearer abcdefghijklmnopqrstuvwxyz0123", "C:\\Users\\ann\\secrets\\x.txt rest",
		"--password hunter2hunter2 rest", "[redacted:token] rest", "…/…/… rest", "password=[redacted:password]&token=[redacted:token]",
		strings.Repeat("token=abcdefgh12345678 ", 9), strings.Repeat("/home/a/b.c ", 20), strings.Repeat("~/a/b ", 20),
	} {
		for pad := range 60 {
			if testing.Short() && pad%7 != 0 {
				continue
			}
			for _, limit := range []int{0, 1, 2, 3, 4, 5, 8, 13, 20, 30, 40, 60} {
				checkPublic(t, strings.Repeat("x", pad)+" "+secret, limit)
				checkPublic(t, strings.Repeat("x ", pad/2)+secret, limit)
			}
		}
	}
}

// TestHugeTextsAreCutBeforeTheyAreRead checks that the work on a text is limited, and that a secret at the limit is still found.
func TestHugeTextsAreCutBeforeTheyAreRead(t *testing.T) {
	for _, unit := range []string{"password=hunter2hunter2 ", "é", "/home/ann/x.txt "} {
		checkPublic(t, strings.Repeat(unit, 1<<22/len(unit)), limits.Message)
	}
	key := "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n", 1<<15) + "-----END PRIVATE KEY-----"
	if got := candor.New(candor.CodeTimeout, key).Message(); strings.Contains(got, "MIIE") {
		t.Errorf("%.80q", got)
	}
}

// pieces are parts of texts that redaction and cutting treat specially.
var pieces = []string{
	"\"", "\x00", "\x1b[31m", "\u200b", "\u202e", "\xff", "\xe2\x80", "password", "/home/ann/", "C:\\Users\\ann\\", "[redacted:token]", "Bearer ",
	"https://u:p@example.com/", "--password ", "api_key=", "-----BEGIN PRIVATE KEY-----", "sk-abcdefghijklmnopqrstuvwx", "~/", "<token>",
}

// FuzzErrorText puts arbitrary text in every field of an error.
func FuzzErrorText(f *testing.F) {
	for _, p := range pieces {
		f.Add(p, strings.Repeat("x", 120)+p)
	}
	f.Add("password=hunter2hunter2", strings.Repeat("token=abcdefgh12345678 ", 60))
	f.Fuzz(func(t *testing.T, message, other string) {
		checkPublic(t, message, limits.Message)
		checkPublic(t, other, maxKey)
		e := candor.New(candor.CodeTimeout, message, candor.WithSuggestion(other), candor.WithCause(errors.New(other)), candor.WithStack(other),
			candor.WithCallInfo(candor.CallInfo{Tool: other, Role: message, WorkspaceRoot: other}), candor.WithRef(message), candor.WithDetails(map[string]any{message: other}))
		raw := e.AppendJSON(nil, candor.JSONOptions{Stack: true, PlainRoot: true})
		if !json.Valid(raw) || !utf8.Valid(raw) || len(raw) >= 32<<10 {
			t.Fatalf("%d bytes: %q", len(raw), raw)
		}
		if candor.CheckSuggestion(e.Retry(), e.Suggestion()) != nil {
			t.Fatalf("%q contradicts %v", e.Suggestion(), e.Retry())
		}
		checkDetails(t, "details", e.Details())
		if e.Validate() == nil != (candor.CheckSuggestion(e.Retry(), candor.Public(other, limits.Suggestion)) == nil) {
			t.Fatalf("Validate does not agree with CheckSuggestion about %q", other)
		}
	})
}

// FuzzDetails reads arbitrary bytes as JSON details.
func FuzzDetails(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,2.50,-0,1e400],"token":"x","n":null}`, `[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]`, `"\ud800\u0000"`, `{"…":1,"…":2}`, `{"a":"` + strings.Repeat("é", 2000) + `"}`,
		`{"password":true,"pass\u200bword":"x"}`, `[` + strings.Repeat(`"aaaaaaaa",`, 1200) + `1]`, `1 2`, `{`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := parseDetails(raw)
		if (err == nil) != json.Valid(raw) {
			t.Fatalf("reading %q: %v", raw, err)
		}
		checkDetails(t, "parsed", d)
		checkDetails(t, "raw", candor.DetailsOf(json.RawMessage(raw)))
		checkDetails(t, "text", candor.DetailsOf(string(raw)))
		checkDetails(t, "name", candor.DetailsOf(map[string]any{string(raw): string(raw)}))
	})
}

// TestLabelsAreOneLineWithoutTokens checks that identifiers have one line and that a token in one is redacted.
func TestLabelsAreOneLineWithoutTokens(t *testing.T) {
	jwt := "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxIn0." + "c2lnbmF0dXJlc2lnbmF0dXJl"
	for in, want := range map[string]string{
		"read\nfile\t2\r\n": "readfile2",
		"s-" + "gh" + "p_0123456789abcdefghijABCDEFGHIJ012345": "s-[redacted:github-token]",
		jwt:                                  "[redacted:jwt]",
		"x%3D" + "AK" + "IAIOSFODNN7EXAMPLF": "x%3D[redacted:aws-access-key]",
		"gh\np_0123456789abcdefghijABCDEFGHIJ012345": "[redacted:github-token]",
	} {
		if got := labels(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
		if got := labels(labels(in)); got != want {
			t.Errorf("%q twice: %q", in, got)
		}
	}
	for _, id := range []string{
		"123e4567-e89b-12d3-a456-426614174000", "3f786850e387550fdab836ed7e6dc881de23001b", "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"c-0123456789ab", "01J9ZC4T3Q8V5W6X7Y8Z9A0B1C", "password=hunter2", "token: abc123def456", "set_token", "secret_manager1", "npm_install2", "/srv/app/x.txt", "sk-learn2fit", "Zürich 日本", "hf_hub2",
	} {
		if got := labels(id); got != id {
			t.Errorf("%q became %q", id, got)
		}
	}
	cost := func(tool string) float64 {
		return testing.AllocsPerRun(50, func() { _ = candor.New(candor.CodeTimeout, "", candor.WithTool(tool)) })
	}
	if n := cost("read_file") - cost(""); n != 0 {
		t.Errorf("a clean name costs %v allocations", n)
	}
}

// labels returns the cleaned identifier, which must be the same in every field of an error.
func labels(s string) string {
	e := candor.New(candor.CodeTimeout, "", candor.WithRef(s), candor.WithCallInfo(candor.CallInfo{Tool: s, Role: s, SessionID: s, InvariantID: s, PhaseID: s, PlanHash: s}))
	c := e.CallInfo()
	for _, got := range []string{c.Tool, c.Role, c.SessionID, c.InvariantID, c.PhaseID, c.PlanHash} {
		if got != e.Ref() {
			return strings.Join([]string{got, e.Ref()}, " and ")
		}
	}
	return e.Ref()
}
