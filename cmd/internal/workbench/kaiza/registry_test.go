package kaiza_test

import (
	"encoding/json"
	"reflect"
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

// TestK3AnUnregisteredCodeCannotBeWrittenDown checks that the Code type is a struct without exported fields.
func TestK3AnUnregisteredCodeCannotBeWrittenDown(t *testing.T) {
	t.Parallel()
	code := reflect.TypeFor[candor.Code]()
	if code.Kind() != reflect.Struct || code.NumField() == 0 {
		t.Fatalf("a code is a %s: any constant would be one", code.Kind())
	}
	for field := range code.Fields() {
		if field.IsExported() {
			t.Errorf("everybody may set %s", field.Name)
		}
	}
	none := candor.New(candor.Code{}, "The code is missing.")
	if none.Code().Valid() || none.Validate() == nil {
		t.Errorf("an error without a code has become %v", none.Code())
	}
	written, err := json.Marshal(none)
	if err != nil {
		t.Fatal(err)
	}
	var sent struct {
		Code string `json:"code"`
	}
	if err := json.Unmarshal(written, &sent); err != nil || sent.Code != "UNCODED_ERROR" {
		t.Errorf("an error without a code is sent as %s", written)
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

// TestK4EveryCodeHasATriggerAndNoneIsReserved checks that each code has a trigger; TestK4EveryCodeIsEmitted runs the
// triggers.
func TestK4EveryCodeHasATriggerAndNoneIsReserved(t *testing.T) {
	t.Parallel()
	known := registered()
	for symbol, c := range known {
		if triggers[symbol] == nil {
			t.Errorf("nothing makes the server emit %s", symbol)
		}
		if c.Status() != candor.StatusActive {
			t.Errorf("%s is %s", symbol, c.Status())
		}
	}
	for symbol := range triggers {
		if !known[symbol].Valid() {
			t.Errorf("%s has a trigger and is not registered", symbol)
		}
	}
}
