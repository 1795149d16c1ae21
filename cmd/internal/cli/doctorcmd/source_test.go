package doctorcmd

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/clientconfig"
)

// TestServersOfAnyProjectFileAreNotStarted chooses each client that has files in the folder of a project.
func TestServersOfAnyProjectFileAreNotStarted(t *testing.T) {
	t.Chdir(t.TempDir())
	home := t.TempDir()
	env := &term.Env{Getenv: func(name string) string {
		if name == clientconfig.HomeVariable() {
			return home
		}
		return ""
	}}
	seen := 0
	for _, client := range clientconfig.Clients() {
		_, project := client.Places(clientconfig.LocalSystem(env.Getenv, term.AbsolutePath(".")))
		for _, name := range project {
			if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte("{}"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if len(project) == 0 {
			continue
		}
		for _, with := range []bool{false, true} {
			flags := sourceFlags{clients: []string{client.ID}, project: with}
			files, err := flags.read(env, &cobra.Command{})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				if seen++; !f.Project || f.Start != with {
					t.Errorf("%s with --project=%v: %+v", client.ID, with, f)
				}
			}
		}
	}
	if seen < len(clientconfig.Clients()) {
		t.Errorf("%d files were found", seen)
	}
}
