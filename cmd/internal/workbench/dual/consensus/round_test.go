package consensus

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func round(voters, quorum int) *Round {
	r := &Round{Quorum: quorum, State: Open}
	for i := range voters {
		r.Voters = append(r.Voters, fmt.Sprintf("v%03d", i))
	}
	return r
}

// TestFinalityNeverChanges casts votes in random orders and checks that a decision follows from the votes, is made as
// early as possible, and never changes.
func TestFinalityNeverChanges(t *testing.T) {
	for range 2000 {
		voters := 1 + rand.IntN(9)
		quorum := MinQuorum(voters) + rand.IntN(voters-MinQuorum(voters)+1)
		r := round(voters, quorum)
		accepted, rejected := 0, 0
		decided := Open
		for _, i := range rand.Perm(voters) {
			choice := Accept
			if rand.IntN(2) == 0 {
				choice = Reject
				rejected++
			} else {
				accepted++
			}
			r.Add(Vote{Voter: r.Voters[i], Choice: choice, CastAt: fmt.Sprint(i)})
			want := decided
			if want == Open && accepted >= quorum {
				want = Accepted
			} else if want == Open && accepted+voters-accepted-rejected < quorum {
				want = Rejected
			}
			if r.State != want {
				t.Fatalf("%d voters, quorum %d, %d accepted, %d rejected: %s, want %s", voters, quorum, accepted, rejected, r.State, want)
			}
			decided = r.State
		}
		if decided == Open {
			t.Fatalf("%d voters, quorum %d: all have voted, and nothing is decided", voters, quorum)
		}
		for i := 1; i < len(r.Votes); i++ {
			if r.Votes[i-1].Voter >= r.Votes[i].Voter {
				t.Fatal("the votes are not sorted")
			}
		}
	}
}

func TestQuorumIsAMajority(t *testing.T) {
	for voters := 1; voters <= 100; voters++ {
		if err := CheckQuorum(DefaultQuorum(voters), voters); err != nil {
			t.Error(err)
		}
		for _, bad := range []int{0, MinQuorum(voters) - 1, voters + 1} {
			if CheckQuorum(bad, voters) == nil {
				t.Errorf("%d of %d is accepted", bad, voters)
			}
		}
	}
}

func TestSumCoversEverything(t *testing.T) {
	base := Round{Topic: "t", Proposal: "p", Proposer: "a", Voters: []string{"a", "b"}, Quorum: 2, Nonce: "n", CreatedAt: "c"}
	seen := map[string]bool{base.Sum(): true}
	for _, change := range []func(*Round){
		func(r *Round) { r.Topic = "x" }, func(r *Round) { r.Proposal = "x" }, func(r *Round) { r.Proposer = "x" },
		func(r *Round) { r.Voters = []string{"a", "x"} }, func(r *Round) { r.Quorum = 1 }, func(r *Round) { r.Nonce = "x" },
		func(r *Round) { r.CreatedAt = "x" },
	} {
		r := base
		change(&r)
		if seen[r.Sum()] {
			t.Errorf("%+v has a hash that another one has", r)
		}
		seen[r.Sum()] = true
	}
}
