package wire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

func mustValue(t *testing.T, text string) wire.Value {
	t.Helper()
	v, err := wire.ParseValue([]byte(text), wire.Limits{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func TestAnyJSONTextIsAValue(t *testing.T) {
	for text, want := range map[string]wire.Type{
		`null`: wire.TypeNull, ` true `: wire.TypeBool, "\nfalse": wire.TypeBool, `-0.5e+3`: wire.TypeNumber,
		`0`: wire.TypeNumber, `""`: wire.TypeString, ` [1, {"a":[]}] `: wire.TypeArray, `{}`: wire.TypeObject,
	} {
		v := mustValue(t, text)
		if v.Type() != want || !v.Present() || string(v.Raw()) != strings.TrimSpace(text) {
			t.Errorf("%q: %v %q", text, v.Type(), v.Raw())
		}
	}
}

func TestTheZeroValueAnswersNo(t *testing.T) {
	var v wire.Value
	_, isBool := v.Bool()
	_, isInt := v.Int64()
	_, isStr := v.Str()
	_, isStrBytes := v.StrBytes()
	_, got := v.Get("a")
	if isBool || isInt || isStr || isStrBytes || got || v.IsNull() || v.Present() ||
		v.IsInteger() || v.Is("") || v.Len() != 0 || v.Type() != wire.TypeAbsent || v.Raw() != nil {
		t.Error("the zero value answers yes to something")
	}
}

func TestNumbersAreNeverRounded(t *testing.T) {
	for _, tc := range []struct {
		text    string
		n       int64
		ok      bool
		integer bool
	}{
		{"0", 0, true, true}, {"-0", 0, true, true}, {"9007199254740993", 1<<53 + 1, true, true},
		{"9223372036854775807", 1<<63 - 1, true, true}, {"-9223372036854775808", -1 << 63, true, true},
		{"9223372036854775808", 0, false, true}, {"1.0", 0, false, false}, {"1e3", 0, false, false},
		{`"1"`, 0, false, false}, {"true", 0, false, false}, {strings.Repeat("9", 400), 0, false, true},
	} {
		v := mustValue(t, tc.text)
		n, ok := v.Int64()
		if (ok && n != tc.n) || ok != tc.ok || v.IsInteger() != tc.integer {
			t.Errorf("%s: %d %v, integer %v", tc.text, n, ok, v.IsInteger())
		}
	}
}

func TestNamesAreFoundByWhatTheyStandFor(t *testing.T) {
	v := mustValue(t, ` { "a" : 1 , "\u0062" : [ 10 , {"x":"y"} ] , "c\\n" : null , "c\n":2, "":3, "日":4} `)
	for name, want := range map[string]string{
		"a": "1", "b": `[ 10 , {"x":"y"} ]`, `c\n`: "null", "c\n": "2", "": "3", "日": "4",
	} {
		if got, ok := v.Get(name); !ok || string(got.Raw()) != want {
			t.Errorf("%q: %s, %v; want %s", name, got.Raw(), ok, want)
		}
	}
	for _, name := range []string{"A", `\u0062`, `c\\n`, "x"} {
		if got, ok := v.Get(name); ok {
			t.Errorf("%q: found %s", name, got.Raw())
		}
	}
	if v.Len() != 6 {
		t.Errorf("%d members", v.Len())
	}
}

func TestAPathLeadsToAValueOrToNothing(t *testing.T) {
	v := mustValue(t, `{"result":{"content":[{"text":"a"},{"text":"b"}]},"n":1}`)
	if got, _ := v.Path("result", "content", 1, "text").Str(); got != "b" {
		t.Errorf("got %q", got)
	}
	for _, path := range [][]any{{"x"}, {"n", "x"}, {"n", 0}, {"result", 0}, {"result", "content", 2}, {"result", "content", -1}, {"result", "content", "0"}, {1.5}} {
		if got := v.Path(path...); got.Present() {
			t.Errorf("%v led to %s", path, got.Raw())
		}
	}
	if string(v.Path().Raw()) != string(v.Raw()) {
		t.Error("no step leads elsewhere")
	}
}

func TestStringsAreUnescapedAsEncodingJSONDoes(t *testing.T) {
	for _, text := range []string{
		`""`, `"plain"`, `"\"\\\/\b\f\n\r\t"`, `"\u0041\u00e9\u65e5"`, `"\ud83d\ude00!"`, `"日本\n"`, `"\u0000"`, `"a\u2028b"`,
	} {
		var want string
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		v := mustValue(t, text)
		got, ok := v.Str()
		if got != want || !ok || !v.Is(want) || v.Is(want+"x") {
			t.Errorf("%s: %q, %v; want %q", text, got, ok, want)
		}
	}
	v, err := wire.ParseValue([]byte(`"a\ud800b\udc00"`), wire.Limits{AllowLoneSurrogates: true})
	if got, _ := v.Str(); err != nil || got != "a\ufffdb\ufffd" {
		t.Errorf("lone surrogates: %q, %v", got, err)
	}
}

func TestHotPathsDoNotAllocate(t *testing.T) {
	for _, n := range []int{1 << 10, 64 << 10, 1 << 20} {
		for name, data := range map[string][]byte{"log": textReply(n), "plain": plainReply(n), "dense": denseReply(n)} {
			var found int
			allocs := testing.AllocsPerRun(3, func() {
				m := wire.Parse(data, wire.Limits{})
				found += visit(m.Result())
				if v, ok := m.ResultMember("isError"); ok && m.Kind() == wire.KindResult {
					found += len(v.Raw()) + len(m.Result().Path("content", 0, "text").Raw())
				}
			})
			if allocs != 0 || found == 0 {
				t.Errorf("%s of %d bytes: %v allocations, found %d", name, n, allocs, found)
			}
		}
	}
	dst := make([]byte, 0, 1<<12)
	text := prose(1 << 10)
	if n := testing.AllocsPerRun(10, func() { dst = jsontext.AppendString(dst[:0], text) }); n != 0 {
		t.Errorf("AppendString: %v allocations", n)
	}
}

// visit touches every value below v and counts them.
func visit(v wire.Value) int {
	n := 1
	for name, value := range v.Members() {
		name.Is("x")
		n += visit(value)
	}
	for value := range v.Elements() {
		n += visit(value)
	}
	return n
}

func TestNestingUpToTheLimitIsAccepted(t *testing.T) {
	nested := func(n int) []byte {
		return []byte(strings.Repeat(`{"a":[`, n/2) + strings.Repeat(`]}`, n/2))
	}
	for _, tc := range []struct {
		depth int
		lim   wire.Limits
		ok    bool
	}{
		{128, wire.Limits{}, true}, {130, wire.Limits{}, false}, {4, wire.Limits{MaxDepth: 4}, true}, {6, wire.Limits{MaxDepth: 4}, false},
		{10_000, wire.Limits{MaxDepth: 1 << 30}, true}, {10_002, wire.Limits{MaxDepth: 1 << 30}, false},
	} {
		_, err := wire.ParseValue(nested(tc.depth), tc.lim)
		if (err == nil) != tc.ok || (err != nil && !errors.Is(err, wire.Malformation{Flaw: wireflaw.TooDeep})) {
			t.Errorf("depth %d with limit %d: %v", tc.depth, tc.lim.MaxDepth, err)
		}
	}
	if wire.Valid(bytes.Repeat([]byte("["), 8<<20), wire.Limits{}) {
		t.Error("eight million brackets are valid")
	}
}

// TestDuplicatesAreFoundInObjectsOfAnySize also covers the hostile case: with a quadratic search
// the largest object alone would take minutes.
func TestDuplicatesAreFoundInObjectsOfAnySize(t *testing.T) {
	for _, n := range []int{2, 15, 16, 17, 18, 40, 64, 65, 300, 100_000} {
		names := make([]string, n)
		for i := range names {
			names[i] = `"k` + strconv.Itoa(i) + `"`
			if i%7 == 3 {
				names[i] = `"\u006b` + strconv.Itoa(i) + `"`
			}
		}
		object := func() string { return `{` + strings.Join(names, `:1,`) + `:1}` }
		if _, err := wire.ParseValue([]byte(object()), wire.Limits{}); err != nil {
			t.Errorf("%d different names: %v", n, err)
		}
		names[n-1] = `"\u006b0"`
		for _, text := range []string{object(), `[{"a":` + object() + `}]`} {
			_, err := wire.ParseValue([]byte(text), wire.Limits{})
			if !errors.Is(err, wire.Malformation{Flaw: wireflaw.DuplicateKey}) {
				t.Errorf("the first of %d names again: %v", n, err)
			}
		}
	}
}

func TestDuplicatesAreFoundBelowManyOpenObjects(t *testing.T) {
	wide := `"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8`
	for depth := range 12 {
		open, shut := strings.Repeat(`{`+wide+`,"in":`, depth), strings.Repeat(`}`, depth)
		if !wire.Valid([]byte(open+`{"x":1,"y":2}`+shut), wire.Limits{}) {
			t.Errorf("depth %d: different names refused", depth)
		}
		if wire.Valid([]byte(open+`{"x":1,"x":2}`+shut), wire.Limits{}) {
			t.Errorf("depth %d: a duplicate was not found inside", depth)
		}
		if depth > 0 && wire.Valid([]byte(open+`{"x":1}`+`,"a":1`+shut), wire.Limits{}) {
			t.Errorf("depth %d: a duplicate was not found after the inner object", depth)
		}
	}
}

func TestRandomValuesReadAsEncodingJSONReadsThem(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 0))
	for range 100 {
		want := randomValue(rnd, 4)
		text, err := json.MarshalIndent(want, strings.Repeat(" ", rnd.IntN(3)), strings.Repeat("\t", rnd.IntN(2)))
		if err != nil {
			t.Fatal(err)
		}
		compare(t, mustValue(t, string(text)), want)
	}
}

func randomValue(rnd *rand.Rand, depth int) any {
	switch k := rnd.IntN(8); {
	case k == 0:
		return nil
	case k == 1:
		return rnd.IntN(2) == 0
	case k == 2:
		return float64(rnd.IntN(2000) - 1000)
	case k < 5 || depth == 0:
		return string(bytes.ToValidUTF8(randomText(rnd, "ab\"\\\n\x00/é日😀\u2028", 24), nil))
	case k < 7:
		object := map[string]any{}
		for range rnd.IntN(30) {
			object[string(bytes.ToValidUTF8(randomText(rnd, "abcde\"\\\té", 12), nil))] = randomValue(rnd, depth-1)
		}
		return object
	default:
		array := make([]any, rnd.IntN(6))
		for i := range array {
			array[i] = randomValue(rnd, depth-1)
		}
		return array
	}
}

func randomText(rnd *rand.Rand, alphabet string, most int) []byte {
	b := make([]byte, rnd.IntN(most))
	for i := range b {
		b[i] = alphabet[rnd.IntN(len(alphabet))]
	}
	return b
}

func compare(t *testing.T, v wire.Value, want any) {
	t.Helper()
	switch want := want.(type) {
	case nil:
		if !v.IsNull() {
			t.Errorf("%s is not null", v.Raw())
		}
	case bool:
		if got, ok := v.Bool(); !ok || got != want {
			t.Errorf("%s is not %v", v.Raw(), want)
		}
	case float64:
		if got, err := strconv.ParseFloat(string(v.Raw()), 64); err != nil || got != want {
			t.Errorf("%s is not %v", v.Raw(), want)
		}
	case string:
		if got, ok := v.Str(); !ok || got != want {
			t.Errorf("%s is not %q", v.Raw(), want)
		}
	case []any:
		if v.Type() != wire.TypeArray || v.Len() != len(want) {
			t.Fatalf("%s has not %d elements", v.Raw(), len(want))
		}
		for i := range want {
			compare(t, v.Path(i), want[i])
		}
	case map[string]any:
		if v.Type() != wire.TypeObject || v.Len() != len(want) {
			t.Fatalf("%s has not %d members", v.Raw(), len(want))
		}
		for name := range want {
			compare(t, v.Path(name), want[name])
		}
	}
}
