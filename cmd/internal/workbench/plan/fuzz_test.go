package plan_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/workbench/plan"
)

// FuzzParse checks that any bytes are parsed or refused with a reason. A parsed plan can be stored, read back and shown,
// and does not cover plans.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{greeting, string(scoped("**", "{a,b}/[c-d]*")), "---\n---\n", "---\na: &a [*a]\n---\nx", string(with("title: \"\\x41\"\nscope: [a, 'b']"))} {
		f.Add([]byte(seed))
	}
	f.Add([]byte("title: \"x\"\nscope:\n  - a # b\n  - 'c'\nphase: A\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		fuzzOne(t, content)
		fuzzOne(t, with(string(content))) // the same bytes as front matter
	})
}

func fuzzOne(t *testing.T, content []byte) {
	canonical := plan.Canonical(content)
	if !bytes.Equal(canonical, plan.Canonical(canonical)) {
		t.Fatal("the canonical form is not one")
	}
	p, issues := plan.Parse(content)
	if p == nil && len(issues) == 0 || len(issues) > plan.MaxIssues {
		t.Fatalf("plan %v with %d issues", p, len(issues))
	}
	if p == nil {
		return
	}
	if len(p.Scope) == 0 || p.Title == "" {
		t.Fatalf("an incomplete plan passes: %+v", p)
	}
	for _, path := range []string{"docs/plans/x.md", "../x", "/x", "docs/PLANS/x"} {
		if p.Covers(path) {
			t.Fatalf("%q covers %s", p.Scope, path)
		}
	}
	hash := plan.Hash(content)
	stored, err := plan.Read(plan.Render(content, hash, plan.StatusProposed), plan.Name(hash))
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Review(io.Discard, stored); err != nil {
		t.Fatal(err)
	}
}
