package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// module writes a module whose tests prove D1 to D16, and the output of a run of it.
func module(t *testing.T, events string) (root, results string) {
	t.Helper()
	root = t.TempDir()
	results = filepath.Join(root, "results.json")
	tests := "package d\nimport \"testing\"\n"
	for i := range 16 {
		tests += fmt.Sprintf("func TestD%dATask(t *testing.T) {}\n", i+1)
	}
	for name, text := range map[string]string{
		"go.mod":                                "module example.org/fake\n",
		"cmd/internal/workbench/dual/d_test.go": tests,
		results:                                 events,
	} {
		if !filepath.IsAbs(name) {
			name = filepath.Join(root, name)
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root, results
}

func TestExitCodesTellRightFromWrongFromUnusable(t *testing.T) {
	passed := ""
	for i := range 16 {
		passed += fmt.Sprintf(`{"Action":"pass","Package":"example.org/fake/cmd/internal/workbench/dual","Test":"TestD%dATask"}`+"\n", i+1)
	}
	const d6 = `"pass","Package":"example.org/fake/cmd/internal/workbench/dual","Test":"TestD6ATask"`
	failed := strings.Replace(passed, d6, strings.Replace(d6, "pass", "fail", 1), 1)
	for _, c := range []struct {
		events, args string
		exit         int
		says         string
	}{
		{passed, "--letters D", exitOK, "passed      cmd/internal/workbench/dual TestD6ATask"},
		{failed, "--letters D", exitWrong, "FAILED      cmd/internal/workbench/dual TestD6ATask"},
		{failed, "--letters D --brief", exitWrong, "D6   BROKEN"},
		{"not JSON\n", "--letters D", exitWrong, "DID NOT RUN cmd/internal/workbench/dual TestD6ATask"},
		{passed, "--letters K", exitWrong, "22 NO TEST"},
		{passed, "--letters X", exitBad, "no statement or code"},
		{passed, "--codes", exitWrong, "kaiza/FILE_NOT_FOUND NO TEST"},
		{passed, "--codes --domain nowhere", exitBad, "no statement or code"},
		{passed, "--codes --letters K", exitBad, "--domain"},
		{passed, "--domain kaiza", exitBad, "--codes"},
		{passed, "--list", exitBad, "cannot be combined"},
		{passed, "D", exitBad, "unexpected argument"},
		{passed, "--results no-such-file", exitBad, "no-such-file"},
		{passed, "--module no-such-folder", exitBad, "no-such-folder"},
		{passed, "--nonsense", exitBad, "nonsense"},
		{passed, "--help", exitOK, "-letters"},
	} {
		root, results := module(t, c.events)
		var out strings.Builder
		args := append([]string{"--module", root, "--results", results}, strings.Fields(c.args)...)
		if got := run(t.Context(), args, &out, &out); got != c.exit || !strings.Contains(out.String(), c.says) {
			t.Errorf("%s: exit %d, want %d; %q is not in\n%s", c.args, got, c.exit, c.says, out.String())
		}
	}
}

func TestTheTableIsAloneOnStandardOutput(t *testing.T) {
	root, _ := module(t, "")
	var out, say strings.Builder
	if got := run(t.Context(), []string{"--module", root, "--letters", "D", "--json"}, &out, &say); got != exitOK {
		t.Errorf("exit %d: %s", got, say.String())
	}
	var table struct {
		OK   bool
		Rows []struct {
			ID, Verdict string
			Tests       []struct{ Dir, Name, Result string }
		}
	}
	if err := json.Unmarshal([]byte(out.String()), &table); err != nil {
		t.Fatal(err)
	}
	if d6 := table.Rows[5]; !table.OK || len(table.Rows) != 16 || d6.ID != "D6" || len(d6.Tests) != 1 || d6.Tests[0].Result != "passed" {
		t.Errorf("%s", out.String())
	}
	if strings.Contains(out.String(), "null") {
		t.Errorf("a list is null in %s", out.String())
	}
	if !strings.Contains(say.String(), "TestD6ATask") {
		t.Errorf("progress says %q", say.String())
	}
}

func TestAnInterruptedRunHasNoTable(t *testing.T) {
	root, _ := module(t, "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, say strings.Builder
	if got := run(ctx, []string{"--module", root}, &out, &say); got != exitBad || out.Len() > 0 || !strings.Contains(say.String(), "canceled") {
		t.Errorf("exit %d, %q, %q", got, out.String(), say.String())
	}
}
