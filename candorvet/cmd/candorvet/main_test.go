package main

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// actAsTool makes the test binary be the program.
const actAsTool = "CANDORVET_ACT_AS_TOOL"

func TestMain(m *testing.M) {
	if os.Getenv(actAsTool) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestGoVetRunsTheAnalyser lets go vet start the program, which it does with a protocol of its own.
func TestGoVetRunsTheAnalyser(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "vet", "-vettool="+self, "-candorvet.rules=swallowed", "./testdata/real/gosdk")
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), actAsTool+"=1")
	out, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	if !errors.As(err, &failed) {
		t.Fatalf("%v\n%s", err, out)
	}
	if text := string(out); !strings.Contains(text, "swallowed: the error of os.Chdir is dropped") || strings.Contains(text, "rawerror:") {
		t.Error(text)
	}
}
