package dual_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestReadingCommandsWriteNothing checks that they do not even write to a directory that no server has used.
func TestReadingCommandsWriteNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if err := os.MkdirAll(p.state, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, words := range [][]string{{"verify"}, {"export", "x"}} {
		if _, said, code := p.person(words...); code != 2 || !strings.Contains(said, "no database in the folder") {
			t.Errorf("%v: code %d, %s", words, code, said)
		}
	}
	if entries, err := os.ReadDir(p.state); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestAServerStartsWhileTheDatabaseIsLocked checks that a server without anything to change starts, and reads.
func TestAServerStartsWhileTheDatabaseIsLocked(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start()
	id := s.task(nil)
	s.End()
	defer p.hold()()
	p.start("--db-wait", "100ms").call("task_get", args{"id": id}).fine()
}

// TestHintsOfAServerThatCannotStart checks that the hints name the wrong flag or file.
func TestHintsOfAServerThatCannotStart(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if _, said, code := newPlace(t).person("--access", "FULL"); code != 0 { // flag values are case-insensitive
		t.Errorf("code %d, %s", code, said)
	}
	s := p.start()
	id := s.task(nil)
	s.think(id, nil).fine()
	s.End()
	p.sql("DELETE FROM meta")
	if out, said, code := p.person("verify"); code == 0 || strings.Contains(out+said, "sql:") || strings.Contains(said, "try again") || !strings.Contains(out+said, "the id of the database was removed") {
		t.Errorf("code %d, %s%s", code, out, said)
	}
	busy := newPlace(t)
	if err := os.MkdirAll(busy.state, 0o700); err != nil {
		t.Fatal(err)
	}
	release := busy.hold() // of a new database, which the server has to set up
	_, said, code := busy.person("--db-wait", "100ms")
	release()
	if code != 2 || !strings.Contains(said, "--db-wait") || strings.Contains(said, "--state") {
		t.Errorf("code %d, %s", code, said)
	}
}

// runCandor runs a command and returns its output and its exit code.
func runCandor(t testing.TB, words ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.Command(binary, words...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	return out.String(), said.String(), cmd.ProcessState.ExitCode()
}

// person runs a subcommand of candor workbench dual on the state of p.
func (p *place) person(words ...string) (stdout, stderr string, code int) {
	p.t.Helper()
	return runCandor(p.t, append(append([]string{"workbench", "dual"}, words...), "--state", p.state)...)
}

// TestCommandsReadWhileTheDatabaseIsLocked checks that the commands take no lock and wait for none.
func TestCommandsReadWhileTheDatabaseIsLocked(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start()
	id := s.task(nil)
	s.think(id, nil).fine()
	defer p.hold()()
	for _, words := range [][]string{{"verify"}, {"export", id}} {
		if out, said, code := p.person(words...); code != 0 {
			t.Errorf("%v: code %d, %s%s", words, code, out, said)
		}
	}
}
