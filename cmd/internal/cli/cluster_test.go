package cli

import (
	"os"
	"testing"
)

// TestMain lets the test binary act as candor-cluster.
func TestMain(m *testing.M) {
	if os.Getenv("CLI_TEST_EXIT") != "" {
		os.Exit(7)
	}
	os.Exit(m.Run())
}

// TestChildGivesItsExitCode checks the way in which candor-cluster is run where a process cannot be replaced.
func TestChildGivesItsExitCode(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("CLI_TEST_EXIT", "1")
	if code, err := runChild(t.Context(), self, []string{self, "version"}); code != 7 || err != nil {
		t.Errorf("exit code %d, %v, want 7", code, err)
	}
	if _, err := runChild(t.Context(), self+"-missing", []string{"x"}); err == nil {
		t.Error("a program that does not exist was run")
	}
}
