package catalogue_test

import (
	"reflect"
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
	if err := c.Check(again); err != nil {
		t.Error(err)
	}
	for i := range released {
		released[i].Line, again[i].Line = 0, 0
	}
	if !reflect.DeepEqual(released, again[:len(released)]) {
		t.Error("earlier promises were changed")
	}
}
