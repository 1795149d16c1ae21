package kaiza_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// planTrial writes files with different plans and checks the answers against the state of each plan.
type planTrial struct {
	*client
	tried int
}

// write tries to write a new file and returns the answer. It checks that a refused file does not exist.
func (w *planTrial) write(folder, plan string) answer {
	w.t.Helper()
	w.tried++
	name := folder + "/" + strings.Repeat("x", w.tried) + ".txt"
	a := w.call("write_file", args{"path": name, "content": "x\n", "plan_hash": plan, "make_dirs": true})
	if _, there := w.p.read(name); there != (a.code() == "") {
		w.t.Errorf("the code is %q, and that %s is there is %v", a.code(), name, there)
	}
	return a
}

// refused checks the code and a string in the details. It writes a report if the session is locked.
func (w *planTrial) refused(a answer, code, detail string) {
	w.t.Helper()
	a.is(code)
	if details := a.canonical().Path("details").Raw(); !strings.Contains(string(details), `"`+detail+`"`) {
		w.t.Errorf("%s does not say %q: %s", code, detail, details)
	}
	if code == "PLAN_ENFORCEMENT_FAILED" || code == "PLAN_SCOPE_VIOLATION" {
		w.tried++
		w.call("write_file", args{"path": "docs/reports/" + strings.Repeat("r", w.tried) + ".md", "content": "The plan did not allow it."}).fine()
	}
}

// TestK13EachFaultOfAPlanHasItsCode causes every fault that a plan can have.
func TestK13EachFaultOfAPlanHasItsCode(t *testing.T) {
	overEveryTransport(t, func(t *testing.T, p *env, dial func() *client) {
		planner := dial()
		planner.begin("ANTIGRAVITY")
		plan, forged := planner.submit(planText("src/**")), planner.submit(planText("src/**", "etc/**"))
		planner.stop()
		executor := dial()
		executor.begin("WINDSURF")
		w := &planTrial{client: executor}
		file := "docs/plans/" + plan + ".md"

		w.write("src", hashOf("no plan")).is("PLAN_NOT_FOUND")
		w.refused(w.write("src", plan), "PLAN_NOT_APPROVED", "no_record")
		p.approve(plan)
		w.write("src", plan).fine()
		w.refused(w.write("etc", plan), "PLAN_SCOPE_VIOLATION", "etc/xxxx.txt")
		// The scope comes before everything about the file: whether it exists, and its hash.
		p.write("out.txt", "x\n")
		for _, in := range []struct {
			tool string
			args args
		}{
			{"write_file", args{"path": "out.txt", "content": "y"}}, {"write_file", args{"path": "out.txt", "content": "y", "previous_hash": hashOf("z")}},
			{"delete_file", args{"path": "out.txt", "previous_hash": hashOf("z")}}, {"edit_file", args{"path": "out.txt", "old_text": "z", "new_text": "y"}},
			{"apply_patch", args{"patch": "--- /dev/null\n+++ b/out.txt\n@@ -0,0 +1 @@\n+x\n"}}, {"apply_patch", args{"patch": "--- a/none\n+++ b/none\n@@ -1 +1 @@\n-x\n+y\n"}},
		} {
			in.args["plan_hash"] = plan
			a := executor.call(in.tool, in.args)
			path, _ := in.args["path"].(string)
			w.refused(a, "PLAN_SCOPE_VIOLATION", cmp.Or(path, "src/**"))
		}

		good, _ := p.read(file)
		p.write(file, strings.Replace(good, "src/**", "etc/**", 1))
		w.refused(w.write("etc", plan), "PLAN_ENFORCEMENT_FAILED", "content")
		p.write(file, good+"\nOne more line.\n")
		w.refused(w.write("src", plan), "PLAN_ENFORCEMENT_FAILED", "content")
		p.write(file, strings.Replace(good, plan, forged, 1))
		w.refused(w.write("src", plan), "PLAN_ENFORCEMENT_FAILED", "header")
		p.write(file, strings.Replace(good, "APPROVED", "PROPOSED", 1))
		w.refused(w.write("src", plan), "PLAN_NOT_APPROVED", "unmarked")
		p.write(file, good[strings.Index(good, "\n")+1:])
		w.refused(w.write("src", plan), "PLAN_NOT_APPROVED", "header")

		p.write(file, good)
		renamed := hashOf("another name")
		if err := os.Rename(p.file(file), p.file("docs/plans/"+renamed+".md")); err != nil {
			t.Fatal(err)
		}
		w.refused(w.write("src", renamed), "PLAN_ENFORCEMENT_FAILED", "file_name")
		w.write("src", plan).is("PLAN_NOT_FOUND")

		proposed, _ := p.read("docs/plans/" + forged + ".md")
		p.write("docs/plans/"+forged+".md", strings.Replace(proposed, "PROPOSED", "APPROVED", 1))
		w.refused(w.write("etc", forged), "PLAN_NOT_APPROVED", "header_without_record")

		p.write(file, good)
		w.write("src", plan).fine()
		if out, code := p.candor("workbench", "revoke", plan, "--root", p.work, "--state", p.state, "--yes"); code != 0 {
			t.Fatalf("revoking: %d %s", code, out)
		}
		w.refused(w.write("src", plan), "PLAN_NOT_APPROVED", "no_record")
		p.write(file, good) // the header says approved, but is not trusted
		w.refused(w.write("src", plan), "PLAN_NOT_APPROVED", "header_without_record")
	})
}

// TestK13AnApprovalIsOfOneWorkspace copies an approved plan into another workspace of the same server.
func TestK13AnApprovalIsOfOneWorkspace(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	text, _ := p.read("docs/plans/" + plan + ".md")
	p.work += "-sibling"
	p.write("docs/plans/"+plan+".md", text)
	p.executor().call("write_file", args{"path": "src/a.txt", "content": "x", "plan_hash": plan, "make_dirs": true}).is("PLAN_NOT_APPROVED")
}

// TestRevokeWorksWithoutThePlanFile revokes plans after their files were moved or changed, because these may be restored later.
func TestRevokeWorksWithoutThePlanFile(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	moved, changed := p.approved("src/**"), p.approved("src/**", "lib/**")
	for hash, harm := range map[string]func(name string) error{
		moved:   os.Remove,
		changed: func(name string) error { return os.WriteFile(name, []byte("harmed\n"), 0o600) },
	} {
		name := "docs/plans/" + hash + ".md"
		good, _ := p.read(name)
		if err := harm(p.file(name)); err != nil {
			t.Fatal(err)
		}
		if out, code := p.candor("workbench", "revoke", hash[:12], "--root", p.work, "--state", p.state, "--yes"); code != 0 || !strings.Contains(out, "revoked "+hash) {
			t.Errorf("revoking: %d %s", code, out)
		}
		p.write(name, good)
		c := p.start()
		c.begin("WINDSURF")
		c.call("write_file", args{"path": "src/back.txt", "content": "x", "plan_hash": hash}).is("PLAN_NOT_APPROVED")
		c.stop()
	}
	if out, code := p.candor("workbench", "revoke", hashOf("no plan"), "--root", p.work, "--state", p.state, "--yes"); code != 2 || !strings.Contains(out, "--root") {
		t.Errorf("revoking no plan: %d %s", code, out)
	}
}

// TestK13EveryFileOfAPatchMustBeInThePlan puts a file that the plan does not cover at each position of a patch.
func TestK13EveryFileOfAPatchMustBeInThePlan(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	c := p.executor()
	piece := func(name string) string { return "--- /dev/null\n+++ b/" + name + "\n@@ -0,0 +1 @@\n+x\n" }
	inside := []string{piece("src/one.txt"), piece("src/two.txt"), piece("src/three.txt")}
	before := tree(t, p.work)
	for at := range len(inside) + 1 {
		patch := strings.Join(slices.Insert(slices.Clone(inside), at, piece("outside.txt")), "")
		c.call("apply_patch", args{"patch": patch, "plan_hash": plan}).is("PLAN_SCOPE_VIOLATION")
		if after := tree(t, p.work, "docs/reports"); !maps.Equal(before, after) {
			t.Errorf("with the file at %d the workspace has changed: %v", at, after)
		}
		c.unlocked(fmt.Sprintf("patch-%d.md", at))
	}
	c.call("apply_patch", args{"patch": strings.Join(inside, ""), "plan_hash": plan}).fine()
}
