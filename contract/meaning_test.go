package contract_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/testing/corpus"
	"github.com/candor-mcp/candor/wire"
)

// TestAFailureIsCalledWhatItIs checks the codes for the words of servers that are not among the recordings.
func TestAFailureIsCalledWhatItIs(t *testing.T) {
	for _, c := range []struct{ name, method, answer, code string }{
		{"a method that the server has no number for", "buoys/list", rpcError(-32603, "Unknown method: buoys/list"), "candor/METHOD_NOT_FOUND"},
		{"a tool's own methods are none of the protocol", "tools/call", failing("Unknown method: paint"), "candor/NOT_FOUND"},
		{"the failure comes first and advice behind it", "tools/call",
			failing(`Mooring "west" does not exist or has expired.`, `Use "moor" to connect to a pier, or update the server configuration.`), "candor/NOT_FOUND"},
		{"a first block that says nothing leaves it to the next", "tools/call", failing("The boat stays.", "Rate limit exceeded"), "candor/RATE_LIMITED"},
		{"a program that is not there", "tools/call", failing("Could not find Harbour Chart executable for channel 'stable' at: /opt/chart"), "candor/DEPENDENCY_MISSING"},
		{"a thing to be opened first", "tools/call", failing("Error sailing: No active boat session"), "candor/PRECONDITION_FAILED"},
	} {
		t.Run(c.name, func(t *testing.T) {
			request := wire.Parse(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":%q,"params":{"name":"moor","arguments":{}}}`, c.method), wire.Limits{})
			got := contract.Read(&contract.Exchange{Request: &request, Response: wire.Parse([]byte(c.answer), wire.Limits{})})
			if got.Error == nil || got.Error.Code().String() != c.code {
				t.Errorf("got %v, want %s", got.Error, c.code)
			}
		})
	}
}

func rpcError(number int, message string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"error":{"code":%d,"message":%q}}`, number, message)
}

func failing(texts ...string) string {
	var blocks []map[string]string
	for _, text := range texts {
		blocks = append(blocks, map[string]string{"type": "text", "text": text})
	}
	content, _ := json.Marshal(blocks) // strings can always be encoded
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"isError":true,"content":%s}}`, content)
}

type field struct {
	name, kind string
	required   bool
}

// fields parses a list such as "path:string! limit:number".
func fields(list string) []field {
	var out []field
	for word := range strings.FieldsSeq(list) {
		name, kind, _ := strings.Cut(word, ":")
		kind, required := strings.CutSuffix(kind, "!")
		out = append(out, field{name, kind, required})
	}
	return out
}

// TestNormaliseOnlyAdds checks that an envelope is added for every value that the upstream put in its member, and that the answer's own
// content is kept.
func TestNormaliseOnlyAdds(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		changed  bool
	}{
		{"a tool's failure", `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"no"}],"isError":true}}`, true},
		{"without content", `{"jsonrpc":"2.0","id":1,"result":{"isError":true}}`, true},
		{"_meta is null", `{"jsonrpc":"2.0","id":1,"result":{"isError":true,"_meta":null}}`, true},
		{"_meta is a number", `{"jsonrpc":"2.0","id":1,"result":{"isError":true,"content":"x","_meta":5}}`, true},
		{"content is a text", `{"jsonrpc":"2.0","id":1,"result":{"isError":true,"content":"x"}}`, true},
		{"somebody else's mark", `{"jsonrpc":"2.0","id":1,"result":{"isError":true,"_meta":{"dev.candor/error":{"code":"NOPE"}}}}`, true},
		{"a protocol error", `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"x"}}`, true},
		{"with data", `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"x","data":{"a":1}}}`, true},
		{"with empty data", `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"x","data":""}}`, true},
		{"data is a text", `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"x","data":"why"}}`, true},
		{"data is a list", `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"x","data":[1]}}`, true},
		{"data is exactly a uri", `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"x","data":{"uri":"a"}}}`, false},
		{"the error is a text", `{"jsonrpc":"2.0","id":1,"error":"boom"}`, false},
	} {
		m := wire.Parse([]byte(tc.in), wire.Limits{})
		got := contract.Read(&contract.Exchange{Response: m, Ref: "r"})
		out, err := contract.Normalise(nil, &m, got.Error, contract.Client{})
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if changed := string(out) != tc.in; changed != tc.changed {
			t.Errorf("%s: changed is %v, want %v: %s", tc.name, changed, tc.changed, out)
		}
		if tc.changed && !strings.Contains(string(out), `"dev.candor/error":{"code":"`+got.Error.Code().Symbol()) {
			t.Errorf("%s: no canonical error in %s", tc.name, out)
		}
	}
}

// inMessage returns the result of reading a text, a result or an error object as part of a whole message.
func inMessage(format string, part []byte) *candor.Error {
	line := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":0,`+format+`}`, part)
	return contract.Read(&contract.Exchange{Response: wire.Parse(line, wire.Limits{})}).Error
}

// TestReadersOfPartsAgreeWithRead reads each failure of the corpus as a part and as a whole message.
func TestReadersOfPartsAgreeWithRead(t *testing.T) {
	t.Parallel()
	texts := []string{
		"no such file: a.txt", "REFUSE: the plan is not approved", "Internal error", "", "429 Too Many Requests, retry after 7 seconds",
		`{"error":"boom","code":"RATE_LIMITED"}`, `{"ok":false,"error":{"code":"NOT_FOUND","message":"x"}}`,
		`{"code":"NOT_FOUND","message":"x","retry":{"kind":"not_retryable"}}`, ` {"type":"about:blank","status":404,"title":"gone"}`,
	}
	compared := 0
	compare := func(what, part string, got, want *candor.Error) {
		compared++
		if got == nil || want == nil || string(got.AppendJSON(nil, candor.JSONOptions{})) != string(want.AppendJSON(nil, candor.JSONOptions{})) {
			t.Errorf("%s %.200s\n got %v\nwant %v", what, part, got, want)
		}
	}
	records, _ := corpus.Load("real-servers.jsonl.gz") // without the corpus, only the texts above are read
	for i := range records {
		x := exchangeOf(t, &records[i])
		m := &x.Response
		switch m.Shape() {
		case wire.KindResult:
			if failed, _ := m.Result().Path("isError").Bool(); failed {
				result := m.Result()
				compare("result", string(result.Raw()), contract.ReadResult(result), inMessage(`"result":%s`, result.Raw()))
				text, _ := result.Path("content", 0, "text").Str()
				texts = append(texts, text)
			}
		case wire.KindError:
			if object := m.Error(); object.Type() == wire.TypeObject && m.Kind() == wire.KindError {
				compare("error", string(object.Raw()), contract.ReadRPCError(object), inMessage(`"error":%s`, object.Raw()))
			}
		default:
		}
	}
	for _, text := range texts {
		if text == "" {
			continue
		}
		block := jsontext.AppendString([]byte(`{"type":"text","text":`), text)
		compare("text", text, contract.ReadText(text), inMessage(`"result":{"isError":true,"content":[%s}]}`, block))
	}
	t.Logf("%d parts compared", compared)
}
