package dual_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/testing/servertest"
)

// TestD13ALockHasATimeout checks that a call does not wait for ever for another call of the same tool that waits for
// the database, and that other tools work.
func TestD13ALockHasATimeout(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start("--lock-wait", "200ms", "--db-wait", "60s")
	id := s.task(nil)
	release := p.hold()
	refused, other := either(s.later("task_update", args{"id": id, "title": "one"}), s.later("task_update", args{"id": id, "title": "two"}))
	refused.isA("TOOL_LOCK_TIMEOUT")
	s.retryable(refused)
	if !refused.detail("tool").Is("task_update") {
		t.Errorf("%s", refused.M.Bytes())
	}
	s.call("task_get", args{"id": id}).fine() // a lock does not block other tools
	release()
	other().fine()
	s.call("task_update", args{"id": id, "status": "GATHER"}).fine()
}

// TestD13DifferentToolsWorkOnOneTask checks that concurrent calls of many tools on the same tasks end, and that the
// resulting state verifies.
func TestD13DifferentToolsWorkOnOneTask(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "--lock-wait", "60s", "--db-wait", "60s")
	servers := []*server{p.start(), p.start()}
	id := servers[0].task(nil)
	servers[0].call("audit_session_start", args{"session_id": "s"}).fine()
	round := servers[0].call("consensus_propose", args{"topic": "t", "proposal": "p", "proposer_id": "a", "voters": []string{"v0", "v1", "v2", "v3", "v4"}}).fine().data("round_id")
	calls := []func(i int) (string, args){
		func(int) (string, args) { return "task_update", args{"id": id, "description": "d"} },
		func(int) (string, args) {
			return "thought_record", args{"task_id": id, "type": "plan", "agent_id": "a", "content": "c"}
		},
		func(int) (string, args) { return "task_next_actions", args{"id": id} },
		func(int) (string, args) { return "audit_verify_chain", args{} },
		func(i int) (string, args) {
			return "consensus_vote", args{"round_id": round, "voter_id": fmt.Sprintf("v%d", i%5), "choice": "accept"}
		},
		func(int) (string, args) { return "thought_record_list", args{"task_id": id} },
	}
	var all sync.WaitGroup
	n := servertest.Rounds(20, 200)
	for i := range n {
		tool, in := calls[i%len(calls)](i)
		answer := servers[i%2].later(tool, in)
		all.Go(func() {
			a := answer()
			switch code := a.Code(); {
			case code == "ALREADY_VOTED":
			case code != "":
				t.Errorf("%s: %s", tool, a.M.Bytes())
			case tool == "audit_verify_chain" && !a.truth("valid"):
				t.Errorf("not valid meanwhile: %s", a.value().Raw())
			}
		})
	}
	all.Wait()
	servers[1].call("merkle_finalize", args{"session_id": "s"}).fine()
	servers[0].valid(true, args{})
}

// TestD14APanicIsAHandlerErrorWithoutStack checks that the lock of the tool is released, and that the server continues.
func TestD14APanicIsAHandlerErrorWithoutStack(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start("--drill", "--lock-wait", "2s")
	for _, kind := range []string{"panic", "panic", "error"} {
		a := s.call("drill", args{"kind": kind}).isA("HANDLER_ERROR")
		for _, leak := range []string{"goroutine", ".go:", "the drill", "runtime."} {
			if strings.Contains(string(a.M.Bytes()), leak) {
				t.Errorf("%s: %q is in %s", kind, leak, a.M.Bytes())
			}
		}
	}
	s.call("server_ping", args{}).fine()
}

// TestD15ABusyDatabaseIsDBBusy checks that the failure is retryable, and that nothing is changed.
func TestD15ABusyDatabaseIsDBBusy(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start("--db-wait", "100ms")
	id := s.task(nil)
	release := p.hold()
	for tool, in := range map[string]args{
		"task_update":         {"id": id, "status": "GATHER"},
		"thought_record":      {"task_id": id, "type": "plan", "agent_id": "a", "content": "c"},
		"audit_session_start": {},
	} {
		s.retryable(s.call(tool, in).isA("DB_BUSY"))
	}
	s.call("task_get", args{"id": id}).fine() // reading does not wait
	release()
	if got := s.call("task_get", args{"id": id}).fine().data("status"); got != "INIT" {
		t.Errorf("the task is %s", got)
	}
	s.call("task_update", args{"id": id, "status": "GATHER"}).fine()
}

func (s *server) retryable(a answer) {
	s.T.Helper()
	after, _ := a.Canonical().Path("retry", "afterMs").Int64()
	if kind, _ := a.Canonical().Path("retry", "kind").Str(); kind != "retryable_after_ms" || after <= 0 {
		s.T.Errorf("%s", a.Canonical().Raw())
	}
}

// TestD15AFullDatabaseIsDBFull checks that a full database is distinguished from a busy one and is retryable, and that
// the database works again once there is space.
func TestD15AFullDatabaseIsDBFull(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start("--max-db", "256KiB")
	id := s.task(nil)
	var full answer
	stored := int64(0)
	for range 100 {
		if full = s.think(id, args{"content": strings.Repeat("x", 16<<10)}); full.Code() != "" {
			break
		}
		stored++
	}
	s.retryable(full.isA("DB_FULL"))
	s.call("task_get", args{"id": id}).fine()
	s.End()
	s = p.start()
	if a := s.valid(true, args{}); a.number("record_count") != stored {
		t.Errorf("%d records, %d were stored", a.number("record_count"), stored)
	}
	s.think(id, nil).fine()
}
