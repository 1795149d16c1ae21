package shape_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/api.txt anew")

// maxPublicNames is how many names all public packages may export together, without generated codes. A name that is exported is a
// promise: prefer internal until a user asks for it.
const maxPublicNames = 600

// TestAPIIsAsWritten fails when the public API changes without its written list.
func TestAPIIsAsWritten(t *testing.T) {
	file := filepath.Join("testdata", "api.txt")
	got := strings.Join(load(t).API().Lines, "\n") + "\n"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := string(data)
	if got == want {
		return
	}
	report := func(sign, lines, others string) {
		for line := range strings.Lines(lines) {
			if !strings.Contains("\n"+others, "\n"+line) {
				t.Errorf("%s %s", sign, strings.TrimSuffix(line, "\n"))
			}
		}
	}
	report("-", want, got)
	report("+", got, want)
	t.Error("the public API differs from testdata/api.txt; if that is intended: go test ./internal/shape -run API -update")
}

func TestAPIStaysSmall(t *testing.T) {
	n := load(t).API().Names
	t.Logf("%d public names", n)
	if n > maxPublicNames {
		t.Errorf("%d public names, more than %d: move some under internal", n, maxPublicNames)
	}
}
