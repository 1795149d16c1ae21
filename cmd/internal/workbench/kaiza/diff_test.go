package kaiza_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// diff runs diff -u in a folder and returns its output.
func diff(t *testing.T, dir string, names ...string) string {
	t.Helper()
	program, err := exec.LookPath("diff")
	if err != nil {
		t.Skip("diff is not installed")
	}
	cmd := exec.CommandContext(t.Context(), program, append([]string{"-u"}, names...)...)
	cmd.Dir = dir
	out, _ := cmd.Output() // exit code 1 means that they differ
	if len(out) == 0 {
		t.Fatalf("diff %v wrote nothing", names)
	}
	return string(out)
}

// TestPatchesAsDiffWritesThem compares a file with its changed version using diff, under common names, and applies the
// result.
func TestPatchesAsDiffWritesThem(t *testing.T) {
	t.Parallel()
	const old, fresh = "one\ntwo\nthree\n", "one\nTWO\nthree\nfour\n"
	crlf := func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }
	for name, c := range map[string]struct {
		old, fresh string
		a, b       string // names, relative to the workspace
		edit       func(patch string) string
	}{
		"a copy beside it":         {old, fresh, "src/x.txt.orig", "src/x.txt", nil},
		"a copy by an editor":      {old, fresh, "src/x.txt~", "src/x.txt", nil},
		"a new version beside it":  {old, fresh, "src/x.txt", "src/x.txt.new", nil},
		"prefixes":                 {old, fresh, "a/src/x.txt", "b/src/x.txt", nil},
		"lines that end in CR LF":  {crlf(old), crlf(fresh), "src/x.txt.orig", "src/x.txt", nil},
		"no newline at the end":    {"one\ntwo", "one\n2", "src/x.txt.orig", "src/x.txt", nil},
		"newline at the end added": {"one\ntwo", "one\ntwo\n", "src/x.txt.orig", "src/x.txt", nil},
		"a patch in CR LF":         {old, fresh, "src/x.txt.orig", "src/x.txt", crlf},
		"a patch and a file in CR LF": {crlf(old), crlf(fresh), "src/x.txt.orig", "src/x.txt",
			func(patch string) string { return crlf(strings.ReplaceAll(patch, "\r\n", "\n")) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, scratch := newEnv(t), t.TempDir()
			for file, text := range map[string]string{c.a: c.old, c.b: c.fresh} {
				full := filepath.Join(scratch, file)
				if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			patch := diff(t, scratch, c.a, c.b)
			if c.edit != nil {
				patch = c.edit(patch)
			}
			p.write("src/x.txt", c.old)
			plan := p.approved("src/**")
			p.executor().call("apply_patch", args{"patch": patch, "plan_hash": plan}).fine()
			p.holds("src/x.txt", c.fresh)
		})
	}
}

// TestAPatchForOneFileNeedsNoNames applies a diff of two files with other names if the call names the file.
func TestAPatchForOneFileNeedsNoNames(t *testing.T) {
	t.Parallel()
	p, scratch := newEnv(t), t.TempDir()
	for name, text := range map[string]string{"before": hello, "after": "hello\nmoon\n"} {
		if err := os.WriteFile(filepath.Join(scratch, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	patch, plan := diff(t, scratch, "before", "after"), p.approved("src/**")
	s := p.executor()
	s.call("apply_patch", args{"patch": patch, "plan_hash": plan}).is("PATCH_INVALID")
	s.call("write_file", args{"path": "src/hello.txt", "patch": patch, "plan_hash": plan}).fine()
	p.holds("src/hello.txt", "hello\nmoon\n")
}

// TestUnsupportedPatchNamesTheToolToUse sends git diffs of a rename and of a mode change.
func TestUnsupportedPatchNamesTheToolToUse(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	s := p.executor()
	for patch, tool := range map[string]string{
		"diff --git a/src/hello.txt b/src/new.txt\nsimilarity index 100%\nrename from src/hello.txt\nrename to src/new.txt\n":                            "move_file",
		"diff --git a/src/hello.txt b/src/hello.txt\nold mode 100644\nnew mode 100755\n":                                                                 "set_executable",
		"diff --git a/src/run.sh b/src/run.sh\nnew file mode 100755\nindex 0000000..1111111\n--- /dev/null\n+++ b/src/run.sh\n@@ -0,0 +1 @@\n+echo hi\n": "set_executable",
	} {
		a := s.call("apply_patch", args{"patch": patch, "plan_hash": plan})
		a.is("PATCH_INVALID")
		if next, _ := a.canonical().Path("suggestion").Str(); !strings.Contains(next, tool) {
			t.Errorf("it suggests %q", next)
		}
	}
	p.holds("src/hello.txt", hello)
}
