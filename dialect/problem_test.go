package dialect_test

import (
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
)

func TestAProblemDocumentHasTheMembersOfTheRFC(t *testing.T) {
	d := lookup(t, "problem")
	for c := range candor.Codes() {
		v := parse(t, d.Write(nil, candor.New(c, "m", candor.WithRef("a b/c")), dialect.Options{}))
		status, _ := v.Path("status").Int64()
		if status < 400 || status > 599 || !v.Path("title").Is(c.Info().Sentence) ||
			!v.Path("type").Is("urn:candor:code:"+c.Domain()+":"+c.Symbol()) || !v.Path("detail").Is("m") ||
			!v.Path("instance").Is("urn:candor:ref:a%20b%2Fc") {
			t.Errorf("%s: %s", c, v.Raw())
		}
	}
}
