package kaiza_test

import (
	"encoding/json"
	"testing"

	"github.com/candor-mcp/candor"
)

// registered returns the codes of the contract by their symbols.
func registered() map[string]candor.Code {
	codes := map[string]candor.Code{}
	for c := range candor.Codes() {
		if c.Domain() == "kaiza" {
			codes[c.Symbol()] = c
		}
	}
	return codes
}

func TestK3ThereAreThirtyFiveCodesAndNoOther(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	out, code := p.candor("codes", "--domain", "kaiza", "--json")
	var listed []struct {
		Symbol string `json:"symbol"`
		Status string `json:"status"`
	}
	if err := json.Unmarshal([]byte(out), &listed); err != nil || code != 0 {
		t.Fatalf("%d %v %s", code, err, out)
	}
	known := registered()
	if len(listed) != 35 || len(known) != 35 {
		t.Errorf("the program lists %d codes and %d are registered, and the contract has 35", len(listed), len(known))
	}
	for _, c := range listed {
		if parsed, err := candor.ParseCode("kaiza/" + c.Symbol); err != nil || parsed != known[c.Symbol] || !parsed.Valid() {
			t.Errorf("%s is listed and reads as %v, %v", c.Symbol, parsed, err)
		}
	}
	for _, text := range []string{"kaiza/AUTH_FAILED", "kaiza/WRITE_REJECTED", "kaiza/NO_SUCH_CODE", "UNDEFINED", "undefined", "null", "", " ", "kaiza/", "/"} {
		if c, err := candor.ParseCode(text); err == nil || c.Valid() {
			t.Errorf("%q is read as %v", text, c)
		}
		if out, code := p.candor("explain", text); code != 2 {
			t.Errorf("explain %q: %d %s", text, code, out)
		}
	}
}

// TestK3AnErrorWithoutACodeBecomesNoOther has a tool fail without a code: the failure is reported as such in every
// dialect.
func TestK3AnErrorWithoutACodeBecomesNoOther(t *testing.T) {
	t.Parallel()
	for _, dialect := range []string{"system-error", "candor", "tool-error"} {
		c := newEnv(t).executor("--drill", "--dialect", dialect)
		c.drill("uncoded").is("UNCODED_ERROR")
		c.call("no_such_tool", args{}).is("TOOL_NOT_FOUND") // a code of another domain is kept, too
	}
}
