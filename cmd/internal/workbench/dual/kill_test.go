package dual_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/testing/servertest"
)

// TestD16AKillLeavesNothingHalfDone kills servers at random moments while they finalise sessions, vote and update
// tasks. Afterwards every acknowledged change is present, and every interrupted change is complete or absent.
func TestD16AKillLeavesNothingHalfDone(t *testing.T) {
	t.Parallel()
	for part := range 3 { // each with a separate state
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			killServers(t, 2*part, servertest.Rounds(2, 70))
		})
	}
}

// killServers kills servers; first is the step of the first kill.
func killServers(t *testing.T, first, kills int) {
	t.Helper()
	p := newPlace(t)
	seen := map[string]int{}
	for kill := range kills {
		s := p.start()
		id := s.task(nil)
		session := fmt.Sprintf("s%d", kill)
		voters := []string{"a", "b", "c"}
		round := s.call("consensus_propose", args{"topic": "t", "proposal": "p", "proposer_id": "a", "voters": voters, "quorum": 2}).fine().data("round_id")
		s.call("audit_session_start", args{"session_id": session, "task_id": id}).fine()
		steps := []struct {
			tool string
			in   args
		}{
			{"thought_record", args{"task_id": id, "type": "plan", "agent_id": "a", "content": "c"}},
			{"task_update", args{"id": id, "status": "GATHER", "title": "changed"}},
			{"consensus_vote", args{"round_id": round, "voter_id": "a", "choice": "accept"}},
			{"thought_record", args{"task_id": id, "type": "plan", "agent_id": "a", "content": "d"}},
			{"consensus_vote", args{"round_id": round, "voter_id": "b", "choice": "accept"}},
			{"merkle_finalize", args{"session_id": session}},
		}
		rand.Shuffle(len(steps)-1, func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
		done := map[string]int{}
		fatal := (first + kill) % len(steps) // the step during which, or soon after which, the server is killed
		for i, step := range steps {
			if i == fatal {
				time.AfterFunc(time.Duration(rand.IntN(6000))*time.Microsecond, func() { _ = s.Cmd.Process.Kill() })
			}
			m, err := s.Try("tools/call", servertest.CallParams(t, step.tool, step.in))
			if err != nil {
				seen["cut off in "+step.tool]++
				break
			}
			if a := (answer{servertest.Answer{T: t, M: &m}}); a.Code() == "" {
				done[step.tool]++
			}
		}
		s.Kill()
		s = p.start()
		s.whole(id, session, round, done)
		s.End()
	}
	t.Log(seen)
	s := p.start()
	s.valid(true, args{})
}

// whole checks the state after one round of the test above.
func (s *server) whole(task, session, round string, done map[string]int) {
	s.T.Helper()
	got := s.call("task_get", args{"id": task}).fine()
	changed := got.data("status") == "GATHER"
	if changed != (got.data("title") == "changed") || changed != (got.number("version") == 2) || done["task_update"] == 1 && !changed {
		s.T.Errorf("the update is half done: %s", got.value().Raw())
	}
	standing := s.call("consensus_finality", args{"round_id": round}).fine()
	votes := standing.number("accepted")
	if votes < int64(done["consensus_vote"]) || votes > int64(done["consensus_vote"])+1 || (votes == 2) != (standing.data("state") == "accepted") ||
		(votes == 2) != standing.value("decided_at").Present() {
		s.T.Errorf("the votes are half done, %d were acknowledged: %s", done["consensus_vote"], standing.value().Raw())
	}
	records := s.call("thought_record_list", args{"task_id": task}).fine().number("count")
	if records < int64(done["thought_record"]) || records > int64(done["thought_record"])+1 {
		s.T.Errorf("%d records, %d were acknowledged", records, done["thought_record"])
	}
	root := s.call("merkle_root", args{"session_id": session})
	if root.Code() == "ERR_NOT_FINALIZED" {
		if done["merkle_finalize"] == 1 {
			s.T.Error("a session that was finalised is open")
		}
		if records == 0 {
			s.call("merkle_finalize", args{"session_id": session}).isB("ERR_NO_RECORDS")
			return
		}
		s.call("merkle_finalize", args{"session_id": session}).fine()
		root = s.call("merkle_root", args{"session_id": session})
	}
	root.fine()
	if root.number("record_count") != records || !root.value("ledger", "seq").Present() {
		s.T.Errorf("%d records: %s", records, root.value().Raw())
	}
	s.valid(true, args{})
}
