package dual_test

import (
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
)

// advised is a failure, a part of its suggestion, and the calls that the suggestion asks for. The last of them must succeed, and no call may
// fail with the code of the failure.
type advised struct {
	code, says string
	fail       func(s *server) answer
	obey       []func(s *server) answer
}

// do returns a call.
func do(tool string, in args) func(*server) answer {
	return func(s *server) answer { return s.call(tool, in) }
}

// TestAdviceLeadsOut obeys the suggestion of every code, and of each failure with a suggestion of its own.
func TestAdviceLeadsOut(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start("--upstreams", p.upstreams(p.fake("fine")))
	made := func(to string, more args) string {
		id := s.task(more)
		s.think(id, nil).fine()
		if to != "INIT" {
			s.advance(id, to)
		}
		return id
	}
	update := func(id, status string) func(*server) answer {
		return do("task_update", args{"id": id, "status": status})
	}
	unthought, first, done, waits, waited := s.task(nil), s.task(nil), made("DONE", nil), "", made("PLAN", nil)
	s.advance(unthought, "VERIFY")
	waits = made("PLAN", args{"depends_on": []string{waited}})
	cancelled := s.task(nil)
	s.call("task_update", args{"id": cancelled, "status": "CANCELLED"}).fine()
	stuck := made("PLAN", args{"depends_on": []string{cancelled}})
	s.call("audit_session_start", args{"session_id": "closed"}).fine()
	recorded := s.think(first, args{"session_id": "closed"}).fine().data("id")
	s.call("merkle_finalize", args{"session_id": "closed"}).fine()
	for _, id := range []string{"empty", "open"} {
		s.call("audit_session_start", args{"session_id": id}).fine()
	}
	round := s.propose(3, nil)
	s.vote(round, 0, "accept").fine()
	thought := func(more args) args {
		in := args{"task_id": first, "type": "plan", "agent_id": "a", "content": "c"}
		for k, v := range more {
			in[k] = v
		}
		return in
	}
	type calls = []func(*server) answer
	rows := []advised{
		{"ERR_NO_RECORDS", "or abandon", do("merkle_finalize", args{"session_id": "empty"}), calls{do("merkle_finalize", args{"session_id": "empty", "abandon": true})}},
		{"ERR_NO_RECORDS", "at least one thought", do("merkle_finalize", args{"session_id": "open"}),
			calls{do("thought_record", thought(args{"session_id": "open"})), do("merkle_finalize", args{"session_id": "open"})}},
		{"INVALID_PARAMS", "Correct the arguments", do("task_get", args{"id": 5}), calls{do("task_get", args{"id": first})}},
		{"INVALID_PARAMS", "Correct", do("thought_record", thought(args{"content": "\u200b \u2800"})), calls{do("thought_record", thought(nil))}},
		{"ERR_VALIDATION", "Correct the fields", do("task_create", args{"title": " "}), calls{do("task_create", args{"title": "x"})}},
		{"ERR_VALIDATION", "new status, or another field", do("task_update", args{"id": first}), calls{do("task_update", args{"id": first, "title": "x"})}},
		{"ERR_VALIDATION", "task_create", do("task_update", args{"id": done, "title": "x"}), calls{do("task_create", args{"title": "x"})}},
		{"ERR_VALIDATION", "without agent_id", do("task_update", args{"id": first, "status": "CANCELLED", "agent_id": "b"}), calls{update(first, "CANCELLED")}},
		{"ERR_NOT_FOUND", "task_list", do("task_get", args{"id": missing}), calls{do("task_list", args{}), do("task_get", args{"id": done})}},
		{"ERR_NOT_FOUND", "thought_record_list", do("merkle_root", args{"session_id": "closed", "record_id": missing}),
			calls{do("thought_record_list", args{"session_id": "closed"}), do("merkle_root", args{"session_id": "closed", "record_id": recorded})}},
		{"ERR_WRITEBACK_REQUIRED", "thought_record", update(unthought, "DONE"), calls{do("thought_record", thought(args{"task_id": unthought})), update(unthought, "DONE")}},
		{"ERR_INVALID_TRANSITION", "with status APPLY", update(waited, "DONE"), calls{update(waited, "APPLY")}},
		{"ERR_INVALID_TRANSITION", "task_create", update(done, "INIT"), calls{do("task_create", args{"title": "x"})}},
		{"ERR_INVALID_TRANSITION", "waiting_for to DONE", update(waits, "APPLY"), calls{update(waited, "VERIFY"), update(waited, "DONE"), update(waits, "APPLY")}},
		{"ERR_INVALID_TRANSITION", "status CANCELLED, and create", update(stuck, "APPLY"), calls{update(stuck, "CANCELLED"), do("task_create", args{"title": "x"})}},
		{"ERR_SESSION_EXISTS", "omit it", do("audit_session_start", args{"session_id": "closed"}), calls{do("audit_session_start", args{"task_id": done})}},
		{"ERR_SESSION_NOT_FOUND", "audit_session_start", do("merkle_finalize", args{"session_id": "new"}),
			calls{do("audit_session_start", args{"session_id": "new"}), do("thought_record", thought(args{"session_id": "new"})), do("merkle_finalize", args{"session_id": "new"})}},
		{"ERR_ALREADY_FINALIZED", "merkle_root", do("merkle_finalize", args{"session_id": "closed"}), calls{do("merkle_root", args{"session_id": "closed"})}},
		{"ERR_ALREADY_FINALIZED", "Leave session_id out", do("thought_record", thought(args{"session_id": "closed"})), calls{do("thought_record", thought(nil))}},
		{"ERR_NOT_FINALIZED", "audit_session_start, record thoughts", do("merkle_root", args{"session_id": "other"}), calls{do("audit_session_start", args{"session_id": "other"}),
			do("thought_record", thought(args{"session_id": "other"})), do("merkle_finalize", args{"session_id": "other"}), do("merkle_root", args{"session_id": "other"})}},
		{"ERR_NOT_FINALIZED", "merkle_finalize", func(s *server) answer {
			s.call("audit_session_start", args{"session_id": "late"}).fine()
			s.call("thought_record", thought(args{"session_id": "late"})).fine()
			return s.call("merkle_root", args{"session_id": "late"})
		}, calls{do("merkle_finalize", args{"session_id": "late"}), do("merkle_root", args{"session_id": "late"})}},
		{"ROUND_NOT_FOUND", "consensus_gossip", do("consensus_finality", args{"round_id": strings.Repeat("0", 64)}), calls{do("consensus_gossip", args{}), do("consensus_finality", args{"round_id": round})}},
		{"ALREADY_VOTED", "consensus_finality", do("consensus_vote", args{"round_id": round, "voter_id": "v0", "choice": "accept"}), calls{do("consensus_finality", args{"round_id": round})}},
		{"INVALID_KEY", "hexadecimal", do("vrf_eval", args{"priv_key_hex": "x"}), calls{do("vrf_eval", args{"priv_key_hex": strings.Repeat("0", 64)})}},
		{"UNIQUE_VIOLATION", "Leave id out", do("thought_record", thought(args{"id": recorded})), calls{do("thought_record", thought(nil))}},
		{"TOOL_NOT_FOUND", "names in tools", do("router_call", args{"tool": "grahp"}), calls{do("router_call", args{"tool": "read"})}},
	}
	seen := map[string]bool{ // the advice is to wait or to tell a person; the tests of waiting repeat the call
		"HANDLER_ERROR": true, "FALLBACK_CHAIN_EXHAUSTED": true, "TOOL_NOT_ADMITTED": true, "TOOL_LOCK_TIMEOUT": true, "DB_BUSY": true, "DB_FULL": true,
	}
	for _, row := range rows {
		seen[row.code] = true
		a := row.fail(s).is(row.code)
		if said, _ := a.Canonical().Path("suggestion").Str(); !strings.Contains(said, row.says) {
			t.Errorf("%s says %q, want %q", row.code, said, row.says)
		}
		for i, call := range row.obey {
			if a = call(s); a.Code() != "" {
				t.Errorf("%s, %s, step %d: %s", row.code, row.says, i+1, a.envelope().Raw())
			}
		}
	}
	for c := range candor.Codes() {
		if c.Domain() == "dual" && !seen[c.Symbol()] {
			t.Errorf("the advice of %s is not tried", c.Symbol())
		}
	}
}
