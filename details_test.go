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
	if len(out) > candor.MaxDetails {
		t.Errorf("%s: %d bytes", name, len(out))
	}
	if n := depthOf(out); n > candor.MaxDepth {
		t.Errorf("%s: depth %d: %.300s", name, n, out)
	}
	if again := candor.DetailsOf(json.RawMessage(out)); again != d {
		t.Errorf("%s: not a fixed point:\n%s\n%s", name, out, again)
	}
	if parsed, err := candor.ParseDetails([]byte(out)); err != nil || parsed != d {
		t.Errorf("%s: ParseDetails: %v", name, err)
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
		"not numbers":        {[]any{math.NaN(), math.Inf(1), math.Inf(-1)}, `["NaN","Infinity","-Infinity"]`},
		"pointers":           {[]any{&number, (*int)(nil)}, `[7,null]`},
		"map order":          {map[string]any{"b": 1, "a": nil, "c": true}, `{"a":null,"b":1,"c":true}`},
		"numbered map":       {map[int]string{2: "b", 10: "a"}, `{"10":"a","2":"b"}`},
		"map of anything":    {map[any]any{"a": 1, 2: 2, true: 3, 1.5: 4}, `{"1.5":4,"2":2,"a":1,"true":3}`},
		"struct":             {embedding{Base: Base{1, "inner"}, Label: "outer", Dash: "d", hidden: "h"}, `{"ID":1,"Label":"outer","-":"d","named":""}`},
		"bytes":              {[]byte("hi"), `"aGk="`},
		"error":              {errors.New("e"), `"e"`},
		"errors in a list":   {[]error{errors.New("e"), nil}, `["e",null]`},
		"time":               {past, `"2001-02-03T04:05:06.789654321+01:00"`},
		"text marshaler":     {map[string]any{"ip": big.NewInt(12)}, `{"ip":12}`},
		"things JSON lacks":  {[]any{make(chan int), func() {}, complex(1, 2)}, `["[chan]","[func]","[complex128]"]`},
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

func TestParseDetailsKeepsOrderAndSpelling(t *testing.T) {
	for in, want := range map[string]string{
		`{"z":1e400,"a":9007199254740993,"m":1.0,"x":-0,"y":1E+2}`: `{"z":1e400,"a":9007199254740993,"m":1.0,"x":-0,"y":1E+2}`,
		" { \"b\" : [ 1 , 2 ] ,\n\"a\":{} } ":                      `{"b":[1,2],"a":{}}`,
		`"é\u00e9\ud83d\ude00\/"`:                                  `"éé😀/"`,
		`"\ud800"`:                                                 `"` + "\ufffd" + `"`,
		`{"a":1,"a":2}`:                                            `{"a":1}`,
		`""`:                                                       `""`, `0`: `0`, `false`: `false`, `[]`: `[]`, `{}`: `{}`, `null`: ``,
		`{"…":1,"a":"…"}`: `{"…":1,"a":"…"}`,
	} {
		got, err := candor.ParseDetails([]byte(in))
		if err != nil || got.String() != want {
			t.Errorf("%s was read as %s, %v", in, got, err)
		}
	}
	for _, bad := range []string{``, ` `, `{`, `{"a":1,}`, `1 2`, `nul`, `'a'`, `{"a":01}`, "\ufeff{}", `NaN`, strings.Repeat("[", 1e5)} {
		if got, err := candor.ParseDetails([]byte(bad)); err == nil || !got.IsZero() {
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
	if !strings.HasSuffix(list, `,0,"…"]`) || strings.Count(list, "0") != candor.MaxItems {
		t.Error(list)
	}
	if whole := candor.DetailsOf(make([]int, 100)).String(); strings.Contains(whole, "…") || strings.Count(whole, "0") != 100 {
		t.Error(whole)
	}
	if m := candor.DetailsOf(hugeMap(101)).String(); !strings.HasSuffix(m, `,"…":true}`) || strings.Count(m, ":") != candor.MaxItems+1 {
		t.Error(m)
	}
	if m := candor.DetailsOf(hugeMap(100)).String(); strings.Contains(m, "…") {
		t.Error(m)
	}
	if s := candor.DetailsOf(strings.Repeat("a", 2000)).String(); len(s) != candor.MaxText+2 || !strings.HasSuffix(s, `…"`) {
		t.Error(len(s), s)
	}
	if d := candor.DetailsOf(deep(17)).String(); depthOf(d) != candor.MaxDepth || !strings.Contains(d, `"…"`) {
		t.Error(d)
	}
	if d := candor.DetailsOf(deep(16)).String(); strings.Contains(d, "…") {
		t.Error(d)
	}
	if d := candor.DetailsOf(pointers(1000)).String(); d != `"…"` {
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
