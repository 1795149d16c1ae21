package dual

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/consensus"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/reputation"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/store"
	dualcode "github.com/candor-mcp/candor/codes/dual"
)

const roundSchema = `{"type":"string","pattern":"^[0-9a-f]{64}$","description":"The id that consensus_propose returned."}`

type proposeArgs struct {
	Topic    string   `json:"topic"`
	Proposal string   `json:"proposal"`
	Proposer string   `json:"proposer_id"`
	Voters   []string `json:"voters"`
	Quorum   int      `json:"quorum"`
}

func (s *System) consensusPropose() workbench.Tool {
	return workbench.Tool{
		Name: "consensus_propose", Title: "Propose a round of votes",
		About: "Begin a round: a fixed list of voters decides about a proposal. The quorum is more than two thirds of them if it is not given. The round_id is a hash of all of that.",
		Input: `{"topic":{"type":"string","minLength":1,"maxLength":200},
"proposal":{"type":"string","minLength":1,"maxLength":16384,"description":"What is to be accepted or rejected."},
"proposer_id":` + property(agentSchema, "Who proposes.") + `,
"voters":{"type":"array","minItems":1,"maxItems":100,"uniqueItems":true,"items":` + property(agentSchema, "A voter.") + `},
"quorum":{"type":"integer","minimum":1,"maximum":100,"description":"How many must accept: more than half of the voters, at most all."}}`,
		Required: []string{"topic", "proposal", "proposer_id", "voters"},
		Codes:    []candor.Code{dualcode.DBBusy, dualcode.DBFull},
		Run: handle(func(ctx context.Context, _ *workbench.Call, in proposeArgs) (any, error) {
			r := &consensus.Round{Topic: in.Topic, Proposal: in.Proposal, Proposer: in.Proposer, Voters: slices.Sorted(slices.Values(in.Voters)), Quorum: in.Quorum,
				Nonce: nonce(), CreatedAt: stampNow(s), State: consensus.Open, Votes: []consensus.Vote{}}
			if r.Quorum == 0 {
				r.Quorum = consensus.DefaultQuorum(len(r.Voters))
			}
			if err := consensus.CheckQuorum(r.Quorum, len(r.Voters)); err != nil {
				return nil, invalid("quorum", err.Error())
			}
			r.ID = r.Sum()
			err := s.store.Update(ctx, func(tx *store.Tx) error { return tx.InsertRound(r) })
			return r, err
		}),
	}
}

func nonce() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

type voteArgs struct {
	RoundID string           `json:"round_id"`
	Voter   string           `json:"voter_id"`
	Choice  consensus.Choice `json:"choice"`
}

func (s *System) consensusVote() workbench.Tool {
	return workbench.Tool{
		Name: "consensus_vote", Title: "Vote", About: "Vote in a round, once. A second vote is refused and the first one counts; one that differs from the first is recorded as an equivocation.",
		Input:    `{"round_id":` + roundSchema + `,"voter_id":` + property(agentSchema, "Who votes.") + `,"choice":{"type":"string","enum":["accept","reject"]}}`,
		Required: []string{"round_id", "voter_id", "choice"},
		Codes:    []candor.Code{dualcode.RoundNotFound, dualcode.AlreadyVoted, dualcode.DBBusy, dualcode.DBFull},
		Run:      handle(s.vote),
	}
}

func (s *System) vote(ctx context.Context, _ *workbench.Call, in voteArgs) (any, error) {
	var r *consensus.Round
	var refused *candor.Error
	err := s.store.Update(ctx, func(tx *store.Tx) (err error) {
		refused = nil
		if r, err = findRound(tx, in.RoundID); err != nil {
			return err
		}
		if !slices.Contains(r.Voters, in.Voter) {
			return invalid("voter_id", "is not a voter of this round")
		}
		if first, voted := r.Find(in.Voter); voted {
			refused, err = s.secondVote(tx, r, first, in.Choice)
			return err
		}
		v := consensus.Vote{Voter: in.Voter, Choice: in.Choice, CastAt: stampNow(s)}
		before := r.State
		r.Add(v)
		if err := tx.InsertVote(r, v); err != nil {
			return err
		}
		return countVotes(tx, r, before, v)
	})
	if err == nil && refused != nil {
		return nil, refused
	}
	if err != nil {
		return nil, err
	}
	return statusOf(r, nil), nil
}

// secondVote refuses a second vote. The first vote that differs is recorded and counts against the voter.
func (s *System) secondVote(tx *store.Tx, r *consensus.Round, first consensus.Vote, attempted consensus.Choice) (*candor.Error, error) {
	differs := first.Choice != attempted
	refused := failure(dualcode.AlreadyVoted, "", map[string]any{"first": first.Choice, "attempted": attempted, "equivocation": differs})
	if !differs {
		return refused, nil
	}
	at := stampNow(s)
	news, err := tx.InsertEquivocation(store.Equivocation{RoundID: r.ID, Voter: first.Voter, First: first.Choice, Attempted: attempted, At: at})
	if err != nil || !news {
		return refused, err
	}
	return refused, tx.InsertOutcome(first.Voter, reputation.Equivocation, r.ID, at)
}

// countVotes records the outcomes of votes: of all votes when the round is decided, and of each later vote.
func countVotes(tx *store.Tx, r *consensus.Round, before consensus.State, v consensus.Vote) error {
	if r.State == consensus.Open {
		return nil
	}
	votes := r.Votes
	if before != consensus.Open {
		votes = []consensus.Vote{v}
	}
	for _, cast := range votes {
		kind := reputation.VoteAgainst
		if (cast.Choice == consensus.Accept) == (r.State == consensus.Accepted) {
			kind = reputation.VoteWithDecision
		}
		if err := tx.InsertOutcome(cast.Voter, kind, r.ID, v.CastAt); err != nil {
			return err
		}
	}
	return nil
}

func findRound(tx *store.Tx, id string) (*consensus.Round, error) {
	r, err := tx.Round(id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, failure(dualcode.RoundNotFound, "", nil)
	}
	return r, err
}

// roundStatus is the current state of a round.
type roundStatus struct {
	*consensus.Round
	Final         bool                 `json:"final"`
	Accepted      int                  `json:"accepted"`
	Rejected      int                  `json:"rejected"`
	Missing       []string             `json:"missing"` // voters that have not voted
	Digest        string               `json:"digest"`
	Equivocations []store.Equivocation `json:"equivocations,omitempty"`
}

func statusOf(r *consensus.Round, equivocations []store.Equivocation) roundStatus {
	s := roundStatus{Round: r, Final: r.State != consensus.Open, Missing: []string{}, Digest: r.Digest(), Equivocations: equivocations}
	s.Accepted, s.Rejected = r.Count()
	for _, voter := range r.Voters {
		if _, voted := r.Find(voter); !voted {
			s.Missing = append(s.Missing, voter)
		}
	}
	return s
}

func (s *System) consensusFinality() workbench.Tool {
	return workbench.Tool{
		Name: "consensus_finality", Title: "Finality of a round", About: "Say whether a round is decided, and how. A decision never changes.",
		Input: `{"round_id":` + roundSchema + `}`, Required: []string{"round_id"}, ReadOnly: true, Idempotent: true,
		Codes: []candor.Code{dualcode.RoundNotFound, dualcode.DBBusy},
		Run: handle(func(ctx context.Context, _ *workbench.Call, in voteArgs) (any, error) {
			return store.Get(ctx, s.store, func(tx *store.Tx) (roundStatus, error) {
				r, err := findRound(tx, in.RoundID)
				if err != nil {
					return roundStatus{}, err
				}
				equivocations, err := tx.Equivocations(r.ID)
				return statusOf(r, equivocations), err
			})
		}),
	}
}

type gossipArgs struct {
	Known []struct {
		RoundID string `json:"round_id"`
		Digest  string `json:"digest"`
	} `json:"known"`
	After int64 `json:"after"`
	Limit int   `json:"limit"`
}

func (s *System) consensusGossip() workbench.Tool {
	return workbench.Tool{
		Name: "consensus_gossip", Title: "Exchange rounds",
		About: "Return the stored rounds with their votes that the caller does not know, or knows in another state. If more is true, call again with after set to next_after.",
		Input: `{"known":{"type":"array","maxItems":500,"items":{"type":"object","properties":{"round_id":` + roundSchema + `,"digest":{"type":"string","pattern":"^[0-9a-f]{64}$"}},
"required":["round_id","digest"],"additionalProperties":false},"description":"What the caller knows, with the digest of each round."},
"after":{"type":"integer","minimum":0,"description":"next_after of the answer before."},
"limit":` + limitSchema + `}`,
		ReadOnly: true, Idempotent: true, Codes: []candor.Code{dualcode.DBBusy},
		Run: handle(s.gossip),
	}
}

func (s *System) gossip(ctx context.Context, _ *workbench.Call, in gossipArgs) (any, error) {
	out := &gossiped{Rounds: []json.RawMessage{}, Unknown: []string{}, NextAfter: in.After}
	err := s.store.View(ctx, func(tx *store.Tx) error {
		known := map[string]string{}
		for _, k := range in.Known {
			known[k.RoundID] = k.Digest
			has, err := tx.HasRound(k.RoundID)
			if err != nil {
				return err
			}
			if !has {
				out.Unknown = append(out.Unknown, k.RoundID)
			}
		}
		limit := orDefault(in.Limit)
		ids, err := tx.RoundIDs(in.After, limit+1)
		if err != nil {
			return err
		}
		for i, id := range ids {
			if i == limit || out.size > pageBytes {
				out.More = true
				return nil
			}
			if err := out.add(tx, id, known[id.ID]); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

// gossiped is the result of consensus_gossip.
type gossiped struct {
	Rounds    []json.RawMessage `json:"rounds"`
	Same      int               `json:"same"`
	Unknown   []string          `json:"unknown_here"`
	More      bool              `json:"more"`
	NextAfter int64             `json:"next_after"`
	size      int               // size of Rounds in bytes
}

// add adds a round, unless digest is its current digest.
func (g *gossiped) add(tx *store.Tx, id store.NumberedRound, digest string) error {
	g.NextAfter = id.Number
	r, err := tx.Round(id.ID)
	if err != nil {
		return err
	}
	if digest == r.Digest() {
		g.Same++
		return nil
	}
	equivocations, err := tx.Equivocations(id.ID)
	if err != nil {
		return err
	}
	raw, err := encode(statusOf(r, equivocations))
	g.Rounds = append(g.Rounds, raw)
	g.size += len(raw)
	return err
}
