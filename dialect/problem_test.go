package dialect_test

import (
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
)

func TestAProblemDocumentHasTheMembersOfTheRFC(t *testing.T) {
	d := lookup(t, "problem")
	for c := range candor.Codes() {
		v := parse(t, d.Write(nil, candor.New(c, "m", candor.WithRef("a b/c")), dialect.Options{}))
		status, _ := v.Path("status").Int64()
		if int(status) != dialect.Status(c.Class()) || status < 400 || status > 599 || !v.Path("title").Is(c.Sentence()) ||
			!v.Path("type").Is("urn:candor:code:"+c.Domain()+":"+c.Symbol()) || !v.Path("detail").Is("m") ||
			!v.Path("instance").Is("urn:candor:ref:a%20b%2Fc") {
			t.Errorf("%s: %s", c, v.Raw())
		}
	}
}

func TestProblemsOfOthersAreReadByTheirStatus(t *testing.T) {
	d := lookup(t, "problem")
	for raw, want := range map[string]candor.Code{
		`{"type":"https://example.com/probs/out-of-credit","title":"No credit","status":403,"detail":"Balance is 30","balance":30}`: candor.CodePermissionDenied,
		`{"type":"about:blank","title":"Not Found","status":404}`:                                                                   candor.CodeNotFound,
		`{"type":"about:blank","title":"Teapot","status":418}`:                                                                      candor.CodeInvalidArguments,
		`{"type":"about:blank","title":"Broken","status":500}`:                                                                      candor.CodeUnknownToolFailure,
		`{"title":"no status"}`: candor.CodeUnknownToolFailure,
	} {
		e := read(t, d, []byte(raw))
		if e.Code() != want || !e.Origin().Inferred {
			t.Errorf("%s: %s", raw, canonical(e))
		}
		if strings.Contains(raw, "balance") && e.Details().Get("said").Get("balance").String() != "30" {
			t.Errorf("an extension member is lost: %s", canonical(e))
		}
	}
	if _, err := d.Read(parse(t, []byte(`{"type":"urn:candor:code:candor:NOT_FOUND","status":404}`))); err == nil {
		t.Error("a document of ours without its members was read")
	}
}
