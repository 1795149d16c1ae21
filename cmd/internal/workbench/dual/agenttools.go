package dual

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/rules"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/store"
	dualcode "github.com/candor-mcp/candor/codes/dual"
)

var roundSchema = `{"type":"string","pattern":"^[0-9a-f]{64}$","examples":["` + strings.Repeat("0", 64) + `"],"description":"The id that consensus_propose returned."}`

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
		About: "Begin a round: a fixed list of voters decides about a proposal. The quorum is more than two thirds of them if it is not given. The round_id is a hash of all of that. Voters are names: nothing proves who votes.",
		Input: `{"topic":{"type":"string","minLength":1,"maxLength":200},
"proposal":{"type":"string","minLength":1,"maxLength":16384,"description":"What is to be accepted or rejected."},
"proposer_id":` + property(agentSchema, "Who proposes.") + `,
"voters":{"type":"array","minItems":1,"maxItems":100,"uniqueItems":true,"items":` + property(agentSchema, "A voter.") + `},
"quorum":{"type":"integer","minimum":1,"maximum":100,"description":"How many must accept: more than half of the voters, at most all."}}`,
		Required: []string{"topic", "proposal", "proposer_id", "voters"},
		Codes:    []candor.Code{dualcode.DBBusy, dualcode.DBFull},
		Run: handle(func(ctx context.Context, _ *workbench.Call, in proposeArgs) (any, error) {
			r := &rules.Round{Topic: in.Topic, Proposal: in.Proposal, Proposer: in.Proposer, Voters: slices.Sorted(slices.Values(in.Voters)), Quorum: cmp.Or(in.Quorum, rules.DefaultQuorum(len(in.Voters))),
				Nonce: rand.Text(), CreatedAt: s.stamp(), State: rules.Open, Votes: []rules.Vote{}}
			low, high := rules.Quorums(len(r.Voters))
			switch {
			case r.Quorum < low || r.Quorum > high:
				return nil, invalid("quorum", fmt.Sprintf("with %d voters the quorum must be from %d to %d", high, low, high), map[string]any{"minimum": low, "maximum": high})
			case rules.Blank(in.Topic):
				return nil, invalid("topic", "must not be blank", notBlank)
			case rules.Blank(in.Proposal):
				return nil, invalid("proposal", "must not be blank", notBlank)
			}
			r.ID = r.Sum()
			err := s.store.Update(ctx, func(tx *store.Tx) error { return tx.InsertRound(r) })
			return r, err
		}),
	}
}

type voteArgs struct {
	RoundID string       `json:"round_id"`
	Voter   string       `json:"voter_id"`
	Choice  rules.Choice `json:"choice"`
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
	var r *rules.Round
	var refused *candor.Error
	err := s.store.Update(ctx, func(tx *store.Tx) (err error) {
		refused = nil
		if r, err = findRound(tx, in.RoundID); err != nil {
			return err
		}
		if !slices.Contains(r.Voters, in.Voter) {
			return invalid("voter_id", "is not a voter of this round", map[string]any{"enum": r.Voters})
		}
		if first, voted := r.Find(in.Voter); voted {
			refused, err = s.secondVote(tx, r, first, in.Choice)
			return err
		}
		v := rules.Vote{Voter: in.Voter, Choice: in.Choice, CastAt: s.stamp()}
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
	return statusOf(r), nil
}

// secondVote refuses a second vote. The first vote that differs is recorded and counts against the voter.
func (s *System) secondVote(tx *store.Tx, r *rules.Round, first rules.Vote, attempted rules.Choice) (*candor.Error, error) {
	differs := first.Choice != attempted
	refused := failure(dualcode.AlreadyVoted, "", map[string]any{"first": first.Choice, "attempted": attempted, "equivocation": differs})
	if !differs {
		return refused, nil
	}
	at := s.stamp()
	news, err := tx.InsertEquivocation(rules.SecondVote{RoundID: r.ID, Voter: first.Voter, First: first.Choice, Attempted: attempted, At: at})
	if err != nil || !news || len(r.Voters) == 1 {
		return refused, err
	}
	return refused, tx.InsertOutcome(first.Voter, rules.Equivocation, r.ID, at)
}

// countVotes records the outcomes of votes: of all votes when the round is decided, and of each later vote.
func countVotes(tx *store.Tx, r *rules.Round, before rules.State, v rules.Vote) error {
	if r.State == rules.Open || !r.Weighs() {
		return nil
	}
	votes := r.Votes
	if before != rules.Open {
		votes = []rules.Vote{v}
	}
	for _, cast := range votes {
		kind := rules.VoteAgainst
		if (cast.Choice == rules.Accept) == (r.State == rules.Accepted) {
			kind = rules.VoteWithDecision
		}
		if err := tx.InsertOutcome(cast.Voter, kind, r.ID, v.CastAt); err != nil {
			return err
		}
	}
	return nil
}

func findRound(tx *store.Tx, id string) (*rules.Round, error) {
	r, err := tx.Round(id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, failure(dualcode.RoundNotFound, "", nil)
	case err == nil && r.Altered():
		return nil, failure(dualcode.HandlerError, "Round "+id+" was changed in the database after it was proposed, or one of its votes was.", nil)
	}
	return r, err
}

// roundStatus is the current state of a round.
type roundStatus struct {
	*rules.Round
	Final    bool     `json:"final"`
	Accepted int      `json:"accepted"`
	Rejected int      `json:"rejected"`
	Missing  []string `json:"missing"` // voters that have not voted
	Digest   string   `json:"digest"`
}

func statusOf(r *rules.Round) roundStatus {
	s := roundStatus{Round: r, Final: r.State != rules.Open, Missing: []string{}, Digest: r.Digest()}
	s.Accepted, s.Rejected = r.Count()
	for _, voter := range r.Voters {
		if _, voted := r.Find(voter); !voted {
			s.Missing = append(s.Missing, voter)
		}
	}
	return s
}

func (s *System) consensusFinality() workbench.Tool {
	return query(s, workbench.Tool{
		Name: "consensus_finality", Title: "Finality of a round", About: "Say whether a round is decided, and how. A decision never changes.",
		Input: `{"round_id":` + roundSchema + `}`, Required: []string{"round_id"}, Codes: []candor.Code{dualcode.RoundNotFound},
	}, func(tx *store.Tx, in voteArgs) (any, error) {
		r, err := findRound(tx, in.RoundID)
		if err != nil {
			return nil, err
		}
		return statusOf(r), nil
	})
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
	return query(s, workbench.Tool{
		Name: "consensus_gossip", Title: "Exchange rounds",
		About: "Return the stored rounds with their votes that the caller does not know, or knows in another state. If more is true, call again with after set to next_after.",
		Input: `{"known":{"type":"array","maxItems":500,"items":{"type":"object","properties":{"round_id":` + roundSchema + `,"digest":{"type":"string","pattern":"^[0-9a-f]{64}$"}},
"required":["round_id","digest"],"additionalProperties":false},"description":"What the caller knows, with the digest of each round."},
"after":` + property(numberSchema, "next_after of the answer before.") + `,
"limit":` + limitSchema + `}`,
	}, gossip)
}

func gossip(tx *store.Tx, in gossipArgs) (any, error) {
	out := &gossiped{Rounds: []json.RawMessage{}, Unknown: []string{}, NextAfter: in.After}
	known := map[string]string{}
	for _, k := range in.Known {
		known[k.RoundID] = k.Digest
		if _, err := tx.Round(k.RoundID); errors.Is(err, store.ErrNotFound) {
			out.Unknown = append(out.Unknown, k.RoundID)
		} else if err != nil {
			return nil, err
		}
	}
	limit := cmp.Or(in.Limit, defaultEntries)
	ids, err := tx.RoundIDs(in.After, limit+1)
	for i, id := range ids {
		if i == limit || out.size > pageBytes {
			out.More = true
			break
		}
		if err := out.add(tx, id, known[id.ID]); err != nil {
			return nil, err
		}
	}
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
	r, err := findRound(tx, id.ID)
	if err != nil {
		return err
	}
	if digest == r.Digest() {
		g.Same++
		return nil
	}
	raw, err := encode(statusOf(r))
	g.Rounds = append(g.Rounds, raw)
	g.size += len(raw)
	return err
}

type agentArgs struct {
	AgentID string `json:"agent_id"`
	Gate    string `json:"gate"`
	Before  int64  `json:"before"`
	Limit   int    `json:"limit"`
}

// scoreOf computes the score of an agent from its recorded outcomes.
func scoreOf(tx *store.Tx, agent string) (rules.Score, error) {
	counts, err := tx.OutcomeCounts(agent)
	return rules.ScoreOf(agent, counts[agent]), err
}

func (s *System) reputationGet() workbench.Tool {
	return query(s, workbench.Tool{
		Name: "reputation_get", Title: "Reputation of an agent",
		About: "Compute how far an agent can be relied on from its recorded outcomes: tasks done and cancelled, votes, refusals. 0.5 means that nothing is known. Ids are names: nothing proves who acts under one.",
		Input: `{"agent_id":` + property(agentSchema, "The agent.") + `}`, Required: []string{"agent_id"},
	}, func(tx *store.Tx, in agentArgs) (any, error) { return scoreOf(tx, in.AgentID) })
}

func (s *System) reputationHistory() workbench.Tool {
	return query(s, workbench.Tool{
		Name: "reputation_history", Title: "Outcomes of an agent",
		About:    "List the outcomes that the reputation of an agent follows from, the newest first. If more is true, call again with before set to the last number.",
		Input:    `{"agent_id":` + property(agentSchema, "The agent.") + `,"before":` + property(numberSchema, "Only outcomes with a smaller number.") + `,"limit":` + limitSchema + `}`,
		Required: []string{"agent_id"},
	}, func(tx *store.Tx, in agentArgs) (any, error) {
		limit := cmp.Or(in.Limit, defaultEntries)
		all, err := tx.Outcomes(in.AgentID, in.Before, limit+1)
		shown := all[:min(limit, len(all))]
		return map[string]any{"agent_id": in.AgentID, "outcomes": shown, "count": len(shown), "more": len(all) > limit}, err
	})
}

func (s *System) reputationLeaderboard() workbench.Tool {
	return query(s, workbench.Tool{
		Name: "reputation_leaderboard", Title: "Agents by reputation", About: "List the agents with recorded outcomes, the best score first.",
		Input: `{"limit":` + limitSchema + `}`,
	}, func(tx *store.Tx, in agentArgs) (any, error) {
		all := []rules.Score{}
		counts, err := tx.OutcomeCounts("")
		for agent, kinds := range counts {
			all = append(all, rules.ScoreOf(agent, kinds))
		}
		slices.SortFunc(all, func(a, b rules.Score) int {
			return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(b.Outcomes, a.Outcomes), cmp.Compare(a.AgentID, b.AgentID))
		})
		return map[string]any{"agents": all[:min(len(all), cmp.Or(in.Limit, defaultEntries))], "total": len(all)}, err
	})
}

func (s *System) reputationCheckGates() workbench.Tool {
	var names []string
	for _, g := range rules.Gates {
		names = append(names, strconv.Quote(g.Name))
	}
	return query(s, workbench.Tool{
		Name: "reputation_check_gates", Title: "Gates of an agent", About: "Say which gates the reputation of an agent passes, and what is missing at the others.",
		Input:    `{"agent_id":` + property(agentSchema, "The agent.") + `,"gate":{"type":"string","enum":[` + strings.Join(names, ",") + `],"description":"Only this gate."}}`,
		Required: []string{"agent_id"},
	}, func(tx *store.Tx, in agentArgs) (any, error) {
		score, err := scoreOf(tx, in.AgentID)
		all, passed := []rules.GateResult{}, 0
		for _, g := range rules.Gates {
			if in.Gate != "" && in.Gate != g.Name {
				continue
			}
			result := score.Check(g)
			if result.Passed {
				passed++
			}
			all = append(all, result)
		}
		return map[string]any{"agent_id": in.AgentID, "score": score.Value, "outcomes": score.Outcomes, "gates": all, "passed": passed, "all_passed": passed == len(all)}, err
	})
}
