package readme_test

import (
	"os"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/testbinary"
	"github.com/candor-mcp/candor/internal/tools/readme"
)

var candor string

func TestMain(m *testing.M) { os.Exit(testbinary.Run(m, false, &candor)) }

func repository() readme.Repository { return readme.Repository{Dir: "../../..", Candor: candor} }

func TestReadmeShowsTheProgramsOutput(t *testing.T) {
	page, err := os.ReadFile("../../../" + readme.PagePath)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"<!-- call: alone ", "<!-- call: through ", "<!-- output: "} {
		if !strings.Contains(string(page), part) {
			t.Errorf("README.md: %s is missing", part)
		}
	}
	want, err := repository().Render(t.Context(), string(page))
	if err != nil {
		t.Fatal(err)
	}
	if want != string(page) {
		t.Errorf("README.md is stale; run make readme\n%s", firstDifference(string(page), want))
	}
}

func firstDifference(page, want string) string {
	have, now := strings.Split(page, "\n"), strings.Split(want, "\n")
	for i := range min(len(have), len(now)) {
		if have[i] != now[i] {
			return "the page has:    " + have[i] + "\nthe program has: " + now[i]
		}
	}
	return "one of them is longer"
}
