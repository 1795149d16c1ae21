package checklist

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
)

// fake writes a module of its own with these files and opens it.
func fake(t *testing.T, files map[string]string) *Module {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "go.mod"), []byte("module example.org/fake\n\ngo 1.26\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const home = "bench/kay"

// kay is a system of six statements that is built, wye one that is not.
var systems = []System{
	{Letter: "K", Name: "kay", Built: true, Home: home, Domains: []string{"kaiza"}, Statements: []string{"a", "b", "c", "d", "e", "f"}},
	{Letter: "W", Name: "wye", Home: "bench/wye", Statements: []string{"g", "h"}},
}

const atHome = `package kay
import "testing"
func TestMain(m *testing.M)                { m.Run() }
func TestK1Passes(t *testing.T)            {}
func TestK2Fails(t *testing.T)             { t.Error("it is broken") }
func TestK3Skips(t *testing.T)             { t.Skip("not today") }
func TestK4SkipsAPart(t *testing.T)        { t.Run("part", func(t *testing.T) { t.Skip() }) }
func TestK6smallLetter(t *testing.T)       {}
func TestOfNothing(t *testing.T)           { t.Error("this one must not run") }
type suite struct{}
func (suite) TestK6IsNoTest(t *testing.T)  {}
`

const elsewhere = `package other
import "testing"
func TestK1PassesHereToo(t *testing.T) {}
func TestK5NotAtHome(t *testing.T)     {}
func TestW1Early(t *testing.T)         {}
`

// hidden are files that hold a test which the go command would never run.
var hidden = map[string]string{
	home + "/kay_plan9_test.go":   "package kay\nimport \"testing\"\nfunc TestK6OtherPlatform(t *testing.T) {}\n",
	home + "/tag_test.go":         "//go:build nobody\n\npackage kay\nimport \"testing\"\nfunc TestK6OtherTag(t *testing.T) {}\n",
	home + "/testdata/d_test.go":  "package d\nimport \"testing\"\nfunc TestK6Data(t *testing.T) {}\n",
	"nested/go.mod":               "module example.org/nested\n",
	"nested/n_test.go":            "package n\nimport \"testing\"\nfunc TestK6Nested(t *testing.T) {}\n",
	".aside/a_test.go":            "package a\nimport \"testing\"\nfunc TestK6Aside(t *testing.T) {}\n",
	home + "/not_a_test_file.go":  "package kay\nimport \"testing\"\nfunc TestK6NotInATestFile(t *testing.T) {}\n",
	"other/other_test.go":         elsewhere,
	home + "/kay_test.go":         atHome,
	"other/second/second_test.go": "package second\n",
}

// verdicts writes rows as "K1 proved".
func verdicts(rows []Row) []string {
	var out []string
	for _, r := range rows {
		out = append(out, r.ID+" "+string(r.Verdict))
	}
	return out
}

func TestStatementsAreJudgedByTheirTests(t *testing.T) {
	m := fake(t, hidden)
	tests := m.StatementTests("")
	var said strings.Builder
	results, err := m.Run(t.Context(), tests, &said)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := Statements(systems, "", tests, results)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"K1 proved", "K2 BROKEN", "K3 BROKEN", "K4 BROKEN", "K5 NO TEST", "K6 NO TEST", "W1 not built yet", "W2 not built yet"}
	if got := verdicts(rows); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := rows[0].Tests; len(got) != 2 || got[1] != (Test{"other", "TestK1PassesHereToo", Passed}) {
		t.Errorf("the tests of K1 are %v", got)
	}
	if got := rows[5].Tests; len(got) != 0 {
		t.Errorf("K6 has no test that the go command runs, not %v", got)
	}
	for i, want := range []Result{Passed, Failed, Skipped, Skipped, Passed} {
		if got := rows[i].Tests[0].Result; got != want {
			t.Errorf("the first test of %s: %s, want %s", rows[i].ID, got, want)
		}
	}
	if !strings.Contains(said.String(), "it is broken") || strings.Contains(said.String(), "must not run") {
		t.Errorf("progress says\n%s", said.String())
	}
	var out strings.Builder
	report := NewReport(rows, nil)
	report.Print(&out, true)
	if report.OK || strings.Contains(out.String(), "K1 ") || !strings.Contains(out.String(), "none in bench/kay") || !strings.Contains(out.String(), "NOT OK") {
		t.Errorf("the brief report is\n%s", out.String())
	}
}

func TestAListSaysWhereATestIsMissingWithoutRunningAny(t *testing.T) {
	m := fake(t, hidden)
	rows, err := Statements(systems, "K", m.StatementTests("K"), ListOnly)
	want := []string{"K1 has a test", "K2 has a test", "K3 has a test", "K4 has a test", "K5 NO TEST", "K6 NO TEST"}
	if got := verdicts(rows); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q %v, want %q", got, err, want)
	}
}

func TestAFailingTestIsToldBeforeItsSystemIsBuilt(t *testing.T) {
	tests := []Func{{"other", "TestW1Early"}}
	rows, err := Statements(systems, "W", tests, Results{ends: map[Func]Result{tests[0]: Failed}})
	if want := []string{"W1 BROKEN", "W2 not built yet"}; err != nil || !slices.Equal(verdicts(rows), want) {
		t.Errorf("%q %v, want %q", verdicts(rows), err, want)
	}
}

func TestATestOfNoStatementIsToldAsAProblem(t *testing.T) {
	rows, err := Statements(systems, "", []Func{{home, "TestK7TooMany"}}, ListOnly)
	if err == nil || !strings.Contains(err.Error(), "TestK7TooMany") || NewReport(rows[6:], err).OK {
		t.Errorf("%v", err)
	}
}

func TestATestThatDoesNotBuildDidNotRun(t *testing.T) {
	m := fake(t, map[string]string{home + "/k_test.go": "package kay\nimport \"testing\"\nfunc TestK1Typo(t *testing.T) { t.Eror() }\n"})
	var said strings.Builder
	results, err := m.Run(t.Context(), m.Tests, &said)
	if got := results.of(home, "TestK1Typo"); err != nil || got != NotRun || !strings.Contains(said.String(), "Eror") {
		t.Errorf("%s %v\n%s", got, err, said.String())
	}
}

const emits = `package kay
import "testing"
func TestEveryCodeIsEmitted(t *testing.T) {
	t.Run("FILE_NOT_FOUND", func(t *testing.T) {})
	t.Run("SESSION_LOCKED", func(t *testing.T) { t.Run("inner", func(t *testing.T) { t.Fail() }) })
}
`

const emitsElsewhere = `package other
import "testing"
func TestEveryCodeOfTheOtherIsEmitted(t *testing.T) {
	for _, name := range []string{"kaiza/FILE_NOT_FOUND", "kaiza/INVALID_PATH", "candor/NOT_FOUND"} {
		t.Run(name, func(t *testing.T) {})
	}
}
`

func TestCodesAreJudgedByTheSubtestsOfTheirNames(t *testing.T) {
	m := fake(t, map[string]string{home + "/e_test.go": emits, "other/e_test.go": emitsElsewhere})
	tests := m.CodeTests()
	results, err := m.Run(t.Context(), tests, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Verdict{}
	rows, problem := Codes(systems, "", candor.Codes(), tests, results)
	for _, r := range rows {
		got[r.ID] = r.Verdict
	}
	for id, want := range map[string]Verdict{
		"kaiza/FILE_NOT_FOUND":   Proved,
		"kaiza/SESSION_LOCKED":   Broken,
		"kaiza/INVALID_PATH":     Missing, // the test is not at home
		"kaiza/PATH_NOT_FOUND":   Missing,
		"candor/NOT_FOUND":       Proved,
		"candor/RETRY_EXHAUSTED": "reserved",
	} {
		if got[id] != want {
			t.Errorf("%s: %s, want %s", id, got[id], want)
		}
	}
	if problem == nil || !strings.Contains(problem.Error(), "TestEveryCodeIsEmitted") {
		t.Errorf("the problem is %v", problem)
	}
	if only, _ := Codes(systems, "kaiza", candor.Codes(), tests, results); len(only) != 35 {
		t.Errorf("%d codes of kaiza", len(only))
	}
}

const hangs = `package kay
import ("net"; "os"; "os/signal"; "testing")
func TestK1Hangs(t *testing.T) {
	signal.Ignore(os.Interrupt)
	c, err := net.Dial("tcp", os.Getenv("HANGS_AT"))
	if err == nil {
		c.Write([]byte("x"))
		select {}
	}
}
`

// TestAnInterruptedRunEndsItsTests hears from a test that does not want to end, and then its end.
func TestAnInterruptedRunEndsItsTests(t *testing.T) {
	m := fake(t, map[string]string{home + "/k_test.go": hangs})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	t.Setenv("HANGS_AT", listener.Addr().String())
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped by hand")
	ended := make(chan error, 1)
	go func() {
		c, err := listener.Accept()
		if err == nil {
			_, err = io.ReadFull(c, make([]byte, 1))
		}
		cancel(stopped)
		if err == nil {
			_, _ = io.Copy(io.Discard, c) // until the process is gone
		}
		ended <- err
	}()
	if _, err := m.Run(ctx, m.Tests, io.Discard); !errors.Is(err, stopped) {
		t.Errorf("the run ends with %v", err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the test did not hang: %v", err)
	}
}

func TestThereAre74Statements(t *testing.T) {
	all, err := Systems()
	if err != nil {
		t.Fatal(err)
	}
	domains := map[string]bool{}
	for c := range candor.Codes() {
		domains[c.Domain()] = true
	}
	for i, want := range []struct {
		letter string
		count  int
	}{{"K", 22}, {"W", 18}, {"H", 18}, {"D", 16}} {
		s := all[i]
		if s.Letter != want.letter || len(s.Statements) != want.count || s.Home == "" {
			t.Errorf("%s has %d statements, want %d of %s", s.Letter, len(s.Statements), want.count, want.letter)
		}
		for _, d := range s.Domains {
			if !domains[d] {
				t.Errorf("%s: there is no domain %s", s.Name, d)
			}
		}
	}
}
