package dual_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/testing/servertest"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/rules"
)

// recordedPlace returns a state with three records of two tasks each and a finalised session for the first task. No
// server is running.
func recordedPlace(t *testing.T, flags ...string) (p *place, tasks []string) {
	t.Helper()
	p = newPlace(t, flags...)
	s := p.start()
	tasks = []string{s.task(nil), s.task(nil)}
	s.call("audit_session_start", args{"session_id": "s", "task_id": tasks[0], "agent_id": "agent-1"}).fine()
	for i := range 3 {
		for _, id := range tasks {
			s.think(id, args{"content": fmt.Sprintf("thought %d", i)}).fine()
		}
	}
	s.call("merkle_finalize", args{"session_id": "s"}).fine()
	s.End()
	return p, tasks
}

// rewrite forges a record of a task and updates every hash and link of its chain.
func (p *place) rewrite(task string) {
	p.t.Helper()
	s := p.start("--access", "readonly")
	var all []rules.Record
	if err := json.Unmarshal(s.call("thought_record_list", args{"task_id": task}).fine().value("records").Raw(), &all); err != nil {
		p.t.Fatal(err)
	}
	s.End()
	var head *rules.Record
	for i := range all {
		r := &all[i]
		r.Content = "forged"
		r.Link(head)
		head = r
		p.sql("UPDATE thoughts SET content = ?, prev_hash = ?, hash = ? WHERE id = ?", r.Content, r.PrevHash, r.Hash, r.ID)
	}
}

// broken requires that candor workbench dual verify fails with this reason.
func (p *place) broken(name, why string, words ...string) {
	p.t.Helper()
	out, said, code := p.person(append([]string{"verify"}, words...)...)
	if code != 1 || !strings.Contains(out, why) {
		p.t.Errorf("%s: verify ends with %d, want %q: %s%s", name, code, why, out, said)
	}
}

// removeDatabase removes the database with its side files.
func (p *place) removeDatabase() {
	p.t.Helper()
	for _, suffix := range []string{"-wal", "-shm", ""} {
		if err := os.Remove(filepath.Join(p.state, "dual.db"+suffix)); err != nil && !os.IsNotExist(err) {
			p.t.Fatal(err)
		}
	}
}

// TestADatabaseThatWasReplacedIsFound checks that the ledger identifies the database in the directory, so that another
// one is detected.
func TestADatabaseThatWasReplacedIsFound(t *testing.T) {
	t.Parallel()
	other, _ := recordedPlace(t)
	for name, change := range map[string]func(p *place, tasks []string){
		"another id": func(p *place, tasks []string) {
			p.rewrite(tasks[1])
			p.sql("DELETE FROM thoughts WHERE task_id = ?", tasks[0])
			p.sql("DELETE FROM sessions")
			p.sql("UPDATE meta SET value = 'x' || value")
		},
		"another id, no places": func(p *place, tasks []string) {
			p.rewrite(tasks[1])
			p.sql("UPDATE thoughts SET chain = NULL, anchor = NULL")
			p.sql("UPDATE sessions SET chain = NULL, seq = NULL")
			p.sql("UPDATE meta SET value = lower(hex(randomblob(16)))")
		},
		"no id":       func(p *place, _ []string) { p.sql("DELETE FROM meta") },
		"no database": func(p *place, _ []string) { p.removeDatabase() },
		"the database of another folder": func(p *place, _ []string) {
			p.removeDatabase()
			raw, err := os.ReadFile(filepath.Join(other.state, "dual.db"))
			if err == nil {
				err = os.WriteFile(filepath.Join(p.state, "dual.db"), raw, 0o600)
			}
			if err != nil {
				p.t.Fatal(err)
			}
		},
	} {
		p, tasks := recordedPlace(t)
		change(p, tasks)
		if _, err := os.Stat(filepath.Join(p.state, "dual.db")); err == nil {
			p.broken(name, "database")
		} else if _, said, code := p.person("verify"); code != 2 || !strings.Contains(said, "removed or replaced") {
			t.Errorf("%s: %d, %s", name, code, said)
		}
		before := len(p.attests())
		s := p.start()
		if a := s.call("server_health", args{}).is("SELF_AUDIT_FAILURE"); !strings.Contains(string(a.M.Bytes()), "INV_STARTUP_DATABASE_ATTESTED") {
			t.Errorf("%s: %s", name, a.M.Bytes())
		}
		s.End()
		p.broken(name+", after a start", "database")
		if after := len(p.attests()); after != before {
			t.Errorf("%s: a server that refuses to work attested %d more", name, after-before)
		}
	}
}

// attests returns the data of the entries with an attestation.
func (p *place) attests() (all []string) {
	p.t.Helper()
	for _, e := range p.entries() {
		if strings.Contains(string(e.Data), `"attests":`) {
			all = append(all, string(e.Data))
		}
	}
	return all
}

// TestStatesShareALedger checks that state directories with one ledger elsewhere are distinguished, and may be moved.
func TestStatesShareALedger(t *testing.T) {
	t.Parallel()
	shared := filepath.Join(t.TempDir(), "trail")
	first, _ := recordedPlace(t, "--ledger", shared)
	second, _ := recordedPlace(t, "--ledger", shared)
	check := func(p *place) {
		t.Helper()
		if out, said, code := p.person("verify", "--ledger", shared); code != 0 || !strings.Contains(out, "6 attested") {
			t.Errorf("%d, %s%s", code, out, said)
		}
	}
	check(first)
	check(second)
	moved := first.state + "-moved"
	if err := os.Rename(first.state, moved); err != nil {
		t.Fatal(err)
	}
	first.state = moved
	s := first.start()
	s.valid(true, args{})
	s.End()
	check(first)
	second.removeDatabase()
	second.start().call("server_ping", args{}).is("SELF_AUDIT_FAILURE")
	second.broken("no database", "database", "--ledger", shared)
	check(first)
}

// TestALedgerThatLostEntriesIsFound checks that a record with a ledger position must be in the ledger.
func TestALedgerThatLostEntriesIsFound(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(chain string) error{
		"chain removed": os.RemoveAll,
		"truncated": func(chain string) error {
			log := filepath.Join(chain, "audit-log.jsonl")
			raw, err := os.ReadFile(log)
			if err != nil {
				return err
			}
			lines := strings.SplitAfter(string(raw), "\n")
			return os.WriteFile(log, []byte(strings.Join(lines[:8], "")), 0o600)
		},
		"garbage": func(chain string) error {
			return os.WriteFile(filepath.Join(chain, "audit-log.jsonl"), []byte(strings.Repeat("\x01\xff?", 1000)), 0o600)
		},
	} {
		p, tasks := recordedPlace(t)
		chains, err := filepath.Glob(filepath.Join(p.trail(), "dual-*"))
		if err != nil || len(chains) == 0 {
			t.Fatal(chains, err)
		}
		for _, chain := range chains {
			if err := change(chain); err != nil {
				t.Fatal(err)
			}
		}
		p.broken(name, "attestation_missing")
		p.broken(name, "attestation_missing", tasks[1])
		if _, _, code := p.person("export", tasks[1]); code == 0 {
			t.Errorf("%s: it is exported", name)
		}
	}
	p, _ := recordedPlace(t)
	if err := os.RemoveAll(p.trail()); err != nil {
		t.Fatal(err)
	}
	if out, _, code := p.person("verify"); code == 0 {
		t.Errorf("without a ledger: %s", out)
	}
	p.start().End() // which creates a new ledger
	p.broken("a new ledger", "attestation_missing")
}

// TestSessionsNamedLikeSecretsVerify checks that a session is found although the ledger redacts an id that looks like a
// secret.
func TestSessionsNamedLikeSecretsVerify(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start()
	task := s.task(nil)
	names := []string{"token:rotation-2026", "secret:review", "fix-password:reset-flow", "pwd:home", "sk-learn-upgrade-2026-11-16-session", "api_key:ghp_0123456789abcdefghijABCDEFGHIJ012345"}
	for _, id := range names {
		s.call("audit_session_start", args{"session_id": id, "agent_id": "secret:agent"}).fine()
		s.think(task, args{"session_id": id, "agent_id": "password:hunter2"}).fine()
		s.call("merkle_finalize", args{"session_id": id}).fine()
	}
	if a := s.valid(true, args{}); a.number("session_count") != int64(len(names)) || a.number("attested_count") != int64(len(names)) {
		t.Errorf("%s", a.value().Raw())
	}
	s.valid(true, args{"task_id": task})
	p.sql("DELETE FROM sessions WHERE id = ?", names[0])
	if a := s.valid(false, args{}); a.value("broken_sessions").Len() != 1 {
		t.Errorf("%s", a.value().Raw())
	}
}

// TestNothingBrokenIsExportedOrAttested checks that export refuses records that do not verify, and that a start does
// not attest a forgery in addition to the original.
func TestNothingBrokenIsExportedOrAttested(t *testing.T) {
	t.Parallel()
	p, tasks := recordedPlace(t)
	p.sql("DELETE FROM thoughts WHERE task_id = ? AND seq = 3", tasks[1])
	if _, said, code := p.person("export", tasks[1]); code != 2 || !strings.Contains(said, "record 3: record_missing") {
		t.Errorf("without the last record: %d, %s", code, said)
	}
	if _, said, code := p.person("export", tasks[0]); code != 0 {
		t.Errorf("the other task: %d, %s", code, said)
	}
	p, tasks = recordedPlace(t)
	p.rewrite(tasks[1])
	p.sql("UPDATE thoughts SET chain = NULL, anchor = NULL WHERE task_id = ?", tasks[1])
	before := len(p.attests())
	s := p.start()
	if a := s.call("server_health", args{}).fine(); a.data("status") != "degraded" || a.number("unattested_records") != 3 {
		t.Errorf("%s", a.value().Raw())
	}
	s.End()
	if after := len(p.attests()); after != before {
		t.Errorf("the start attested %d more", after-before)
	}
	p.broken("rewritten", "record_replaced")
	if _, said, code := p.person("export", tasks[1]); code != 2 || !strings.Contains(said, "record 1: record_replaced") {
		t.Errorf("rewritten: %d, %s", code, said)
	}
}

// TestEveryFieldOfASessionIsAttested changes each column of a finalised session.
func TestEveryFieldOfASessionIsAttested(t *testing.T) {
	t.Parallel()
	p, tasks := recordedPlace(t)
	s := p.start()
	session := s.call("merkle_root", args{"session_id": "s"}).fine()
	for column, value := range map[string][2]any{
		"agent_id": {"agent-1", "mallory"}, "task_id": {tasks[0], tasks[1]}, "begun_at": {session.data("begun_at"), "2001-01-01T00:00:00.000000Z"},
		"chain": {session.data("ledger", "chain"), "dual-none"}, "seq": {session.number("ledger", "seq"), 1}, "digest": {rules.Digest("s"), "x"},
		"root": {session.data("root"), strings.Repeat("0", 64)}, "records": {3, 9}, "finalized_at": {session.data("finalized_at"), "2001-01-01T00:00:00.000000Z"},
	} {
		p.sql("UPDATE sessions SET "+column+" = ?", value[1])
		if a := s.valid(false, args{}); a.number("broken_count") != 1 {
			t.Errorf("%s: %s", column, a.value().Raw())
		}
		if column == "root" || column == "records" {
			s.call("merkle_root", args{"session_id": "s"}).isA("HANDLER_ERROR")
		}
		p.sql("UPDATE sessions SET "+column+" = ?", value[0])
		s.valid(true, args{})
	}
	p.sql("UPDATE thoughts SET content = 'forged' WHERE session_id = 's'")
	s.call("merkle_root", args{"session_id": "s"}).isA("HANDLER_ERROR")
}

// TestVerifyOneTaskIgnoresOthers checks that sessions of another task do not count, and that each broken session
// counts once.
func TestVerifyOneTaskIgnoresOthers(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start()
	sound, harmed := s.task(nil), s.task(nil)
	s.think(sound, nil).fine()
	const count = 25
	for i := range count {
		id := fmt.Sprintf("s%d", i)
		s.call("audit_session_start", args{"session_id": id, "task_id": harmed}).fine()
		s.think(harmed, args{"session_id": id}).fine()
		s.call("merkle_finalize", args{"session_id": id}).fine()
	}
	p.sql("UPDATE sessions SET root = lower(hex(randomblob(32)))")
	s.valid(true, args{"task_id": sound})
	if _, said, code := p.person("verify", sound); code != 0 {
		t.Errorf("%d, %s", code, said)
	}
	for _, in := range []args{{}, {"task_id": harmed}} {
		if a := s.valid(false, in); a.number("broken_count") != count || a.value("broken_sessions").Len() != 20 {
			t.Errorf("%s", a.value().Raw())
		}
	}
	p.sql("DELETE FROM sessions")
	s.valid(true, args{"task_id": sound})
	if a := s.valid(false, args{}); a.number("broken_count") != count {
		t.Errorf("%s", a.value().Raw())
	}
	if a := s.valid(false, args{"task_id": harmed}); a.number("broken_count") != count {
		t.Errorf("%s", a.value().Raw())
	}
}

// TestARemovedDatabaseTakesNoChange checks that a server refuses calls after its database was removed or replaced, instead
// of writing to an unlinked file.
func TestARemovedDatabaseTakesNoChange(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start()
	task := s.task(nil)
	name := filepath.Join(p.state, "dual.db")
	if err := os.Rename(name, name+".away"); err != nil {
		t.Fatal(err)
	}
	check := func() {
		t.Helper()
		s.call("task_create", args{"title": "x"}).isA("HANDLER_ERROR")
		a := s.think(task, nil).isA("HANDLER_ERROR")
		s.call("server_health", args{}).isA("HANDLER_ERROR")
		if !strings.Contains(string(a.M.Bytes()), "removed or replaced") {
			t.Errorf("%s", a.M.Bytes())
		}
	}
	check()
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	check()
	if err := os.Rename(name+".away", name); err != nil {
		t.Fatal(err)
	}
	s.think(task, nil).fine()
	s.valid(true, args{})
}

// TestARemovedJournalTakesNoChange checks the same for the files beside the database, and that a stop saves what the server holds.
func TestARemovedJournalTakesNoChange(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, suffix := range []string{"-wal", "-shm"} {
		s := p.start()
		kept := s.task(nil)
		if err := os.Remove(filepath.Join(p.state, "dual.db"+suffix)); err != nil {
			t.Fatal(err)
		}
		s.call("task_create", args{"title": "lost"}).isA("HANDLER_ERROR")
		s.call("task_list", args{}).isA("HANDLER_ERROR")
		s.End()
		s = p.start()
		s.call("task_get", args{"id": kept}).fine()
		s.End()
	}
}

// TestVerifyRunsBesideWriters checks that records, sessions and attestations in progress are not reported as faults.
func TestVerifyRunsBesideWriters(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "--db-wait", "30s")
	writers := []*server{p.start(), p.start()}
	task := writers[0].task(nil)
	stop, done := make(chan struct{}), make(chan struct{}, len(writers))
	for w, s := range writers {
		go func() {
			defer func() { done <- struct{}{} }()
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				id := fmt.Sprintf("s%d-%d", w, i)
				for _, wait := range []func() answer{
					s.later("audit_session_start", args{"session_id": id}),
					s.later("thought_record", args{"task_id": task, "type": "plan", "agent_id": "a", "content": "c", "session_id": id}),
				} {
					wait()
				}
				s.later("merkle_finalize", args{"session_id": id})()
			}
		}()
	}
	reader := p.start()
	for i := range servertest.Rounds(12, 40) {
		in := args{}
		if i%3 == 0 {
			in = args{"task_id": task}
		}
		reader.valid(true, in)
		if i%4 == 0 {
			if out, said, code := p.person("verify"); code != 0 {
				t.Errorf("%d, %s%s", code, out, said)
			}
		}
	}
	close(stop)
	for range writers {
		<-done
	}
	if a := reader.valid(true, args{}); a.number("record_count") == 0 || a.number("record_count") != a.number("attested_count") || a.number("session_count") == 0 {
		t.Errorf("%s", a.value().Raw())
	}
}
