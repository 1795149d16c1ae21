package kaiza_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestARefusalSaysWhatToDoInstead makes common mistakes of agents and checks the suggestions.
func TestARefusalSaysWhatToDoInstead(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	p.write("src/a.txt", "one\n")
	if err := os.Truncate(p.file("src/a.txt"), 9<<20); err != nil {
		t.Fatal(err)
	}
	c := p.start()
	c.begin("WINDSURF")
	for _, slip := range []struct {
		tool string
		args args
		code string
		says string
	}{
		{"read_file", args{"path": "src"}, "FILE_READ_FAILED", "List the folder"},
		{"read_file", args{"path": "src/a.txt"}, "FILE_READ_FAILED", "neither read nor searched"},
		{"write_file", args{"path": "src/new/b.txt", "content": "x", "plan_hash": plan}, "PATH_NOT_FOUND", "make_dirs: true"},
		{"apply_patch", args{"patch": "--- a/src/a.sh\n+++ b/src/b.sh\n@@ -1 +1 @@\n-a\n+b\n", "plan_hash": plan}, "PATCH_INVALID", "same name"},
		{"write_file", args{"path": "deploy.sh", "content": "x", "plan_hash": plan}, "PLAN_SCOPE_VIOLATION", `"deploy.sh"`},
		{"write_file", args{"path": "docs/reports/why.sh", "content": "x"}, "SESSION_LOCKED", ".md, .txt or .json"},
	} {
		a := c.call(slip.tool, slip.args)
		a.is(slip.code)
		if said := a.text("content", 1, "text"); !strings.Contains(said, slip.says) {
			t.Errorf("%s %v: %q is not said: %s", slip.tool, slip.args, slip.says, said)
		}
	}
}

// TestReviewCountsDeepFiles shows a plan for files that are deeper and more numerous than the limits of a
// listing.
func TestReviewCountsDeepFiles(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	p.write("src/main/java/com/example/deep/A.java", "class A {}\n")
	for i := range 1200 {
		p.write(fmt.Sprintf("node_modules/m%d/i.js", i), "")
	}
	planner := p.start()
	planner.begin("ANTIGRAVITY")
	hash := planner.submit(planText("src/main/java/**", "node_modules/**"))
	planner.stop()
	out, _ := p.candor("workbench", "approve", hash, "--root", p.work, "--state", p.state, "--yes")
	for _, line := range []string{"Scope   1201 existing files covered", `"src/main/java/**" (1 file)`, `"node_modules/**" (1200 files)`} {
		if !strings.Contains(out, line) {
			t.Errorf("%q is not shown:\n%s", line, out)
		}
	}
}
