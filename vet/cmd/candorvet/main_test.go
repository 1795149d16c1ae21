package main

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGoVetRunsTheAnalyser lets go vet run the program. go vet uses a separate protocol and starts the program once for every package,
// including those of the standard library, so the program is built without the race detector.
func TestGoVetRunsTheAnalyser(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "candorvet.exe")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", tool, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), "go", "vet", "-vettool="+tool, "-candorvet.all", "-candorvet.rules=swallowed", ".")
	cmd.Dir = filepath.Join("..", "..", "testdata", "src", "everywhere")
	out, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	if !errors.As(err, &failed) {
		t.Fatalf("%v\n%s", err, out)
	}
	if text := string(out); !strings.Contains(text, "swallowed: the error of os.Chdir is dropped") || strings.Contains(text, "logandcontinue:") {
		t.Error(text)
	}
}
