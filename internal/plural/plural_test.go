package plural_test

import (
	"testing"

	"github.com/candor-mcp/candor/internal/plural"
)

func TestNumberHasTheFormOfItsNoun(t *testing.T) {
	if one, none, two := plural.Of(1, "file"), plural.Of(uint64(0), "file"), plural.Count(2, "entry", "entries"); one != "1 file" || none != "0 files" || two != "2 entries" {
		t.Error(one, none, two)
	}
}
