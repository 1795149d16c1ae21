package wire_test

import (
	"bytes"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

func TestKindIsToldFromTheMembers(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want wire.Kind
	}{
		{`{"jsonrpc":"2.0","id":1,"method":"a/b","params":{}}`, wire.KindRequest},
		{`{"jsonrpc":"2.0","id":"x","method":"a/b","params":[1,2]}`, wire.KindRequest},
		{`{"jsonrpc":"2.0","id":"x","method":"a/b"}`, wire.KindRequest},
		{`{"jsonrpc":"2.0","method":"a/b"}`, wire.KindNotification},
		{`{"jsonrpc":"2.0","id":1,"result":{}}`, wire.KindResult},
		{`{"jsonrpc":"2.0","id":1,"result":null}`, wire.KindResult},
		{`{"result":{"a":[1,2]},"jsonrpc":"2.0","id":7}`, wire.KindResult},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"no"}}`, wire.KindError},
		{`{"jsonrpc":"2.0","error":{"code":-32700,"message":"no","data":[1]}}`, wire.KindError},
		{"\r\n {\t\"jsonrpc\" : \"2.0\" , \"id\" : 1 , \"result\" : { } } \n", wire.KindResult},
		{`{"jsonrpc":"2.\u0030","id":1,"m\u0065thod":"x"}`, wire.KindRequest},
		{`{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"jsonrpc":"2.0","id":1,"result":3}`, wire.KindResult},
	} {
		m := wire.Parse([]byte(tc.in), wire.Limits{})
		if m.Kind() != tc.want || m.Err() != nil || m.Shape() != tc.want || !m.Flaws().Empty() {
			t.Errorf("%s: kind %v, shape %v, %v; want %v", tc.in, m.Kind(), m.Shape(), m.Err(), tc.want)
		}
		if string(m.Bytes()) != tc.in {
			t.Errorf("%s: bytes changed to %s", tc.in, m.Bytes())
		}
	}
}

func TestIDsKeepTheirSpelling(t *testing.T) {
	for _, id := range []string{
		"0", "1", "1.0", "-1", "1e3", "1.5E+2", "9007199254740993", "9223372036854775808",
		"123456789012345678901234567890", `"1"`, `""`, `"\u0031"`, `"a\/b"`, `"日本"`,
	} {
		for _, in := range []string{
			`{"jsonrpc":"2.0","id":` + id + `,"method":"m"}`,
			`{"result":1,"jsonrpc":"2.0","id" : ` + id + ` }`,
		} {
			m := wire.Parse([]byte(in), wire.Limits{})
			if string(m.ID()) != id || m.Err() != nil {
				t.Errorf("%s: id %s, %v; want %s", in, m.ID(), m.Err(), id)
			}
		}
	}
}

func TestIDsAreEqualOnlyIfTheyAreTheSameID(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"1", "1", true}, {`"1"`, "1", false}, {"1.0", "1", false}, {"1e0", "1", false},
		{`"\u0031"`, `"1"`, true}, {`"a\/b"`, `"a/b"`, true}, {`"a"`, `"b"`, false},
		{"9007199254740993", "9007199254740992", false}, {`"null"`, "null", false},
	} {
		a, b := wire.ID(tc.a), wire.ID(tc.b)
		if a.Equal(b) != tc.want || b.Equal(a) != tc.want {
			t.Errorf("%s equals %s: %v, want %v", a, b, a.Equal(b), tc.want)
		}
		if bytes.Equal(a.AppendKey(nil), b.AppendKey(nil)) != tc.want {
			t.Errorf("keys of %s and %s do not agree with Equal", a, b)
		}
	}
}

// flawed has at least one sample of every flaw.
var flawed = []struct {
	in     string
	flaw   wireflaw.Flaw
	offset int
	id     string // as it can still be read
	shape  wire.Kind
}{
	{``, wireflaw.Truncated, 0, "", wire.KindMalformed},
	{`  `, wireflaw.Truncated, 2, "", wire.KindMalformed},
	{`hello world`, wireflaw.NotJSON, 0, "", wire.KindMalformed},
	{`{'a':1}`, wireflaw.NotJSON, 1, "", wire.KindMalformed},
	{`{"a":01}`, wireflaw.NotJSON, 6, "", wire.KindMalformed},
	{`{"a":+1}`, wireflaw.NotJSON, 5, "", wire.KindMalformed},
	{`{"a":.5}`, wireflaw.NotJSON, 5, "", wire.KindMalformed},
	{`{"a":1.}`, wireflaw.NotJSON, 7, "", wire.KindMalformed},
	{`{"a":1e}`, wireflaw.NotJSON, 7, "", wire.KindMalformed},
	{`{"a":NaN}`, wireflaw.NotJSON, 5, "", wire.KindMalformed},
	{`{"a":tru}`, wireflaw.NotJSON, 8, "", wire.KindMalformed},
	{`{"a":1,}`, wireflaw.NotJSON, 7, "", wire.KindMalformed},
	{`{"a" 1}`, wireflaw.NotJSON, 5, "", wire.KindMalformed},
	{`{"a":[1 2]}`, wireflaw.NotJSON, 8, "", wire.KindMalformed},
	{`{"a":[1,]}`, wireflaw.NotJSON, 8, "", wire.KindMalformed},
	{`{"a":"\x"}`, wireflaw.NotJSON, 7, "", wire.KindMalformed},
	{`{"a":"\u00g0"}`, wireflaw.NotJSON, 10, "", wire.KindMalformed},
	{"\x00", wireflaw.NotJSON, 0, "", wire.KindMalformed},
	{"{\"id\":1,\x00\"method\":\"x\"}", wireflaw.NotJSON, 8, "1", wire.KindMalformed},
	{`{"jsonrpc":"2.0","id":7,"method":`, wireflaw.Truncated, 33, "7", wire.KindMalformed},
	{`{"jsonrpc":"2.0","method":"x","id":7`, wireflaw.Truncated, 36, "", wire.KindMalformed},
	{`{"a":"b`, wireflaw.Truncated, 7, "", wire.KindMalformed},
	{`{"a":"b\`, wireflaw.Truncated, 8, "", wire.KindMalformed},
	{`{"a":"b\u00`, wireflaw.Truncated, 11, "", wire.KindMalformed},
	{`{"a":tr`, wireflaw.Truncated, 7, "", wire.KindMalformed},
	{`{"jsonrpc":"2.0","id":1,"result":1}{"jsonrpc":"2.0","id":2,"result":1}`, wireflaw.TrailingData, 35, "1", wire.KindResult},
	{`{"jsonrpc":"2.0","id":1,"result":1}x`, wireflaw.TrailingData, 35, "1", wire.KindResult},
	{"\xef\xbb\xbf" + `{"jsonrpc":"2.0","id":1,"result":1}`, wireflaw.BOM, 0, "1", wire.KindResult},
	{`{"jsonrpc":"2.0","result":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `,"id":3}`, wireflaw.TooDeep, 153, "3", wire.KindResult},
	{"{\"jsonrpc\":\"2.0\",\"result\":\"a\tb\",\"id\":3}", wireflaw.ControlCharacter, 28, "3", wire.KindResult},
	{"{\"jsonrpc\":\"2.0\",\"result\":\"a\xffb\",\"id\":3}", wireflaw.BadUTF8, 28, "3", wire.KindResult},
	{"{\"jsonrpc\":\"2.0\",\"result\":\"\xed\xa0\x80\",\"id\":3}", wireflaw.BadUTF8, 27, "3", wire.KindResult},
	{"{\"jsonrpc\":\"2.0\",\"result\":\"\xc0\xaf\",\"id\":3}", wireflaw.BadUTF8, 27, "3", wire.KindResult},
	{`{"jsonrpc":"2.0","result":"a\ud800b","id":3}`, wireflaw.LoneSurrogate, 28, "3", wire.KindResult},
	{`{"jsonrpc":"2.0","result":"\udc00\ud800","id":3}`, wireflaw.LoneSurrogate, 27, "3", wire.KindResult},
	{`{"jsonrpc":"2.0","result":"\ud800\ud800\udc00","id":3}`, wireflaw.LoneSurrogate, 27, "3", wire.KindResult},
	{`{"jsonrpc":"2.0","id":1,"result":1,"result":2}`, wireflaw.DuplicateKey, 35, "1", wire.KindResult},
	{`{"jsonrpc":"2.0","id":1,"id":2,"result":1}`, wireflaw.DuplicateKey, 24, "", wire.KindResult},
	{`{"jsonrpc":"2.0","id":1,"\u0069d":1,"result":1}`, wireflaw.DuplicateKey, 24, "", wire.KindResult},
	{`{"jsonrpc":"2.0","id":1,"result":{"a":[{"b":{"x":1,"y":2,"\u0078":3}}]}}`, wireflaw.DuplicateKey, 57, "1", wire.KindResult},
	{`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1,"a":1}}`, wireflaw.DuplicateKey, 53, "1", wire.KindRequest},
	{`{"jsonrpc":"2.0","id":1,"error":{"code":1,"code":1,"message":"m"}}`, wireflaw.DuplicateKey, 42, "1", wire.KindError},
	{`{"jsonrpc":"2.0","id":1,"result":1,"Result":2}`, wireflaw.FoldedName, 35, "1", wire.KindResult},
	{`{"jsonrpc":"2.0","id":1,"ID":2,"result":2}`, wireflaw.FoldedName, 24, "", wire.KindResult},
	{`{"jsonrpc":"2.0","id":1,"method":"x","re` + "\u017f" + `ult":2}`, wireflaw.FoldedName, 37, "1", wire.KindRequest},
	{`{"jsonrpc":"2.0","id":1,"method":"x","\u004dethod":2}`, wireflaw.FoldedName, 37, "1", wire.KindRequest},
	{`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m","Code":2}}`, wireflaw.FoldedName, 32, "1", wire.KindError},
	{`[]`, wireflaw.Batch, 0, "", wire.KindMalformed},
	{` [{"jsonrpc":"2.0","id":1,"method":"m"}]`, wireflaw.Batch, 1, "", wire.KindMalformed},
	{`"hello"`, wireflaw.NotObject, 0, "", wire.KindMalformed},
	{`null`, wireflaw.NotObject, 0, "", wire.KindMalformed},
	{`12`, wireflaw.NotObject, 0, "", wire.KindMalformed},
	{`{"id":1,"method":"m"}`, wireflaw.BadVersion, 0, "1", wire.KindRequest},
	{`{"jsonrpc":"1.0","id":1,"method":"m"}`, wireflaw.BadVersion, 11, "1", wire.KindRequest},
	{`{"jsonrpc":2.0,"id":1,"method":"m"}`, wireflaw.BadVersion, 11, "1", wire.KindRequest},
	{`{"jsonrpc":"2.0","id":true,"method":"m"}`, wireflaw.BadID, 22, "", wire.KindRequest},
	{`{"jsonrpc":"2.0","id":{},"method":"m"}`, wireflaw.BadID, 22, "", wire.KindRequest},
	{`{"jsonrpc":"2.0","id":[1],"result":"m"}`, wireflaw.BadID, 22, "", wire.KindResult},
	{`{"jsonrpc":"2.0","id":null,"method":"m"}`, wireflaw.NullID, 22, "null", wire.KindRequest},
	{`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}`, wireflaw.NullID, 22, "null", wire.KindError},
	{`{"jsonrpc":"2.0","result":1}`, wireflaw.MissingID, 0, "", wire.KindResult},
	{`{"jsonrpc":"2.0","id":1,"method":5}`, wireflaw.BadMethod, 33, "1", wire.KindRequest},
	{`{"jsonrpc":"2.0","id":1,"method":null}`, wireflaw.BadMethod, 33, "1", wire.KindRequest},
	{`{"jsonrpc":"2.0","id":1,"method":"m","params":"x"}`, wireflaw.BadParams, 46, "1", wire.KindRequest},
	{`{"jsonrpc":"2.0","id":1,"method":"m","params":null}`, wireflaw.BadParams, 46, "1", wire.KindRequest},
	{`{"jsonrpc":"2.0","id":1,"error":null}`, wireflaw.BadError, 32, "1", wire.KindError},
	{`{"jsonrpc":"2.0","id":1,"error":"x"}`, wireflaw.BadError, 32, "1", wire.KindError},
	{`{"jsonrpc":"2.0","id":1,"error":{"code":"x","message":"m"}}`, wireflaw.BadError, 32, "1", wire.KindError},
	{`{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"m"}}`, wireflaw.BadError, 32, "1", wire.KindError},
	{`{"jsonrpc":"2.0","id":1,"error":{"code":1}}`, wireflaw.BadError, 32, "1", wire.KindError},
	{`{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":"m"}}`, wireflaw.ResultAndError, 43, "1", wire.KindMalformed},
	{`{"jsonrpc":"2.0","id":1,"method":"m","result":1}`, wireflaw.RequestAndResponse, 33, "1", wire.KindMalformed},
	{`{"jsonrpc":"2.0","id":1}`, wireflaw.NeitherResultNorError, 0, "1", wire.KindMalformed},
	{`{"jsonrpc":"2.0","id":1,"result":"` + strings.Repeat("x", wire.DefaultMaxBytes) + `"}`, wireflaw.TooLarge, wire.DefaultMaxBytes, "1", wire.KindMalformed},
}

// Servers that follow JSON-RPC 1.0 send both members, and the one that does not apply is null.
func TestNullBesideResultOrErrorIsNoFlaw(t *testing.T) {
	for _, tc := range []struct {
		in            string
		kind          wire.Kind
		result, fault string
	}{
		{`{"jsonrpc":"2.0","id":1,"result":{"a":1},"error":null}`, wire.KindResult, `{"a":1}`, ""},
		{`{"jsonrpc":"2.0","error":null,"result":{"a":1},"id":1}`, wire.KindResult, `{"a":1}`, ""},
		{`{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1,"message":"m"}}`, wire.KindError, "", `{"code":1,"message":"m"}`},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"},"result":null}`, wire.KindError, "", `{"code":1,"message":"m"}`},
		{`{"jsonrpc":"2.0","id":1,"result":null,"error":null}`, wire.KindResult, "null", ""},
	} {
		m := wire.Parse([]byte(tc.in), wire.Limits{})
		if m.Kind() != tc.kind || m.Err() != nil {
			t.Errorf("%s: %v, %v", tc.in, m.Kind(), m.Err())
		}
		if got := string(m.Result().Raw()); got != tc.result {
			t.Errorf("%s: result %q, want %q", tc.in, got, tc.result)
		}
		if got := string(m.Error().Raw()); got != tc.fault {
			t.Errorf("%s: error %q, want %q", tc.in, got, tc.fault)
		}
	}
}

func TestEveryMalformationHasItsNameAndPlace(t *testing.T) {
	for _, tc := range flawed {
		name := tc.in[:min(len(tc.in), 90)]
		m := wire.Parse([]byte(tc.in), wire.Limits{})
		if got := m.Malformation(); got.Flaw != tc.flaw || got.Offset != tc.offset {
			t.Errorf("%q: %v, want %v at byte %d", name, got, tc.flaw, tc.offset)
		}
		if m.Kind() != wire.KindMalformed || m.Shape() != tc.shape {
			t.Errorf("%q: kind %v, shape %v, want malformed, %v", name, m.Kind(), m.Shape(), tc.shape)
		}
		if !m.Flaws().Has(tc.flaw) || !errors.Is(m.Err(), wire.Malformation{Flaw: tc.flaw}) {
			t.Errorf("%q: the flaw is not among %v, or not the error", name, m.Flaws())
		}
		if string(m.ID()) != tc.id {
			t.Errorf("%q: id %q, want %q", name, m.ID(), tc.id)
		}
		if string(m.Bytes()) != tc.in {
			t.Errorf("%q: the bytes changed", name)
		}
	}
}

func TestEveryFlawHasASample(t *testing.T) {
	var seen wireflaw.Set
	for _, tc := range flawed {
		seen |= wireflaw.SetOf(tc.flaw)
	}
	for _, f := range wireflaw.All() {
		if !seen.Has(f) {
			t.Errorf("no sample shows %v", f)
		}
	}
}

func TestAllFlawsOfAMessageAreNamed(t *testing.T) {
	m := wire.Parse([]byte(`{"id":true,"x":"\ud800","x":1,"Method":5,"result":1,"error":{}}`), wire.Limits{})
	want := wireflaw.SetOf(wireflaw.LoneSurrogate, wireflaw.DuplicateKey, wireflaw.FoldedName, wireflaw.BadVersion, wireflaw.BadID, wireflaw.ResultAndError)
	if m.Flaws() != want || m.Malformation().Flaw != wireflaw.LoneSurrogate {
		t.Errorf("found %b, worst %v; want %b", m.Flaws(), m.Err(), want)
	}
}

func TestLoneSurrogatesPassIfAllowed(t *testing.T) {
	m := wire.Parse([]byte(`{"jsonrpc":"2.0","id":1,"result":"\ud800"}`), wire.Limits{AllowLoneSurrogates: true})
	if m.Kind() != wire.KindResult || m.Err() != nil {
		t.Errorf("%v, %v", m.Kind(), m.Err())
	}
}

func TestAMessageOffersItsParts(t *testing.T) {
	m := wire.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"a\/b","params":{"n":1.50},"extra":[1]}`), wire.Limits{})
	extra, _ := m.Value().Get("extra")
	if string(m.Method()) != "a/b" || !m.MethodIs("a/b") || m.MethodIs("a") || string(m.Params().Raw()) != `{"n":1.50}` ||
		string(extra.Raw()) != "[1]" || m.Result().Present() || m.Error().Present() {
		t.Errorf("method %q, params %s, extra %s", m.Method(), m.Params().Raw(), extra.Raw())
	}
	if _, ok := m.SplitBatch(); ok {
		t.Error("a single message is no batch")
	}
	c := m.Clone()
	m.Bytes()[2] = 'X'
	if string(c.ID()) != "1" || c.Bytes()[2] != 'j' {
		t.Error("a clone shares memory")
	}
}

func TestABatchCanBeTakenApart(t *testing.T) {
	m := wire.Parse([]byte(`[ {"a":1} , 5,"x" ]`), wire.Limits{})
	units, ok := m.SplitBatch()
	if !ok || len(units) != 3 || string(units[0]) != `{"a":1}` || string(units[2]) != `"x"` {
		t.Errorf("%q, %v", units, ok)
	}
}

func TestResultMembersAreTheSameByIndexAndByWalk(t *testing.T) {
	many := `{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9}`
	for _, tc := range []struct{ in, name, want string }{
		{`{"jsonrpc":"2.0","id":1,"result":{"a":1,"\u0062":[2]}}`, "b", "[2]"},
		{`{"jsonrpc":"2.0","id":1,"result":{"a":1}}`, "b", ""},
		{`{"jsonrpc":"2.0","id":1,"result":[{"a":1}]}`, "a", ""},
		{`{"jsonrpc":"2.0","id":1,"result":` + many + `}`, "i", "9"},
		{`{"jsonrpc":"2.0","id":1,"r\u0065sult":{"a":1}}`, "a", "1"},
		{`{"jsonrpc":"2.0","id":1,"r\u0065sult":{"a":1},"result":{"a":2}}`, "a", "1"},
		{`{"jsonrpc":"2.0","id":1,"result":{"a":1},"result":{"a":2}}`, "a", "1"},
		{`{"jsonrpc":"2.0","id":1,"x":{"result":{"a":2}},"result":{"b":1}}`, "a", ""},
		{`{"jsonrpc":"2.0","id":1,"result":{"a":1}`, "a", ""},
	} {
		m := wire.Parse([]byte(tc.in), wire.Limits{})
		byIndex, _ := m.ResultMember(tc.name)
		byWalk, _ := m.Result().Get(tc.name)
		if string(byIndex.Raw()) != tc.want || string(byWalk.Raw()) != tc.want {
			t.Errorf("%s: %s by index, %s by walk, want %s", tc.in, byIndex.Raw(), byWalk.Raw(), tc.want)
		}
		if got, want := listed(m.ResultMembers()), listed(m.Result().Members()); got != want {
			t.Errorf("%s: members %s by index, %s by walk", tc.in, got, want)
		}
	}
}

func listed(members iter.Seq2[wire.Value, wire.Value]) (all string) {
	for name, value := range members {
		all += string(name.Raw()) + ":" + string(value.Raw()) + ","
	}
	return all
}

func TestFirstElementsAreTheSameByIndexAndByWalk(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{`{"result":{"content":[{"type":"text","text":"a"},{"text":"b"}]},"jsonrpc":"2.0","id":1}`, `"a"`},
		{`{"jsonrpc":"2.0","id":1,"result":{"tags":[{"text":"x"}],"content":[{"text":"a"}]}}`, `"a"`},
		{`{"jsonrpc":"2.0","id":1,"result":{"content":[[{"text":"a"}]]}}`, ``},
		{`{"jsonrpc":"2.0","id":1,"result":{"content":[1,{"text":"a"}]}}`, ``},
		{`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`, ``},
		{`{"jsonrpc":"2.0","id":1,"result":{"content":{"text":"a"}}}`, ``},
		{`{"jsonrpc":"2.0","id":1,"result":{"x":{"content":[{"text":"a"}]}}}`, ``},
		{`{"jsonrpc":"2.0","id":1,"result":{"content":[{"text":"a","text":"b"}]}}`, `"a"`},
		{`{"jsonrpc":"2.0","id":1,"result":{"content":[{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"text":"a"}]}}`, `"a"`},
		{`{"jsonrpc":"2.0","id":1,"result":[{"content":[{"text":"a"}]}]}`, ``},
		{`{"jsonrpc":"2.0","id":1,"result":{"content":[{"text":"a"}]},"result":{"content":[{"text":"b"}]}}`, `"a"`},
		{`{"jsonrpc":"2.0","id":1,"result":{"content":[{"text":"a"}]`, ``},
	} {
		m := wire.Parse([]byte(tc.in), wire.Limits{})
		byIndex, _ := m.ResultFirst("content", "text")
		byWalk := m.Result().Path("content", 0, "text")
		if string(byIndex.Raw()) != tc.want || string(byWalk.Raw()) != tc.want {
			t.Errorf("%s: %s by index, %s by walk, want %s", tc.in, byIndex.Raw(), byWalk.Raw(), tc.want)
		}
	}
}

func TestTheZeroMessageIsMalformedAndEmpty(t *testing.T) {
	var m wire.Message
	if m.Kind() != wire.KindMalformed || m.ID() != nil || m.Method() != nil || m.Value().Present() || m.Bytes() != nil {
		t.Error("the zero message offers something")
	}
}
