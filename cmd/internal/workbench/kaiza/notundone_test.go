package kaiza_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAFailingCheckCannotKeepItsChange has the refused content add a hard link, change the type, size or mode of the
// file, or remove its folder. The files are restored when the call is answered.
func TestAFailingCheckCannotKeepItsChange(t *testing.T) {
	t.Parallel()
	for name, shell := range map[string]string{
		"hard link": "ln src/t.sh src/u; exit 1", "hard link, passing": "ln src/t.sh src/u",
		"no mode": "chmod 000 src/t.sh; exit 1", "too large": "truncate -s 9000000 src/t.sh; exit 1",
		"link": "rm src/t.sh; ln -s hello.txt src/t.sh; exit 1", "link outside": "rm src/t.sh; ln -s /etc/passwd src/t.sh; exit 1",
		"folder": "rm src/t.sh; mkdir src/t.sh; exit 1", "parent gone": "rm -rf src; exit 1", "pipe": "rm src/t.sh; mkfifo src/t.sh; exit 1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newEnv(t)
			p.write("src/t.sh", "OLD\n")
			s := p.executor("--policy", p.policyFile("builtin: []\npreflight: [{name: tests, run: [sh, src/t.sh], files: [\"src/**\"]}]\n"))
			a := s.call("write_file", args{"path": "src/t.sh", "content": shell + "\n", "previous_hash": hashOf("OLD\n"), "plan_hash": p.approved("src/**")})
			if code := a.code(); code == "" || code == "INVARIANT_VIOLATION" {
				t.Errorf("it was answered with %q", code)
			}
			info, err := os.Lstat(p.file("src/t.sh"))
			if got, _ := p.read("src/t.sh"); err != nil || !info.Mode().IsRegular() || got != "OLD\n" || info.Mode().Perm() != 0o600 {
				t.Errorf("the file holds %q: %v %v", got, info, err)
			}
			if got, ok := p.read("src/u"); ok && got != shell+"\n" {
				t.Errorf("the second name was written to: %q", got)
			}
			if left, _ := filepath.Glob(filepath.Join(p.state, "workspaces", "*", "changes", "*", "journal.json")); len(left) > 0 && !strings.Contains(left[0], ".found-") {
				t.Errorf("journals are left: %v", left)
			}
			s.End()
			p.verify()
		})
	}
}
