package contract_test

import (
	"fmt"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/testing/corpus"
	"github.com/candor-mcp/candor/wire"
)

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
		block := wire.AppendString([]byte(`{"type":"text","text":`), text)
		compare("text", text, contract.ReadText(text), inMessage(`"result":{"isError":true,"content":[%s}]}`, block))
	}
	t.Logf("%d parts compared", compared)
}
