package kaiza_test

import (
	"os"
	"path/filepath"
	"testing"
)

// pathTrial is a workspace with a sibling that shares its name as a prefix, a file outside that must not be reached, and
// links to it.
type pathTrial struct {
	*client
	plan    string
	sibling string
	outside string // a file
}

const untouched = "nobody has touched this\n"

func newPathTrial(t *testing.T, p *env, dial func() *client) *pathTrial {
	t.Helper()
	planner := dial()
	planner.begin("ANTIGRAVITY")
	w := &pathTrial{plan: planner.submit(planText(`"**"`)), sibling: p.work + "-evil", outside: filepath.Join(filepath.Dir(p.root), "outside.txt")}
	planner.stop()
	p.approve(w.plan)
	if err := os.Mkdir(w.sibling, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{w.outside, filepath.Join(w.sibling, "x.txt")} {
		if err := os.WriteFile(name, []byte(untouched), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"link-file": w.outside, "link-folder": filepath.Dir(w.outside), "link-up": "../..", "link-evil": w.sibling, "src/link-inside": "hello.txt",
		"link-chain": "link-folder",
	} {
		if err := os.Symlink(to, p.file(link)); err != nil {
			t.Fatal(err)
		}
	}
	w.client = dial()
	w.begin("WINDSURF")
	return w
}

// TestK14NoPathLeavesTheWorkspace tries paths with every tool that takes one.
func TestK14NoPathLeavesTheWorkspace(t *testing.T) {
	overEveryTransport(t, func(t *testing.T, p *env, dial func() *client) {
		w := newPathTrial(t, p, dial)
		for path, code := range map[string]string{
			"../x":                               "PATH_TRAVERSAL_BLOCKED",
			"..":                                 "PATH_TRAVERSAL_BLOCKED",
			"src/../../outside.txt":              "PATH_TRAVERSAL_BLOCKED",
			"src/../src/hello.txt":               "PATH_TRAVERSAL_BLOCKED",
			"../work-evil/x.txt":                 "PATH_TRAVERSAL_BLOCKED",
			p.work + "/../work-evil/x.txt":       "PATH_TRAVERSAL_BLOCKED",
			w.outside:                            "OUTSIDE_WORKSPACE",
			w.sibling + "/x.txt":                 "OUTSIDE_WORKSPACE",
			filepath.Join(p.state, "new.txt"):    "OUTSIDE_WORKSPACE",
			"link-file":                          "OUTSIDE_WORKSPACE",
			"link-folder/outside.txt":            "OUTSIDE_WORKSPACE",
			"link-chain/outside.txt":             "OUTSIDE_WORKSPACE",
			"link-up/outside.txt":                "OUTSIDE_WORKSPACE",
			"link-evil/x.txt":                    "OUTSIDE_WORKSPACE",
			filepath.Join(p.work, "link-file"):   "OUTSIDE_WORKSPACE",
			"link-folder/new-folder/new-file.md": "OUTSIDE_WORKSPACE",
		} {
			w.call("read_file", args{"path": path}).is(code)
			w.call("write_file", args{"path": path, "content": "x", "plan_hash": w.plan, "make_dirs": true}).is(code)
			w.call("write_file", args{"path": path, "content": "x", "plan_hash": w.plan, "previous_hash": hashOf(untouched)}).is(code)
		}
		for _, path := range []string{"..", "link-folder", w.sibling, filepath.Dir(w.outside)} {
			if code := w.call("list_dir", args{"path": path}).code(); code != "PATH_TRAVERSAL_BLOCKED" && code != "OUTSIDE_WORKSPACE" {
				t.Errorf("listing %s: %q", path, code)
			}
		}
		w.call("session_status", args{}).fine()
		w.call("write_file", args{"path": "src/still.txt", "content": "x", "plan_hash": w.plan}).fine() // a wrong path never locks
		for _, name := range []string{w.outside, filepath.Join(w.sibling, "x.txt")} {
			if data, err := os.ReadFile(name); err != nil || string(data) != untouched {
				t.Errorf("%s: %v %q", filepath.Base(name), err, data)
			}
		}
		if names, _ := os.ReadDir(filepath.Dir(w.outside)); len(names) != 3 { // root, state, outside.txt
			t.Errorf("outside there is %v", names)
		}
	})
}

// TestK14APathThatStaysInsideIsAccepted tries paths that only resemble a traversal.
func TestK14APathThatStaysInsideIsAccepted(t *testing.T) {
	overEveryTransport(t, func(t *testing.T, p *env, dial func() *client) {
		w := newPathTrial(t, p, dial)
		for _, path := range []string{"src/a..b", "a..b/c..d", "src/..hidden", "src/x..", filepath.Join(p.work, "src", "absolute.txt"), "src/.../x"} {
			w.call("write_file", args{"path": path, "content": "x", "plan_hash": w.plan, "make_dirs": true}).fine()
			w.call("read_file", args{"path": path}).fine()
		}
		w.call("read_file", args{"path": "src/link-inside"}).fine()
		w.call("read_file", args{"path": "./src//hello.txt"}).fine()
		if got, _ := p.read("src/absolute.txt"); got != "x" {
			t.Errorf("an absolute path inside wrote %q", got)
		}
	})
}

// TestK14APatchCannotLeaveTheWorkspace uses the paths in the headers of a patch.
func TestK14APatchCannotLeaveTheWorkspace(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	w := newPathTrial(t, p, func() *client { return &p.start().client })
	for path, code := range map[string]string{
		"../outside.txt": "PATH_TRAVERSAL_BLOCKED", "src/../../../outside.txt": "PATH_TRAVERSAL_BLOCKED", "link-file": "OUTSIDE_WORKSPACE",
		"link-folder/outside.txt": "OUTSIDE_WORKSPACE",
	} {
		patch := "--- a/" + path + "\n+++ b/" + path + "\n@@ -1 +1 @@\n-" + untouched + "+touched\n"
		w.call("apply_patch", args{"patch": patch, "plan_hash": w.plan}).is(code)
	}
	if data, _ := os.ReadFile(w.outside); string(data) != untouched {
		t.Errorf("outside there is %q", data)
	}
}
