package shape

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/mod/modfile"
)

// writeUserModule writes a module that uses this repository as a user would, except that the packages come from this tree.
func writeUserModule(t *testing.T, root, dir, program string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "go.work"))
	if err != nil {
		t.Fatal(err)
	}
	work, err := modfile.ParseWork("go.work", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	mod := fmt.Sprintf("module example.com/user\n\ngo %s\n", work.Go.Version)
	for _, r := range work.Replace {
		mod += fmt.Sprintf("\nreplace %s => %s", r.Old.Path, filepath.Join(root, filepath.FromSlash(r.New.Path)))
	}
	// The example's versions are used, so that nothing has to be looked up.
	example, err := os.ReadFile(filepath.Join(root, "examples", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := modfile.Parse("go.mod", example, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range parsed.Require {
		mod += fmt.Sprintf("\nrequire %s %s", r.Mod.Path, r.Mod.Version)
	}
	sum, err := os.ReadFile(filepath.Join(root, "examples", "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{"go.mod": mod + "\n", "go.sum": string(sum), "main.go": program} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// inUserModule runs the go command in a module of writeUserModule.
func inUserModule(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	out, err := cmd.CombinedOutput()
	return string(out), err
}
