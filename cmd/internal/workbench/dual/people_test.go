package dual_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

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

// TestCommandsListTheState lists tasks, sessions and rounds while the server runs.
func TestCommandsListTheState(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start()
	id := s.task(args{"title": "Fix the \x1b[31mdoor"})
	s.call("audit_session_start", args{"session_id": "work"}).fine()
	s.think(id, nil).fine()
	root := s.call("merkle_finalize", args{"session_id": "work"}).fine().data("root")
	s.call("audit_session_start", args{"session_id": "later"}).fine()
	round := s.propose(3, nil)
	s.vote(round, 0, "accept").fine()
	s.vote(round, 0, "reject").isA("ALREADY_VOTED")
	for _, row := range []struct {
		words []string
		want  []string
	}{
		{[]string{"tasks"}, []string{id + "  INIT       1 record  agent-1  Fix the", "1 task\n"}},
		{[]string{"tasks", "--status", "DONE"}, []string{"0 tasks\n"}},
		{[]string{"tasks", "--json"}, []string{`"id":"` + id + `"`, `"record_count":1`}},
		{[]string{"sessions"}, []string{"work  finalised  1 record", "root " + root, "attested by ledger entry dual-", "later  open", "2 sessions\n"}},
		{[]string{"sessions", "--json"}, []string{`"session_id":"work"`, `"bound_records":1`, `"chain":"dual-`}},
		{[]string{"rounds"}, []string{round[:16] + "  open      1 accept, 0 reject, 3 of 3 needed  release", "equivocation  v0 voted accept and then reject", "1 round\n"}},
		{[]string{"rounds", "--json"}, []string{`"round_id":"` + round + `"`, `"accepted":1`}},
		{[]string{"verify"}, []string{"OK: 1 record of 1 task, 1 attested by the ledger, 1 finalised session\n"}},
		{[]string{"verify", id[:8], "--json"}, []string{`"valid":true`, `"record_count":1`}},
	} {
		out, said, code := p.person(row.words...)
		if code != 0 || strings.Contains(out, "\x1b") {
			t.Errorf("%v: code %d, %q, %s", row.words, code, out, said)
		}
		for _, want := range row.want {
			if !strings.Contains(out, want) {
				t.Errorf("%v: %q is not in\n%s", row.words, want, out)
			}
		}
	}
	for _, row := range []struct {
		words []string
		said  string
	}{
		{[]string{"tasks", "--status", "OPEN"}, "--status"},
		{[]string{"verify", "ffffffff-none"}, "no task id begins"},
		{[]string{"export", "ffffffff-none"}, "no task id begins"},
		{[]string{"taks"}, "did you mean candor workbench dual tasks"},
	} {
		if _, said, code := p.person(row.words...); code != 2 || !strings.Contains(said, row.said) {
			t.Errorf("%v: code %d, %s", row.words, code, said)
		}
	}
	empty := newPlace(t)
	if err := os.MkdirAll(empty.state, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, said, code := empty.person("tasks"); code != 2 || !strings.Contains(said, "has no database") {
		t.Errorf("an empty folder: code %d, %s", code, said)
	}
}

// TestCommandsReadWhileTheDatabaseIsLocked checks that the commands neither take a lock nor wait for one.
func TestCommandsReadWhileTheDatabaseIsLocked(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start()
	id := s.task(nil)
	s.think(id, nil).fine()
	defer p.hold()()
	for _, words := range [][]string{{"tasks"}, {"sessions"}, {"rounds"}, {"verify"}, {"export", id}} {
		if out, said, code := p.person(words...); code != 0 {
			t.Errorf("%v: code %d, %s%s", words, code, out, said)
		}
	}
}

// TestAnInterruptedExportLeavesNoHalfFile checks that after Ctrl-C there is no file, or a complete one.
func TestAnInterruptedExportLeavesNoHalfFile(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start()
	id := s.task(nil)
	for range 20 {
		s.think(id, args{"content": strings.Repeat("x", 60<<10)}).fine()
	}
	file, key := filepath.Join(filepath.Dir(p.state), "thoughts.json"), filepath.Join(filepath.Dir(p.state), "signer.pub")
	if _, said, code := runCandor(t, "ledger", "key", "export", "--ledger", p.trail(), "--out", key); code != 0 {
		t.Fatalf("key export: %d, %s", code, said)
	}
	ends := map[string]int{}
	for n := range rounds(8, 100) {
		cmd := exec.Command(binary, "workbench", "dual", "export", id, "--out", file, "--state", p.state)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(n) * 12 * time.Millisecond)
		_ = cmd.Process.Signal(os.Interrupt) // it may have ended
		err := cmd.Wait()
		switch info, missing := os.Stat(file); {
		case missing == nil:
			ends["whole"]++
			if out, said, code := runCandor(t, "ledger", "check-proof", file, "--key", key); code != 0 {
				t.Errorf("a file of %d bytes: %v, %s%s", info.Size(), err, out, said)
			}
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		case err == nil:
			t.Error("it ended well and wrote nothing")
		default:
			ends["nothing"]++
		}
	}
	t.Log(ends)
	s.call("server_ping", args{}).fine()
}

// TestVerifyCommandFindsTampering checks that the exit code is 1, and that the record is named.
func TestVerifyCommandFindsTampering(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start()
	_, records := s.interleaved(2)
	s.End()
	p.sql("UPDATE thoughts SET agent_id = 'mallory' WHERE id = ?", records[1])
	out, _, code := p.person("verify")
	if code != 1 || !strings.Contains(out, "record 1: hash_mismatch") || !strings.Contains(out, "FAILED: 1 problem") {
		t.Errorf("code %d, %s", code, out)
	}
}

// TestAThirdPartyChecksAnExport checks that the file and the public key are enough to find every change of a record.
func TestAThirdPartyChecksAnExport(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start()
	tasks, _ := s.interleaved(3)
	bare := s.task(nil)
	home := filepath.Dir(p.state)
	file, key := filepath.Join(home, "thoughts.json"), filepath.Join(home, "signer.pub")
	if _, said, code := p.person("export", tasks[0][:13], "--out", file); code != 0 {
		t.Fatalf("export: %d, %s", code, said)
	}
	if _, said, code := p.person("export", bare); code != 2 || !strings.Contains(said, "has no thought records") {
		t.Errorf("a task without records: %d, %s", code, said)
	}
	if _, said, code := runCandor(t, "ledger", "key", "export", "--ledger", p.trail(), "--out", key); code != 0 {
		t.Fatalf("key export: %d, %s", code, said)
	}
	s.End()
	if err := os.RemoveAll(p.state); err != nil { // the third party has nothing else
		t.Fatal(err)
	}
	out, said, code := runCandor(t, "ledger", "check-proof", file, "--key", key)
	if code != 0 || !strings.Contains(out, "thoughts  3 records of task "+tasks[0]) {
		t.Fatalf("check-proof: %d, %s, %s", code, out, said)
	}
	if out, _, code := runCandor(t, "ledger", "check-proof", file, "--key", key, "--json"); code != 0 || !strings.Contains(out, `"thoughts":3`) {
		t.Errorf("check-proof --json: %d, %s", code, out)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		for field, forged := range map[string]any{"content": "forged", "agent_id": "mallory", "session_id": "x", "type": "plan", "timestamp": "2020-01-01T00:00:00.000000Z", "seq": 9} {
			var f map[string]json.RawMessage
			var thoughts struct {
				Task    json.RawMessage  `json:"task"`
				Records []map[string]any `json:"records"`
			}
			if err := errors.Join(json.Unmarshal(whole, &f), json.Unmarshal(f["thoughts"], &thoughts)); err != nil {
				t.Fatal(err)
			}
			thoughts.Records[i][field] = forged
			raw, err := json.Marshal(thoughts)
			if err != nil {
				t.Fatal(err)
			}
			f["thoughts"] = raw
			raw, err = json.Marshal(f)
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.Join(home, fmt.Sprintf("forged-%d-%s.json", i, field))
			if err := os.WriteFile(name, raw, 0o600); err != nil {
				t.Fatal(err)
			}
			if out, said, code := runCandor(t, "ledger", "check-proof", name, "--key", key); code != 1 || !strings.Contains(said, "the proof is not valid") {
				t.Errorf("%s of record %d: code %d, %s%s", field, i+1, code, out, said)
			}
		}
	}
}
