package catalogue_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/catalogue"
)

func TestReleasingAddsAndNeverRemoves(t *testing.T) {
	c, released := load(t)
	text := catalogue.FormatReleased(c, released)
	again, err := catalogue.ParseReleased(text)
	if err != nil {
		t.Fatal(err)
	}
	active := 0
	for _, code := range c.Codes {
		if code.Status != catalogue.StatusReserved {
			active++
		}
	}
	if len(again) != active {
		t.Errorf("%d promises for %d codes in use", len(again), active)
	}
	if err := c.Check(loadPhrases(t).Compile(), again); err != nil {
		t.Error(err)
	}
	for i := range released {
		released[i].Line, again[i].Line = 0, 0
	}
	if !reflect.DeepEqual(released, again[:len(released)]) {
		t.Error("earlier promises were changed")
	}
}

func TestBadPromisesAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"# fine\n\n0.1.0 1000 a/B c":     "line 3: 4 fields",
		"0.1.0 many a/B c not_retryable": `line 1: "many" is not a number`,
	} {
		if _, err := catalogue.ParseReleased(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// TestTheCarriedOverVocabulariesAreWhole checks the number of codes of each domain taken from another system.
func TestTheCarriedOverVocabulariesAreWhole(t *testing.T) {
	c, _ := load(t)
	for domain, want := range map[string]int{"common": 7, "kaiza": 35, "workrail": 13, "blockers": 10, "dual": 20} {
		if got := len(c.In(domain)); got != want {
			t.Errorf("%s has %d codes, not %d", domain, got, want)
		}
	}
}
