package rules

import (
	"maps"
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

// Weights has the weight of each outcome: positive for the agent, negative against it.
var Weights = map[Kind]float64{
	TaskDone: 1, TaskCancelled: -0.5, WritebackMissing: -0.25, VoteWithDecision: 0.25, VoteAgainst: -0.1,
	Equivocation: -5, InvalidTransition: -0.1,
}

// Score is the reliability of an agent, computed from its recorded outcomes.
type Score struct {
	AgentID  string       `json:"agent_id"`
	Value    float64      `json:"score"` // from 0 to 1; 0.5 without outcomes
	Good     float64      `json:"good"`  // sum of the weights for the agent
	Bad      float64      `json:"bad"`   // sum of the weights against it
	Outcomes int          `json:"outcomes"`
	ByKind   map[Kind]int `json:"by_kind"`
}

// ScoreOf computes the score from the number of outcomes of each kind: (good+1)/(good+bad+2), the mean of a beta
// distribution. An agent with few outcomes has a score near 0.5.
func ScoreOf(agent string, counts map[Kind]int) Score {
	s := Score{AgentID: agent, ByKind: map[Kind]int{}}
	for _, k := range slices.Sorted(maps.Keys(counts)) { // in a fixed order, so that rounding is reproducible
		n := counts[k]
		s.ByKind[k] = n
		s.Outcomes += n
		s.Good += float64(n) * max(Weights[k], 0)
		s.Bad += float64(n) * max(-Weights[k], 0)
	}
	s.Value = Round4((s.Good + 1) / (s.Good + s.Bad + 2))
	s.Good, s.Bad = Round4(s.Good), Round4(s.Bad)
	return s
}

// Round4 rounds to four decimal places.
func Round4(v float64) float64 { return math.Round(v*10000) / 10000 }

// Gate is a requirement on the score of an agent.
type Gate struct {
	Name     string  `json:"gate"`
	Score    float64 `json:"min_score"`
	Outcomes int     `json:"min_outcomes"`
	Spotless bool    `json:"no_equivocation"`
}

// Gates has the gates, lowest first.
var Gates = []Gate{
	{Name: "contribute", Score: 0.3},
	{Name: "review", Score: 0.6, Outcomes: 3},
	{Name: "arbitrate", Score: 0.8, Outcomes: 10, Spotless: true},
}

// GateResult is the result of checking an agent against a gate.
type GateResult struct {
	Gate
	Passed bool     `json:"passed"`
	Lacks  []string `json:"lacks,omitempty"` // missing requirements
}

// Check checks the score against a gate.
func (s *Score) Check(g Gate) GateResult {
	result := GateResult{Gate: g}
	if s.Value < g.Score {
		result.Lacks = append(result.Lacks, "score")
	}
	if s.Outcomes < g.Outcomes {
		result.Lacks = append(result.Lacks, "outcomes")
	}
	if g.Spotless && s.ByKind[Equivocation] > 0 {
		result.Lacks = append(result.Lacks, "no_equivocation")
	}
	result.Passed = len(result.Lacks) == 0
	return result
}
