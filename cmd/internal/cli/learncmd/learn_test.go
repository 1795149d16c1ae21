package learncmd

import (
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/learn"
)

func TestAcceptTakesTheBeginningOfAnID(t *testing.T) {
	t.Parallel()
	found := &learn.Findings{Shapes: []learn.Shape{{ID: "4f1c9a2e", Server: "shop", Tool: "price"}, {ID: "4f07aa31", Server: "shop", Tool: "stock\x1b"}, {ID: "c5000000"}}}
	for prefix, want := range map[string]string{"c": "c5000000", "4F1": "4f1c9a2e", "4f07aa31": "4f07aa31"} {
		if id, err := completeID(found, prefix); err != nil || id != want {
			t.Errorf("%s: %s, %v", prefix, id, err)
		}
	}
	for prefix, want := range map[string]string{
		"4f": "--accept 4f: ambiguous, 2 ids begin with it:\n  4f1c9a2e  shop  price\n  4f07aa31  shop  stock\\u001b", "": "no such shape", "4f1c9a2e0": "no such shape",
	} {
		if _, err := completeID(found, prefix); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", prefix, err)
		}
	}
}
