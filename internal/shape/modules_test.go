package shape_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

// TestLibraryUsersGetFewModules counts the modules that a program gains by importing one of our packages. The program, its tests and the
// adapters for other libraries have modules of their own, so that a library user does not download, audit or upgrade what only they need.
func TestLibraryUsersGetFewModules(t *testing.T) {
	t.Parallel()
	for path, most := range map[string]int{module: 5, module + "/serve": 20} {
		t.Run(strings.TrimPrefix(path, module), func(t *testing.T) {
			t.Parallel()
			tmp := t.TempDir()
			writeUserModule(t, repositoryRoot(t), tmp, "package main\n\nimport _ \""+path+"\"\n\nfunc main() {}\n")
			if out, err := inUserModule(t, tmp, "mod", "tidy"); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			out, err := inUserModule(t, tmp, "list", "-m", "all")
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			others := strings.Split(strings.TrimSpace(out), "\n")[1:] // without the user's module
			t.Logf("%d modules", len(others))
			if len(others) > most {
				t.Errorf("importing %s adds %d modules, want at most %d:\n%s", path, len(others), most, strings.Join(others, "\n"))
			}
		})
	}
}

// repositoryRoot returns the folder of go.work.
func repositoryRoot(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

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
