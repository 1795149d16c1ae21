package dual_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/vrf"
)

func (s *server) propose(voters int, more args) string {
	s.T.Helper()
	in := args{"topic": "release", "proposal": "Release version 2.", "proposer_id": "v0"}
	var names []string
	for i := range voters {
		names = append(names, fmt.Sprintf("v%d", i))
	}
	in["voters"] = names
	for k, v := range more {
		in[k] = v
	}
	return s.call("consensus_propose", in).fine().data("round_id")
}

func (s *server) vote(round string, voter int, choice string) answer {
	s.T.Helper()
	return s.call("consensus_vote", args{"round_id": round, "voter_id": fmt.Sprintf("v%d", voter), "choice": choice})
}

// TestRoundIsDecidedByItsQuorum checks that a round is decided by the vote that makes the result certain, and that the
// decision never changes, even after a restart.
func TestRoundIsDecidedByItsQuorum(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start()
	round := s.propose(4, nil) // the quorum is 3
	for voter, want := range []string{"open", "open", "accepted"} {
		if got := s.vote(round, voter, "accept").fine().data("state"); got != want {
			t.Errorf("after %d votes: %s", voter+1, got)
		}
	}
	if a := s.vote(round, 3, "reject").fine(); a.data("state") != "accepted" || a.number("rejected") != 1 {
		t.Errorf("%s", a.value().Raw())
	}
	lost := s.propose(4, nil)
	s.vote(lost, 0, "reject").fine()
	if got := s.vote(lost, 1, "reject").fine().data("state"); got != "rejected" {
		t.Errorf("two of four reject, three are needed: %s", got)
	}
	before := string(s.call("consensus_finality", args{"round_id": round}).fine().value().Raw())
	s.End()
	s = p.start()
	if after := string(s.call("consensus_finality", args{"round_id": round}).fine().value().Raw()); after != before {
		t.Errorf("after a restart\n%s\n%s", after, before)
	}
	s.call("consensus_vote", args{"round_id": round, "voter_id": "stranger", "choice": "accept"}).isA("INVALID_PARAMS")
	for _, quorum := range []int{2, 5} {
		s.call("consensus_propose", args{"topic": "t", "proposal": "p", "proposer_id": "a", "voters": []string{"a", "b", "c", "d"}, "quorum": quorum}).isA("INVALID_PARAMS")
	}
}

// TestEquivocationIsRefused checks that the first vote counts, and that a second one that differs is recorded as
// evidence.
func TestEquivocationIsRefused(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	round := s.propose(3, nil)
	s.vote(round, 0, "accept").fine()
	same := s.vote(round, 0, "accept").isA("ALREADY_VOTED")
	if differs, _ := same.detail("equivocation").Bool(); differs {
		t.Errorf("%s", same.detail().Raw())
	}
	other := s.vote(round, 0, "reject").isA("ALREADY_VOTED")
	if differs, _ := other.detail("equivocation").Bool(); !differs || !other.detail("first").Is("accept") {
		t.Errorf("%s", other.detail().Raw())
	}
	a := s.call("consensus_finality", args{"round_id": round}).fine()
	if a.number("accepted") != 1 || a.number("rejected") != 0 || a.value("equivocations").Len() != 1 || a.data("equivocations", 0, "voter_id") != "v0" {
		t.Errorf("%s", a.value().Raw())
	}
	gates := s.call("reputation_check_gates", args{"agent_id": "v0"}).fine()
	if gates.truth("all_passed") || gates.number("passed") != 0 {
		t.Errorf("an equivocation closes the gates: %s", gates.value().Raw())
	}
}

// TestARepeatedEquivocationIsKeptOnce checks that a voter cannot fill the database or an answer with refused votes.
func TestARepeatedEquivocationIsKeptOnce(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	round := s.propose(3, nil)
	s.vote(round, 0, "accept").fine()
	for range 5 {
		s.vote(round, 0, "reject").isA("ALREADY_VOTED")
	}
	if n := s.call("consensus_finality", args{"round_id": round}).fine().value("equivocations").Len(); n != 1 {
		t.Errorf("%d equivocations are kept", n)
	}
	if n := s.call("reputation_history", args{"agent_id": "v0"}).fine().number("count"); n != 1 {
		t.Errorf("%d outcomes are kept", n)
	}
}

// TestOneOfManyVotesCounts votes concurrently for one voter through several servers.
func TestOneOfManyVotesCounts(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "--db-wait", "30s")
	servers := []*server{p.start(), p.start()}
	for range rounds(5, 100) {
		round := servers[0].propose(2, nil)
		var mu sync.Mutex
		counts := map[string]int{}
		var all sync.WaitGroup
		for i := range 6 {
			answer := servers[i%2].later("consensus_vote", args{"round_id": round, "voter_id": "v0", "choice": []string{"accept", "reject"}[i%2]})
			all.Go(func() {
				code := answer().code()
				mu.Lock()
				defer mu.Unlock()
				counts[code]++
			})
		}
		all.Wait()
		if counts[""] != 1 || counts["ALREADY_VOTED"] != 5 {
			t.Fatalf("%v", counts)
		}
	}
}

// TestGossipReturnsWhatTheCallerLacks checks that gossip returns only rounds that the caller does not know, or knows in
// another state.
func TestGossipReturnsWhatTheCallerLacks(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	first, second := s.propose(3, nil), s.propose(3, nil)
	s.vote(first, 0, "accept").fine()
	all := s.call("consensus_gossip", args{}).fine()
	if all.value("rounds").Len() != 2 || all.data("rounds", 0, "round_id") != first || all.data("rounds", 0, "votes", 0, "voter_id") != "v0" {
		t.Fatalf("%s", all.value().Raw())
	}
	var known []args
	for i := range 2 {
		known = append(known, args{"round_id": all.data("rounds", i, "round_id"), "digest": all.data("rounds", i, "digest")})
	}
	known = append(known, args{"round_id": strings.Repeat("f", 64), "digest": strings.Repeat("0", 64)})
	a := s.call("consensus_gossip", args{"known": known}).fine()
	if a.value("rounds").Len() != 0 || a.number("same") != 2 || a.data("unknown_here", 0) != strings.Repeat("f", 64) {
		t.Errorf("%s", a.value().Raw())
	}
	s.vote(second, 1, "reject").fine()
	a = s.call("consensus_gossip", args{"known": known}).fine()
	if a.value("rounds").Len() != 1 || a.data("rounds", 0, "round_id") != second {
		t.Errorf("%s", a.value().Raw())
	}
	page := s.call("consensus_gossip", args{"limit": 1}).fine()
	if next := s.call("consensus_gossip", args{"limit": 1, "after": page.number("next_after")}).fine(); next.data("rounds", 0, "round_id") != second {
		t.Errorf("%s", next.value().Raw())
	}
}

// TestGossipPagesAreBoundedInBytes checks that large rounds are returned on several pages, and none is lost.
func TestGossipPagesAreBoundedInBytes(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	want := map[string]bool{}
	for range 30 {
		want[s.propose(1, args{"proposal": strings.Repeat("\x01", 16<<10)})] = true // 6 bytes each in JSON
	}
	pages, after := 0, int64(0)
	for more := true; more; pages++ {
		a := s.call("consensus_gossip", args{"limit": 200, "after": after}).fine()
		if n := len(a.m.Bytes()); n > 4<<20 { // the text occurs twice
			t.Errorf("an answer of %d bytes", n)
		}
		for v := range a.value("rounds").Elements() {
			id, _ := v.Path("round_id").Str()
			delete(want, id)
		}
		after, more = a.number("next_after"), a.truth("more")
	}
	if len(want) > 0 || pages < 2 {
		t.Errorf("%d pages, %d rounds are not on them", pages, len(want))
	}
}

// TestReputationFollowsFromOutcomes checks that the actions of an agent change its score, its history and its gates.
func TestReputationFollowsFromOutcomes(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	score := func(agent string) string {
		return string(s.call("reputation_get", args{"agent_id": agent}).fine().value("score").Raw())
	}
	if got := score("agent-1"); got != "0.5" {
		t.Errorf("nothing is known, and the score is %s", got)
	}
	for range 3 {
		id := s.task(nil)
		s.think(id, nil).fine()
		s.advance(id, "DONE")
	}
	if got := score("agent-1"); got != "0.8" {
		t.Errorf("after three tasks: %s", got)
	}
	gates := s.call("reputation_check_gates", args{"agent_id": "agent-1"}).fine()
	if gates.number("passed") != 2 || gates.data("gates", 2, "lacks", 0) == "" {
		t.Errorf("%s", gates.value().Raw())
	}
	id := s.task(args{"agent_id": "quitter"})
	s.advance(id, "GATHER")
	s.call("task_update", args{"id": id, "status": "DONE"}).isB("ERR_INVALID_TRANSITION")
	s.call("task_update", args{"id": id, "status": "CANCELLED"}).fine()
	history := s.call("reputation_history", args{"agent_id": "quitter"}).fine()
	if history.number("count") != 2 || history.data("outcomes", 0, "kind") != "task_cancelled" || history.data("outcomes", 1, "kind") != "invalid_transition" {
		t.Errorf("%s", history.value().Raw())
	}
	board := s.call("reputation_leaderboard", args{}).fine()
	if board.data("agents", 0, "agent_id") != "agent-1" || board.data("agents", 1, "agent_id") != "quitter" || board.number("total") != 2 {
		t.Errorf("%s", board.value().Raw())
	}
}

// TestVRFOverTheWire runs an example of RFC 9381 and checks the proof as a third party does.
func TestVRFOverTheWire(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	const key = "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7"
	a := s.call("vrf_eval", args{"priv_key_hex": key, "input_hex": "af82"}).fine()
	if !strings.HasPrefix(a.data("output"), "121b7f9b9aaaa29099fc04a94ba52784") || a.data("public_key") != "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025" {
		t.Errorf("%s", a.value().Raw())
	}
	if beta, ok := vrf.Verify(a.data("public_key"), a.data("proof"), []byte{0xaf, 0x82}); !ok || beta != a.data("output") {
		t.Error("the proof does not verify")
	}
	if strings.Contains(string(a.m.Bytes()), key) {
		t.Error("the key is repeated")
	}
	bad := s.call("vrf_eval", args{"priv_key_hex": key + "00"}).isA("INVALID_KEY")
	if strings.Contains(string(bad.m.Bytes()), key) {
		t.Error("the key is repeated in the failure")
	}
	s.call("vrf_eval", args{"priv_key_hex": key, "input": "a", "input_hex": "00"}).isA("INVALID_PARAMS")
}
