// Package reputation computes the reliability of an agent from its recorded outcomes. It does no I/O and has no state:
// the same outcomes always give the same score.
package reputation

import (
	"math"
	"slices"
)

// Kind is the kind of an outcome.
type Kind string

// The kinds of outcomes.
const (
	TaskDone          Kind = "task_done"          // a task of the agent became DONE
	TaskCancelled     Kind = "task_cancelled"     // a task of the agent was cancelled after work on it had begun
	WritebackMissing  Kind = "writeback_missing"  // the agent tried to set a task to DONE without a thought record
	VoteWithDecision  Kind = "vote_with_decision" // a vote that agrees with the round's decision
	VoteAgainst       Kind = "vote_against"       // a vote that disagrees with the decision
	Equivocation      Kind = "equivocation"       // a second, different vote in a round
	InvalidTransition Kind = "invalid_transition" // a change of status that the state machine does not allow
)

// weights has the weight of each outcome, for or against the agent.
var weights = map[Kind]struct{ good, bad float64 }{
	TaskDone: {good: 1}, TaskCancelled: {bad: 0.5}, WritebackMissing: {bad: 0.25}, VoteWithDecision: {good: 0.25}, VoteAgainst: {bad: 0.1},
	Equivocation: {bad: 5}, InvalidTransition: {bad: 0.1},
}

// Kinds returns all kinds, sorted.
func Kinds() []Kind {
	var all []Kind
	for k := range weights {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}

// Weight returns the weight of a kind: positive for the agent, negative against it.
func (k Kind) Weight() float64 { return weights[k].good - weights[k].bad }

// Score is computed from a set of outcomes.
type Score struct {
	AgentID  string       `json:"agent_id"`
	Value    float64      `json:"score"` // from 0 to 1; 0.5 without outcomes
	Good     float64      `json:"good"`  // sum of the weights for the agent
	Bad      float64      `json:"bad"`   // sum of the weights against it
	Outcomes int          `json:"outcomes"`
	ByKind   map[Kind]int `json:"by_kind"`
	Gates    []GateResult `json:"gates,omitempty"`
}

// Of computes the score from the number of outcomes of each kind: (good+1)/(good+bad+2), the mean of a beta
// distribution. An agent with few outcomes has a score near 0.5.
func Of(agent string, counts map[Kind]int) Score {
	s := Score{AgentID: agent, ByKind: map[Kind]int{}}
	for _, k := range Kinds() { // in a fixed order, so that rounding is reproducible
		n := counts[k]
		if n == 0 {
			continue
		}
		s.ByKind[k] = n
		s.Outcomes += n
		s.Good += float64(n) * weights[k].good
		s.Bad += float64(n) * weights[k].bad
	}
	s.Value = round((s.Good + 1) / (s.Good + s.Bad + 2))
	s.Good, s.Bad = round(s.Good), round(s.Bad)
	return s
}

func round(v float64) float64 { return math.Round(v*10000) / 10000 }

// Gate is a requirement on the score of an agent.
type Gate struct {
	Name     string  `json:"gate"`
	Score    float64 `json:"min_score"`
	Outcomes int     `json:"min_outcomes"`
	Spotless bool    `json:"no_equivocation"`
}

// Gates returns the gates, lowest first. The caller owns the slice.
func Gates() []Gate {
	return []Gate{
		{Name: "contribute", Score: 0.3},
		{Name: "review", Score: 0.6, Outcomes: 3},
		{Name: "arbitrate", Score: 0.8, Outcomes: 10, Spotless: true},
	}
}

// GateResult is the result of checking an agent against a gate.
type GateResult struct {
	Gate
	Passed bool     `json:"passed"`
	Lacks  []string `json:"lacks,omitempty"` // missing requirements
}

// Check checks the score against a gate.
func (s *Score) Check(g Gate) GateResult {
	standing := GateResult{Gate: g}
	if s.Value < g.Score {
		standing.Lacks = append(standing.Lacks, "score")
	}
	if s.Outcomes < g.Outcomes {
		standing.Lacks = append(standing.Lacks, "outcomes")
	}
	if g.Spotless && s.ByKind[Equivocation] > 0 {
		standing.Lacks = append(standing.Lacks, "no_equivocation")
	}
	standing.Passed = len(standing.Lacks) == 0
	return standing
}
