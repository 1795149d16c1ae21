package dual_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/candor-mcp/candor/cmd/internal/testing/servertest"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/rules"
	"github.com/candor-mcp/candor/ledger"
)

// TestD9AnOpenSessionBinds checks that a thought without session_id belongs to the open session, and that the
// documented sequence ends with a root.
func TestD9AnOpenSessionBinds(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	id := s.task(nil)
	unbound := s.think(id, nil).fine()
	if unbound.data("bound_by") != "none" || !strings.Contains(unbound.data("warning"), "audit_session_start") {
		t.Errorf("without a session: %s", unbound.M.Bytes())
	}
	s.call("audit_session_start", args{"session_id": "work"}).fine()
	for range 3 {
		a := s.think(id, nil).fine()
		if a.data("session_id") != "work" || a.data("bound_by") != "open_session" || a.value("warning").Present() {
			t.Errorf("%s", a.M.Bytes())
		}
	}
	if a := s.think(id, args{"session_id": "work"}).fine(); a.data("bound_by") != "argument" {
		t.Errorf("%s", a.M.Bytes())
	}
	final := s.call("merkle_finalize", args{"session_id": "work"}).fine()
	if final.number("record_count") != 4 || len(final.data("root")) != 64 {
		t.Errorf("%s", final.M.Bytes())
	}
	s.think(id, args{"session_id": "work"}).isA("ERR_ALREADY_FINALIZED")
	s.think(id, args{"session_id": "none"}).isA("ERR_SESSION_NOT_FOUND")
	if a := s.think(id, nil).fine(); a.data("bound_by") != "none" {
		t.Errorf("a finalised session binds: %s", a.M.Bytes())
	}
	other := s.task(nil)
	s.call("audit_session_start", args{"session_id": "one", "task_id": other}).fine()
	if a := s.think(id, nil).fine(); a.data("bound_by") != "none" {
		t.Errorf("the session of another task binds: %s", a.M.Bytes())
	}
	s.think(id, args{"session_id": "one"}).isA("INVALID_PARAMS")
	if a := s.think(other, nil).fine(); a.data("session_id") != "one" {
		t.Errorf("%s", a.M.Bytes())
	}
	s.call("merkle_finalize", args{"session_id": "one"}).fine()
}

// interleaved creates records of two tasks in turn, and returns the ids of the tasks and the records.
func (s *server) interleaved(each int) (tasks, records []string) {
	s.T.Helper()
	tasks = []string{s.task(nil), s.task(nil)}
	for i := range each {
		for _, id := range tasks {
			records = append(records, s.think(id, args{"content": fmt.Sprintf("thought %d", i)}).fine().data("id"))
		}
	}
	return tasks, records
}

// valid requires that everything verifies, or does not.
func (s *server) valid(want bool, in args) answer {
	s.T.Helper()
	a := s.call("audit_verify_chain", in).fine()
	if got := a.truth("valid"); got != want || want == (a.number("broken_count") > 0) {
		s.T.Errorf("valid is %v: %.800s", got, a.value().Raw())
	}
	return a
}

// TestD10VerifyIsFineOnInterleavedTasks verifies with and without a filter.
func TestD10VerifyIsFineOnInterleavedTasks(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	s.call("audit_session_start", args{"session_id": "s"}).fine()
	tasks, _ := s.interleaved(10)
	s.call("merkle_finalize", args{"session_id": "s"}).fine()
	if a := s.valid(true, args{}); a.number("record_count") != 20 || a.number("task_count") != 2 || a.number("attested_count") != 20 || a.number("session_count") != 1 {
		t.Errorf("%s", a.value().Raw())
	}
	if a := s.valid(true, args{"task_id": tasks[1]}); a.number("record_count") != 10 {
		t.Errorf("%s", a.value().Raw())
	}
}

// TestD10EveryAlteredFieldIsFound changes each column of a record in the database, in the middle and at the end of a
// chain.
func TestD10EveryAlteredFieldIsFound(t *testing.T) {
	t.Parallel()
	for name, record := range map[string]int{"middle": 2, "end": 4} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			alterFields(t, record)
		})
	}
}

// alterFields changes each column of one of the records of a chain.
func alterFields(t *testing.T, record int) {
	t.Helper()
	other := strings.Repeat("ab", 32)
	for column, value := range map[string]any{
		"id": missing, "seq": 99, "type": "plan", "task_id": missing, "agent_id": "mallory", "session_id": "other", "content": "forged",
		"timestamp": "2020-01-01T00:00:00.000000Z", "prev_hash": other, "hash": other,
	} {
		p := newPlace(t)
		s := p.start()
		tasks, records := s.interleaved(3)
		p.sql("UPDATE thoughts SET "+column+" = ? WHERE id = ?", value, records[record])
		a := s.call("audit_verify_chain", args{}).fine()
		if a.truth("valid") || !a.value("first_broken_at", "fault").Present() {
			t.Errorf("%s: not found: %s", column, a.value().Raw())
		}
		if a := s.call("audit_verify_chain", args{"task_id": tasks[0]}).fine(); a.truth("valid") {
			t.Errorf("%s: not found with a filter: %s", column, a.value().Raw())
		}
		s.End()
	}
}

// TestD10RemovedRecordsAreFound removes each record of a chain, including the last one.
func TestD10RemovedRecordsAreFound(t *testing.T) {
	t.Parallel()
	for i := range 3 {
		p := newPlace(t)
		s := p.start()
		tasks, records := s.interleaved(3)
		p.sql("DELETE FROM thoughts WHERE id = ?", records[2*i])
		s.valid(false, args{})
		s.valid(false, args{"task_id": tasks[0]})
		s.valid(true, args{"task_id": tasks[1]})
		s.End()
		p.start().valid(false, args{}) // after a restart, too
	}
}

// TestD10ARewrittenChainIsFound rewrites a chain so that every hash, every link and the root of the session are valid.
// The ledger shows the change.
func TestD10ARewrittenChainIsFound(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start()
	s.call("audit_session_start", args{"session_id": "s"}).fine()
	tasks, _ := s.interleaved(3)
	s.call("merkle_finalize", args{"session_id": "s"}).fine()
	var all []rules.Record
	if err := json.Unmarshal(s.call("thought_record_list", args{}).fine().value("records").Raw(), &all); err != nil {
		t.Fatal(err)
	}
	var head *rules.Record
	var tree rules.Tree
	for i := range all {
		if r := &all[i]; r.TaskID == tasks[0] {
			r.Content = "forged"
			r.Link(head)
			head = r
			p.sql("UPDATE thoughts SET content = ?, prev_hash = ?, hash = ? WHERE id = ?", r.Content, r.PrevHash, r.Hash, r.ID)
		}
		if err := tree.Add(all[i].Hash); err != nil {
			t.Fatal(err)
		}
	}
	root, err := tree.Root()
	if err != nil {
		t.Fatal(err)
	}
	p.sql("UPDATE sessions SET root = ?", root)
	a := s.valid(false, args{})
	if a.data("first_broken_at", "fault") != "record_replaced" || a.value("broken").Len() != 3 || a.data("broken_sessions", 0, "reason") != "the ledger attests another root" {
		t.Errorf("%s", a.value().Raw())
	}
	s.End()
	p.start().valid(false, args{}) // after a restart, too
}

// TestD10AnAlteredSessionIsFound changes and removes the root of a session, and a record that it covers.
func TestD10AnAlteredSessionIsFound(t *testing.T) {
	t.Parallel()
	for statement, reason := range map[string]string{
		"UPDATE sessions SET root = lower(hex(randomblob(32)))":            "its records are not those that it was finalised with",
		"UPDATE sessions SET records = records + 1":                        "its records are not those that it was finalised with",
		"UPDATE sessions SET finalized_at = '2020-01-01T00:00:00.000000Z'": "the ledger attests another root",
		"DELETE FROM sessions":                                             "the ledger attests its root, and it was removed",
		"UPDATE thoughts SET session_id = ''":                              "it has no records any more",
	} {
		p := newPlace(t)
		s := p.start()
		s.call("audit_session_start", args{"session_id": "s"}).fine()
		s.interleaved(1)
		s.call("merkle_finalize", args{"session_id": "s"}).fine()
		s.valid(true, args{})
		p.sql(statement)
		if a := s.valid(false, args{}); a.value("broken_sessions").Len() != 1 || a.data("broken_sessions", 0, "reason") != reason {
			t.Errorf("%s: %s", statement, a.value().Raw())
		}
		s.End()
	}
}

// TestD11UnknownAndOpenSessionsDiffer checks that the failures of a session are distinguished.
func TestD11UnknownAndOpenSessionsDiffer(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	if a := s.call("merkle_root", args{"session_id": "s"}).isB("ERR_NOT_FINALIZED"); !a.detail("reason").Is("unknown_session") {
		t.Errorf("%s", a.detail().Raw())
	}
	s.call("merkle_finalize", args{"session_id": "s"}).isB("ERR_SESSION_NOT_FOUND")
	s.call("audit_session_start", args{"session_id": "s"}).fine()
	s.call("audit_session_start", args{"session_id": "s"}).isB("ERR_SESSION_EXISTS")
	s.call("audit_session_start", args{"task_id": missing}).isB("ERR_NOT_FOUND")
	if a := s.call("merkle_root", args{"session_id": "s"}).isB("ERR_NOT_FINALIZED"); a.detail("reason").Present() {
		t.Errorf("%s", a.detail().Raw())
	}
	s.call("merkle_finalize", args{"session_id": "s"}).isB("ERR_NO_RECORDS")
	s.call("merkle_finalize", args{"session_id": "s", "abandon": true}).fine()
	if open := s.call("server_health", args{}).fine().value("open_sessions"); open.Len() != 0 {
		t.Errorf("%s", open.Raw())
	}
	s.call("audit_session_start", args{"session_id": "s"}).fine()
	s.think(s.task(nil), nil).fine()
	s.call("merkle_finalize", args{"session_id": "s", "abandon": true}).isA("INVALID_PARAMS")
	root := s.call("merkle_finalize", args{"session_id": "s"}).fine().data("root")
	s.call("merkle_finalize", args{"session_id": "s"}).isB("ERR_ALREADY_FINALIZED")
	s.call("audit_session_start", args{"session_id": "s"}).isB("ERR_SESSION_EXISTS")
	if got := s.call("merkle_root", args{"session_id": "s"}).fine().data("root"); got != root {
		t.Errorf("got %s, want %s", got, root)
	}
	s.call("merkle_root", args{"session_id": "s", "record_id": missing}).isB("ERR_NOT_FOUND")
}

// TestD11EveryRecordHasAProof checks the proofs as a third party does.
func TestD11EveryRecordHasAProof(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	s.call("audit_session_start", args{"session_id": "s"}).fine()
	_, records := s.interleaved(4)
	root := s.call("merkle_finalize", args{"session_id": "s"}).fine().data("root")
	for _, id := range records {
		a := s.call("merkle_root", args{"session_id": "s", "record_id": id}).fine()
		var proof rules.Proof
		if err := json.Unmarshal(a.value("proof").Raw(), &proof); err != nil {
			t.Fatal(err)
		}
		if err := checkProof(&proof, root, a.data("record", "hash")); err != nil || proof.Size != 8 {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// checkProof checks that a tree with a root has a record.
func checkProof(p *rules.Proof, root, record string) error {
	var hashes tlog.RecordProof
	for _, text := range append([]string{root, record}, p.Hashes...) {
		raw, err := hex.DecodeString(text)
		if err != nil {
			return err
		}
		hashes = append(hashes, tlog.Hash(raw))
	}
	return tlog.CheckRecord(hashes[2:], p.Size, hashes[0], p.Index, tlog.RecordHash(hashes[1][:]))
}

// TestD11AThirdPartyRecomputes checks the exports of a task and a session, a proof and a round with the script of the examples, and that the
// script and check-proof find a change of each text.
func TestD11AThirdPartyRecomputes(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	p := newPlace(t)
	s := p.start()
	s.call("audit_session_start", args{"session_id": "s", "agent_id": "agent-1"}).fine()
	tasks, records := s.interleaved(3)
	if a := s.think(tasks[0], args{"content": "\"quoted\" <&> \\ é 😀\t\n\u0001 "}); a.Code() != "" {
		t.Fatal(a.M)
	}
	s.call("merkle_finalize", args{"session_id": "s"}).fine()
	round := s.propose(3, nil)
	s.vote(round, 1, "accept").fine()
	s.vote(round, 1, "reject").isA("ALREADY_VOTED")
	file := func(name string, text []byte) string {
		name = filepath.Join(filepath.Dir(p.state), name)
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	run := func(words ...string) []byte {
		out, said, code := runCandor(t, words...)
		if code != 0 {
			t.Errorf("%v: %s", words, said)
		}
		return []byte(out)
	}
	operate := func(words ...string) []byte {
		return run(append(append([]string{"workbench", "dual"}, words...), "--state", p.state)...)
	}
	signer := file("signer.pub", run("ledger", "key", "export", p.trail()))
	texts := map[string][]byte{
		"task": operate("export", tasks[0]), "session": operate("export", "--session", "s"),
		"proof": s.call("merkle_root", args{"session_id": "s", "record_id": records[3]}).fine().value().Raw(),
		"round": s.call("consensus_finality", args{"round_id": round}).fine().value().Raw(),
	}
	for name, text := range texts {
		if out, err := exec.Command(python, "../../../../examples/dual/check.py", file(name, text)).CombinedOutput(); err != nil {
			t.Errorf("%s: %v %s", name, err, out)
		}
		forged := bytes.Replace(bytes.Replace(text, []byte(`"content":"thought`), []byte(`"content":"Thought`), 1), []byte(`"choice":"accept"`), []byte(`"choice":"reject"`), 1)
		if err := exec.Command(python, "../../../../examples/dual/check.py", file(name, forged)).Run(); err == nil {
			t.Errorf("%s: a change is not found", name)
		}
		if name != "task" && name != "session" {
			continue
		}
		run("ledger", "check-proof", file(name, text), "--key", signer)
		if _, _, code := runCandor(t, "ledger", "check-proof", file(name, forged), "--key", signer); code != 1 {
			t.Errorf("check-proof %s: a change is not found", name)
		}
	}
	if out := operate("sessions"); !bytes.Contains(out, []byte("finalised")) {
		t.Errorf("%s", out)
	}
}

// TestD11OneFinaliserWins finalises a session concurrently with several servers on one state.
func TestD11OneFinaliserWins(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "--db-wait", "30s")
	servers := []*server{p.start(), p.start(), p.start()}
	task := servers[0].task(nil)
	for i := range servertest.Rounds(10, 500) {
		id := fmt.Sprintf("s%d", i)
		servers[0].call("audit_session_start", args{"session_id": id}).fine()
		servers[0].think(task, args{"session_id": id}).fine()
		var won, lost int
		var mu sync.Mutex
		var all sync.WaitGroup
		for n := range 6 {
			answer := servers[n%3].later("merkle_finalize", args{"session_id": id})
			all.Go(func() {
				a := answer()
				mu.Lock()
				defer mu.Unlock()
				switch a.Code() {
				case "":
					won++
				case "ERR_ALREADY_FINALIZED":
					lost++
				default:
					t.Errorf("%s", a.M.Bytes())
				}
			})
		}
		all.Wait()
		if won != 1 || lost != 5 {
			t.Fatalf("%d won, %d lost", won, lost)
		}
	}
	servers[1].valid(true, args{})
}

// TestD12EveryCallIsEnteredAndLeft checks that the trail has the start and the end of every call, including refused
// calls, with outcome and code.
func TestD12EveryCallIsEnteredAndLeft(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start("--drill")
	var codes []string
	do := func(tool string, in any) {
		codes = append(codes, s.call(tool, in).Code())
	}
	do("server_ping", args{})
	do("task_get", args{"id": missing})
	do("task_get", args{"id": 5})
	do("vrf_eval", args{"priv_key_hex": ""})
	do("drill", args{"kind": "panic"})
	do("no_such_tool", args{})
	s.End()
	entered, left := map[string]int{}, map[string]string{}
	for _, e := range p.entries() {
		if e.Kind == ledger.KindEnter {
			entered[e.Call]++
		}
		if e.Kind == ledger.KindExit {
			if _, twice := left[e.Call]; twice {
				t.Errorf("%s is left twice", e.Call)
			}
			left[e.Call] = string(e.Outcome) + " " + e.Code
		}
	}
	var outcomes []string
	for call, n := range entered {
		if n != 1 || left[call] == "" {
			t.Errorf("%s is entered %d times and left with %q", call, n, left[call])
		}
		outcomes = append(outcomes, left[call])
	}
	if len(entered) != len(codes) || len(left) != len(codes) {
		t.Errorf("%d calls, %d entered, %d left", len(codes), len(entered), len(left))
	}
	for _, want := range []string{"ok ", "error ERR_NOT_FOUND", "error INVALID_PARAMS", "error INVALID_KEY", "error HANDLER_ERROR"} {
		found := false
		for _, o := range outcomes {
			found = found || strings.HasPrefix(o, strings.TrimSpace(want)) && (want != "ok " || o == want || o == "ok ")
		}
		if !found {
			t.Errorf("no call has the outcome %q: %q", want, outcomes)
		}
	}
}

// entries returns the records of the trail.
func (p *place) entries() (all []ledger.Record) {
	p.t.Helper()
	r, err := ledger.OpenReader(p.trail())
	if err != nil {
		p.t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // it was only read
	for line, err := range r.Entries(p.t.Context(), ledger.ReadOptions{}) {
		if err != nil {
			p.t.Fatal(err)
		}
		e, err := line.Record()
		if err != nil {
			p.t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// TestD12WithoutATrailNothingIsDone checks that a trail that cannot be written makes every call fail, and that nothing
// changes.
func TestD12WithoutATrailNothingIsDone(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	blocked := filepath.Join(filepath.Dir(p.state), "not-a-folder")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := p.start("--ledger", blocked)
	a := s.call("task_create", args{"title": "x"})
	if code := a.Code(); code != "AUDIT_LOG_FAILED" && code != "AUDIT_LOCK_FAILED" {
		t.Errorf("%s", a.M.Bytes())
	}
	s.End()
	if n := p.start().call("task_list", args{}).fine().number("count"); n != 0 {
		t.Errorf("%d tasks exist", n)
	}
}
