package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/candor-mcp/candor/cmd/internal/cli/democmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/internal/testing/testbinary"
)

var update = flag.Bool("update", false, "rewrite the expected outputs in the scripts")

// TestMain runs this binary as candor, or as a bad server, when a script uses that name.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == democmd.DemoServerName { // the demo starts this binary as its server
		main()
	}
	runParallelOnly()
	_ = flag.Set("test.parallel", "6") // most tests wait for processes; -parallel takes precedence
	testscript.Main(m, map[string]func(){term.ProgramName: main, "badserver": serveBadly, "shop": serveShop})
}

// runParallelOnly skips the tests that do not run in parallel in the short run with the race detector. There they take minutes and
// find nothing, because they are sequential; make race runs them all.
func runParallelOnly() {
	if !raceDetector || !strings.HasSuffix(os.Args[0], ".test") { // the same binary is also the candor command
		return
	}
	flag.Parse()
	if only := flag.Lookup("test.run"); testing.Short() && only.Value.String() == "" {
		_ = only.Value.Set("Wrap|Gateway|Reload|SIGTERM|OpenCalls|Legacy|Interrupt|FullStderr|ClosedPipe|RunningWriter|SlowReaders")
	}
}

// TestScripts runs the commands as a user types them. A script may use `exits 2 candor …` to require an exit code.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Setup:               quickStart(t),
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "makeledger": makeLedger,
			"maketasks": makeTasks, "tamper": tamper, "backdate": backdate},
	})
}

// TestWrittenPagesAreCurrent compares docs/cli with the output of the program; go generate updates the pages.
func TestWrittenPagesAreCurrent(t *testing.T) {
	fresh := t.TempDir()
	if code, _, complaints := watched("", nil, "man", "--format", "markdown", "--dir", fresh); code != term.ExitOK {
		t.Fatal(complaints)
	}
	if diff := cmp.Diff(pagesIn(t, fresh), pagesIn(t, "../../docs/cli")); diff != "" {
		t.Errorf("docs/cli is not what go generate writes (- the program, + the page):\n%s", diff)
	}
}

func pagesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(name)] = strings.ReplaceAll(string(data), "\r\n", "\n")
	}
	return out
}

// quickStart puts a program built without the race detector first in PATH, if this binary has the detector: scripts start it several
// hundred times, and each start would cost a second. Tests that call run cover the race detector.
func quickStart(t *testing.T) func(*testscript.Env) error {
	t.Helper()
	if !raceDetector {
		return nil
	}
	bin := t.TempDir()
	if err := testbinary.Build(t.Context(), filepath.Join(bin, term.ProgramName), false); err != nil {
		t.Fatal(err)
	}
	return func(env *testscript.Env) error {
		env.Setenv("PATH", bin+string(os.PathListSeparator)+env.Getenv("PATH"))
		return nil
	}
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE command …")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var ended *exec.ExitError
	err = ts.Exec(args[1], args[2:]...)
	switch {
	case errors.As(err, &ended):
		got = ended.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}
