package contract_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
)

func TestBoundIsIdempotentAndOnRuneBorders(t *testing.T) {
	text := strings.Repeat("пароль=hunter2 語😀 ", 200)
	for limit := range 300 {
		got := contract.Bound(text, limit)
		if len(got) > limit || !utf8.ValidString(got) {
			t.Fatalf("limit %d gives %d bytes: %q", limit, len(got), got)
		}
		if again := contract.Bound(got, limit); again != got {
			t.Fatalf("limit %d: %q became %q", limit, got, again)
		}
	}
}

func TestBoundJSONIsIdempotentAndRefusesOtherText(t *testing.T) {
	raw := []byte(`{"password":"x","list":[` + strings.Repeat(`{"a":[1,2,3]},`, 2000) + `0]}`)
	once, err := contract.BoundJSON(raw)
	if err != nil || len(once) > candor.MaxDetails || strings.Contains(string(once), `"x"`) {
		t.Fatalf("%d bytes, %v", len(once), err)
	}
	if twice, err := contract.BoundJSON(once); err != nil || string(twice) != string(once) {
		t.Errorf("not idempotent: %v", err)
	}
	if _, err := contract.BoundJSON([]byte(`{"a":`)); err == nil {
		t.Error("half a value is taken for one")
	}
}
