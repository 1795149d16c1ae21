package rules

import (
	"slices"
	"strings"
)

// Choice is the choice of a voter.
type Choice string

// The choices.
const (
	Accept Choice = "accept"
	Reject Choice = "reject"
)

// State is the state of a round.
type State string

// The states. The last two are final.
const (
	Open     State = "open"
	Accepted State = "accepted"
	Rejected State = "rejected"
)

// Vote is one voter's choice.
type Vote struct {
	Voter  string `json:"voter_id"`
	Choice Choice `json:"choice"`
	CastAt string `json:"cast_at"`
}

// Round is a proposal about which a fixed list of voters decides by a quorum. It is decided once: accepted when as many
// voters as the quorum accept, rejected when so many reject that the quorum cannot be reached any more. Later votes are
// recorded but do not change the decision.
type Round struct {
	ID        string   `json:"round_id"`
	Topic     string   `json:"topic"`
	Proposal  string   `json:"proposal"`
	Proposer  string   `json:"proposer_id"`
	Voters    []string `json:"voters"` // sorted
	Quorum    int      `json:"quorum"`
	Nonce     string   `json:"nonce"`
	CreatedAt string   `json:"created_at"`
	State     State    `json:"state"`
	DecidedAt string   `json:"decided_at,omitempty"`
	Votes     []Vote   `json:"votes"` // sorted by voter

	Equivocations []SecondVote `json:"equivocations,omitempty"` // sorted by voter
}

// SecondVote is an equivocation: a refused second vote of a voter that differs from the first.
type SecondVote struct {
	RoundID   string `json:"round_id"`
	Voter     string `json:"voter_id"`
	First     Choice `json:"first"`
	Attempted Choice `json:"attempted"`
	At        string `json:"at"`
}

// DefaultQuorum is more than two thirds of the voters.
func DefaultQuorum(voters int) int { return voters*2/3 + 1 }

// Quorums returns the least and the largest quorum: a majority and all of the voters. With less than a majority, a proposal and its opposite
// could both be accepted.
func Quorums(voters int) (low, high int) { return voters/2 + 1, voters }

// Sum returns the id that the round must have: a hash of everything that was fixed when it was proposed.
func (r *Round) Sum() string {
	voters := make([]any, len(r.Voters))
	for i, v := range r.Voters {
		voters[i] = v
	}
	return Sum(map[string]any{"topic": r.Topic, "proposal": r.Proposal, "proposer_id": r.Proposer, "voters": voters,
		"quorum": Number(int64(r.Quorum)), "nonce": r.Nonce, "created_at": r.CreatedAt})
}

// Digest returns the hash of the round, its votes and its equivocations, for comparing the knowledge of two parties.
func (r *Round) Digest() string {
	votes, equivocations := make([]any, len(r.Votes)), make([]any, len(r.Equivocations))
	for i, v := range r.Votes {
		votes[i] = []any{v.Voter, string(v.Choice), v.CastAt}
	}
	for i, e := range r.Equivocations {
		equivocations[i] = []any{e.Voter, string(e.First), string(e.Attempted), e.At}
	}
	return Sum(map[string]any{"round_id": r.ID, "votes": votes, "equivocations": equivocations})
}

// Altered reports whether the round is not the one that was proposed, or its state does not follow from its votes.
func (r *Round) Altered() bool {
	again := Round{Voters: r.Voters, Quorum: r.Quorum, State: Open}
	for _, v := range slices.SortedStableFunc(slices.Values(r.Votes), func(a, b Vote) int { return strings.Compare(a.CastAt, b.CastAt) }) {
		again.Add(v)
	}
	return r.Sum() != r.ID || again.State != r.State || again.DecidedAt != r.DecidedAt
}

// Weighs reports whether the votes of a decided round count for the reputation of its voters. They do not if its proposer decided it alone, or
// if it has one voter: a caller could earn a reputation with such rounds.
func (r *Round) Weighs() bool {
	return len(r.Voters) > 1 && slices.ContainsFunc(r.Votes, func(v Vote) bool { return v.Voter != r.Proposer && v.CastAt <= r.DecidedAt })
}

// Count returns how many voters have accepted and rejected.
func (r *Round) Count() (accepted, rejected int) {
	for _, v := range r.Votes {
		if v.Choice == Accept {
			accepted++
		}
	}
	return accepted, len(r.Votes) - accepted
}

// Add inserts the vote of a voter that has not voted, in order, and updates the state.
func (r *Round) Add(v Vote) {
	at, _ := slices.BinarySearchFunc(r.Votes, v, func(a, b Vote) int { return strings.Compare(a.Voter, b.Voter) })
	r.Votes = slices.Insert(r.Votes, at, v)
	if r.State != Open {
		return
	}
	switch accepted, rejected := r.Count(); {
	case accepted >= r.Quorum:
		r.State, r.DecidedAt = Accepted, v.CastAt
	case rejected > len(r.Voters)-r.Quorum:
		r.State, r.DecidedAt = Rejected, v.CastAt
	}
}

// Find returns the vote of a voter.
func (r *Round) Find(voter string) (Vote, bool) {
	i := slices.IndexFunc(r.Votes, func(v Vote) bool { return v.Voter == voter })
	if i < 0 {
		return Vote{}, false
	}
	return r.Votes[i], true
}
