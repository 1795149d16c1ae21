package dual_test

import (
	"fmt"
	"strings"
	"testing"
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
	s.vote(round, 0, "reject").isA("ALREADY_VOTED") // kept once
	other := s.vote(round, 0, "reject").isA("ALREADY_VOTED")
	if differs, _ := other.detail("equivocation").Bool(); !differs || !other.detail("first").Is("accept") {
		t.Errorf("%s", other.detail().Raw())
	}
	a := s.call("consensus_finality", args{"round_id": round}).fine()
	if a.number("accepted") != 1 || a.number("rejected") != 0 || a.value("equivocations").Len() != 1 || a.data("equivocations", 0, "voter_id") != "v0" {
		t.Errorf("%s", a.value().Raw())
	}
	if n := s.call("reputation_history", args{"agent_id": "v0"}).fine().number("count"); n != 1 {
		t.Errorf("%d outcomes are kept", n)
	}
	gates := s.call("reputation_check_gates", args{"agent_id": "v0"}).fine()
	if gates.truth("all_passed") || gates.number("passed") != 0 {
		t.Errorf("an equivocation closes the gates: %s", gates.value().Raw())
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
	s.vote(first, 0, "reject").isA("ALREADY_VOTED") // the evidence that gossip is for
	a = s.call("consensus_gossip", args{"known": known}).fine()
	if a.value("rounds").Len() != 2 || a.value("rounds", 0, "equivocations").Len() != 1 || a.data("rounds", 1, "round_id") != second {
		t.Errorf("%s", a.value().Raw())
	}
	page := s.call("consensus_gossip", args{"limit": 1}).fine()
	if next := s.call("consensus_gossip", args{"limit": 1, "after": page.number("next_after")}).fine(); next.data("rounds", 0, "round_id") != second {
		t.Errorf("%s", next.value().Raw())
	}
}

// TestRoundsAmongOneselfWeighNothing decides rounds without another voter, and takes a task over in the call that ends it.
func TestRoundsAmongOneselfWeighNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start()
	alone, rejected := s.propose(1, nil), s.propose(2, nil)
	s.vote(alone, 0, "accept").fine()
	s.vote(alone, 0, "reject").isA("ALREADY_VOTED")
	if state := s.vote(rejected, 0, "reject").fine().data("state"); state != "rejected" {
		t.Errorf("the proposer decides it alone: %s", state)
	}
	s.vote(rejected, 1, "reject").fine()
	if n := s.call("reputation_leaderboard", args{}).fine().number("total"); n != 0 {
		t.Errorf("%d agents have outcomes", n)
	}
	task := s.task(args{"agent_id": "worker"})
	s.think(task, nil).fine()
	s.advance(task, "VERIFY")
	for _, status := range []string{"DONE", "CANCELLED"} {
		s.call("task_update", args{"id": task, "status": status, "agent_id": "thief"}).isB("ERR_VALIDATION")
	}
	s.call("task_update", args{"id": task, "status": "DONE", "agent_id": "worker"}).fine()
	p.sql("UPDATE rounds SET quorum = 1 WHERE id = ?", rejected)
	s.call("consensus_finality", args{"round_id": rejected}).isA("HANDLER_ERROR")
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

// vectors are examples 19 to 21 of RFC 9381, appendix B.4.
var vectors = []struct{ key, public, input, proof, output string }{
	{
		"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
		"d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
		"",
		"7d9c633ffeee27349264cf5c667579fc583b4bda63ab71d001f89c10003ab46f14adf9a3cd8b8412d9038531e865c341cafa73589b023d14311c331a9ad15ff2fb37831e00f0acaa6d73bc9997b06501",
		"9d574bf9b8302ec0fc1e21c3ec5368269527b87b462ce36dab2d14ccf80c53cccf6758f058c5b1c856b116388152bbe509ee3b9ecfe63d93c3b4346c1fbc6c54",
	},
	{
		"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
		"3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
		"72",
		"47b327393ff2dd81336f8a2ef10339112401253b3c714eeda879f12c509072ef055b48372bb82efbdce8e10c8cb9a2f9d60e93908f93df1623ad78a86a028d6bc064dbfc75a6a57379ef855dc6733801",
		"38561d6b77b71d30eb97a062168ae12b667ce5c28caccdf76bc88e093e4635987cd96814ce55b4689b3dd2947f80e59aac7b7675f8083865b46c89b2ce9cc735",
	},
	{
		"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
		"fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
		"af82",
		"926e895d308f5e328e7aa159c06eddbe56d06846abf5d98c2512235eaa57fdce35b46edfc655bc828d44ad09d1150f31374e7ef73027e14760d42e77341fe05467bb286cc2c9d7fde29120a0b2320d04",
		"121b7f9b9aaaa29099fc04a94ba52784d44eac976dd1a3cca458733be5cd090a7b5fbd148444f17f8daf1fb55cb04b1ae85a626e30a54b4b0f8abf4a43314a58",
	},
}

// TestVRFOverTheWire runs the examples of RFC 9381. Keys are not repeated.
func TestVRFOverTheWire(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	for i, v := range vectors {
		a := s.call("vrf_eval", args{"priv_key_hex": v.key, "input_hex": v.input}).fine()
		if a.data("public_key") != v.public || a.data("proof") != v.proof || a.data("output") != v.output || strings.Contains(string(a.M.Bytes()), v.key) {
			t.Errorf("example %d: %s", 19+i, a.value().Raw())
		}
	}
	key := vectors[2].key
	for _, bad := range []string{key + "00", key[2:], strings.Repeat("g", 64)} {
		if a := s.call("vrf_eval", args{"priv_key_hex": bad}).isA("INVALID_KEY"); strings.Contains(string(a.M.Bytes()), bad) {
			t.Error("the key is repeated in the failure")
		}
	}
	s.call("vrf_eval", args{"priv_key_hex": key, "input": "a", "input_hex": "00"}).isA("INVALID_PARAMS")
}
