package kaiza_test

import (
	"strings"
	"testing"
)

// TestEditFile edits, shows and refuses, and lists and checks what it edited.
func TestEditFile(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	p.write("src/a.txt", "one\ntwo\nthree\ntwo\n")
	p.write("src/crlf.txt", "one\r\ntwo\r\n")
	p.write("node_modules/deep/x.txt", "x")
	s := p.executor("--policy", p.policyFile("builtin: []\npreflight:\n  - name: no-four\n    run: [sh, -c, '! grep four \"$PWD\"/src/a.txt']\n"))
	edit := func(path, old, new string, more args) answer {
		in := args{"path": path, "old_text": old, "new_text": new, "plan_hash": plan}
		for k, v := range more {
			in[k] = v
		}
		return s.call("edit_file", in)
	}
	edit("src/a.txt", "two", "2", nil).is("PATCH_APPLY_FAILED")
	edit("src/a.txt", "four", "2", nil).is("PATCH_APPLY_FAILED")
	edit("src/a.txt", "two", "two", nil).is("INVALID_INPUT_VALUE")
	edit("src/none.txt", "two", "2", nil).is("FILE_NOT_FOUND")
	if a := edit("src/crlf.txt", "one\ntwo", "1", nil); a.code() != "PATCH_APPLY_FAILED" || !strings.Contains(string(a.m.Bytes()), "CR LF") {
		t.Errorf("the line ends are not named: %s", a.m.Bytes())
	}
	dry := edit("src/a.txt", "three\ntwo", "3\n2", args{"dry_run": true})
	dry.fine()
	if diff := dry.text("content", 0, "text"); diff != "@@ line 3 @@\n-three\n-two\n+3\n+2\n" {
		t.Errorf("the change is shown as %q", diff)
	}
	p.holds("src/a.txt", "one\ntwo\nthree\ntwo\n")
	edit("src/a.txt", "two", "2", args{"replace_all": true}).fine()
	edit("src/a.txt", "three", "four", nil).is("PREFLIGHT_FAILED")
	p.holds("src/a.txt", "one\n2\nthree\n2\n")
	s.call("run_checks", args{}).fine()
	s.call("run_checks", args{"checks": []string{"none"}}).is("INVALID_INPUT_VALUE")
	p.write("src/a.txt", "four\n")
	if a := s.call("run_checks", args{}); a.code() != "PREFLIGHT_FAILED" || !strings.Contains(string(a.canonical().Path("details").Raw()), `"four"`) {
		t.Errorf("the output is not shown: %s", a.m.Bytes())
	}
	if tree := s.call("list_dir", args{"path": ".", "depth": 4}).text("content", 0, "text"); !strings.Contains(tree, "node_modules/\n") || !strings.Contains(tree, "src/a.txt\t5 bytes") || strings.Contains(tree, "deep") {
		t.Errorf("the tree is %q", tree)
	}
	if tree := s.call("list_dir", args{"path": ".", "depth": 4, "exclude": []string{"*.txt", "src"}}).text("content", 0, "text"); !strings.Contains(tree, "node_modules/deep/\n") || strings.Contains(tree, "a.txt") {
		t.Errorf("without what is excluded the tree is %q", tree)
	}
	s.End()
	if out, code := p.candor("workbench", "undo", "--plan", plan[:8], "--root", p.work, "--state", p.state, "--yes"); code != 1 {
		t.Errorf("undoing over a later edit: %d %s", code, out)
	}
	p.write("src/a.txt", "one\n2\nthree\n2\n")
	if out, code := p.candor("workbench", "undo", "--plan", plan[:8], "--root", p.work, "--state", p.state, "--yes"); code != 0 {
		t.Errorf("undoing a plan: %d %s", code, out)
	}
	p.holds("src/a.txt", "one\ntwo\nthree\ntwo\n")
	p.verify()
}
