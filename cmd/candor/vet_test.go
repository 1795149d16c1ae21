package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestVetScripts runs `candor vet` as a user types it, in a module whose dependencies are the stubs of candorvet. These scripts are
// separate from the others because they need the go command and its cache.
func TestVetScripts(t *testing.T) {
	quick := quickStart(t)
	cache, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/vet",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		Setup: func(env *testscript.Env) error {
			env.Setenv("GOCACHE", strings.TrimSpace(string(cache)))
			env.Setenv("GOPATH", filepath.Join(env.WorkDir, "gopath"))
			env.Setenv("GOPROXY", "off")
			env.Setenv("GOFLAGS", "")
			if err := stubModules(env.WorkDir); err != nil || quick == nil {
				return err
			}
			return quick(env)
		},
	})
}

// stubModules copies the stubs of candor and of the go-sdk into a folder as modules, for replace directives in go.mod.
func stubModules(dir string) error {
	for _, module := range []string{"candor-mcp/candor", "modelcontextprotocol/go-sdk"} {
		target := filepath.Join(dir, "stub", filepath.Base(module))
		from := filepath.Join("..", "..", "candorvet", "testdata", "src", "github.com", filepath.FromSlash(module))
		if err := os.CopyFS(target, os.DirFS(from)); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(target, "go.mod"), []byte("module github.com/"+module+"\n\ngo 1.26\n"), 0o600); err != nil {
			return err
		}
	}
	return nil
}
