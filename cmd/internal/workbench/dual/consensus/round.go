// Package consensus has the rules of rounds of votes: a fixed list of voters decides about a proposal by a quorum. It
// does no I/O.
//
// A round is decided once: accepted when as many voters as the quorum accept, rejected when so many reject that the
// quorum cannot be reached any more. Later votes are recorded but do not change the decision.
package consensus

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/candor-mcp/candor/cmd/internal/jsonvalue"
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

// Round is a proposal and its votes.
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
}

// DefaultQuorum is more than two thirds of the voters.
func DefaultQuorum(voters int) int { return voters*2/3 + 1 }

// MinQuorum is more than half of the voters: with less, a proposal and its opposite could both be accepted.
func MinQuorum(voters int) int { return voters/2 + 1 }

// CheckQuorum returns an error if a quorum is not between a majority and all of the voters.
func CheckQuorum(quorum, voters int) error {
	if low := MinQuorum(voters); quorum < low || quorum > voters {
		return fmt.Errorf("with %d voters the quorum must be from %d to %d", voters, low, voters)
	}
	return nil
}

// Sum returns the id that the round must have: SHA-256, in hex, of the canonical JSON of everything that was fixed when it was proposed.
func (r *Round) Sum() string {
	voters := make([]any, len(r.Voters))
	for i, v := range r.Voters {
		voters[i] = v
	}
	return digest(map[string]any{"topic": r.Topic, "proposal": r.Proposal, "proposer_id": r.Proposer, "voters": voters, "quorum": float64(r.Quorum),
		"nonce": r.Nonce, "created_at": r.CreatedAt})
}

// Digest returns the hash of the round and its votes, for comparing the knowledge of two parties.
func (r *Round) Digest() string {
	votes := make([]any, len(r.Votes))
	for i, v := range r.Votes {
		votes[i] = []any{v.Voter, string(v.Choice), v.CastAt}
	}
	return digest(map[string]any{"round_id": r.ID, "votes": votes})
}

func digest(v any) string {
	text, err := jsonvalue.Append(nil, v)
	if err != nil {
		return "" // texts and numbers can be encoded
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Count returns how many voters have accepted and rejected.
func (r *Round) Count() (accepted, rejected int) {
	for _, v := range r.Votes {
		if v.Choice == Accept {
			accepted++
		} else {
			rejected++
		}
	}
	return accepted, rejected
}

// Decide returns the state that follows from the votes. A final state does not change.
func (r *Round) Decide() State {
	if r.State == Accepted || r.State == Rejected {
		return r.State
	}
	accepted, rejected := r.Count()
	switch {
	case accepted >= r.Quorum:
		return Accepted
	case rejected > len(r.Voters)-r.Quorum:
		return Rejected
	default:
		return Open
	}
}

// Add inserts the vote of a voter that has not voted, in order, and updates the state.
func (r *Round) Add(v Vote) {
	at, _ := slices.BinarySearchFunc(r.Votes, v.Voter, func(a Vote, voter string) int {
		switch {
		case a.Voter < voter:
			return -1
		case a.Voter > voter:
			return 1
		}
		return 0
	})
	r.Votes = slices.Insert(r.Votes, at, v)
	if next := r.Decide(); next != r.State {
		r.State, r.DecidedAt = next, v.CastAt
	}
}

// Find returns the vote of a voter.
func (r *Round) Find(voter string) (Vote, bool) {
	for _, v := range r.Votes {
		if v.Voter == voter {
			return v, true
		}
	}
	return Vote{}, false
}
