package dual

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/reputation"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/store"
	dualcode "github.com/candor-mcp/candor/codes/dual"
)

type agentArgs struct {
	AgentID string `json:"agent_id"`
	Gate    string `json:"gate"`
	Before  int64  `json:"before"`
	Limit   int    `json:"limit"`
}

// scoreOf computes the score of an agent from its recorded outcomes.
func (s *System) scoreOf(ctx context.Context, agent string) (reputation.Score, error) {
	return store.Get(ctx, s.store, func(tx *store.Tx) (reputation.Score, error) {
		counts, err := tx.OutcomeCounts(agent)
		return reputation.Of(agent, counts[agent]), err
	})
}

func (s *System) reputationGet() workbench.Tool {
	return workbench.Tool{
		Name: "reputation_get", Title: "Reputation of an agent",
		About: "Compute how far an agent can be relied on from its recorded outcomes: tasks done and cancelled, votes, refusals. 0.5 means that nothing is known.",
		Input: `{"agent_id":` + property(agentSchema, "The agent.") + `}`, Required: []string{"agent_id"},
		ReadOnly: true, Idempotent: true, Codes: []candor.Code{dualcode.DBBusy},
		Run: handle(func(ctx context.Context, _ *workbench.Call, in agentArgs) (any, error) {
			return s.scoreOf(ctx, in.AgentID)
		}),
	}
}

func (s *System) reputationHistory() workbench.Tool {
	return workbench.Tool{
		Name: "reputation_history", Title: "Outcomes of an agent",
		About:    "List the outcomes that the reputation of an agent follows from, the newest first. If more is true, call again with before set to the last number.",
		Input:    `{"agent_id":` + property(agentSchema, "The agent.") + `,"before":{"type":"integer","minimum":1,"description":"Only outcomes with a smaller number."},"limit":` + limitSchema + `}`,
		Required: []string{"agent_id"}, ReadOnly: true, Idempotent: true, Codes: []candor.Code{dualcode.DBBusy},
		Run: handle(func(ctx context.Context, _ *workbench.Call, in agentArgs) (any, error) {
			limit := orDefault(in.Limit)
			all, err := store.Get(ctx, s.store, func(tx *store.Tx) ([]store.Outcome, error) { return tx.Outcomes(in.AgentID, in.Before, limit+1) })
			more := len(all) > limit
			if more {
				all = all[:limit]
			}
			return map[string]any{"agent_id": in.AgentID, "outcomes": all, "count": len(all), "more": more}, err
		}),
	}
}

func (s *System) reputationLeaderboard() workbench.Tool {
	return workbench.Tool{
		Name: "reputation_leaderboard", Title: "Agents by reputation", About: "List the agents with recorded outcomes, the best score first.",
		Input: `{"limit":` + limitSchema + `}`, ReadOnly: true, Idempotent: true, Codes: []candor.Code{dualcode.DBBusy},
		Run: handle(func(ctx context.Context, _ *workbench.Call, in agentArgs) (any, error) {
			all := []reputation.Score{}
			err := s.store.View(ctx, func(tx *store.Tx) error {
				counts, err := tx.OutcomeCounts("")
				for agent, kinds := range counts {
					all = append(all, reputation.Of(agent, kinds))
				}
				return err
			})
			slices.SortFunc(all, func(a, b reputation.Score) int {
				return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(b.Outcomes, a.Outcomes), cmp.Compare(a.AgentID, b.AgentID))
			})
			total := len(all)
			return map[string]any{"agents": all[:min(total, orDefault(in.Limit))], "total": total}, err
		}),
	}
}

func (s *System) reputationCheckGates() workbench.Tool {
	var names []string
	for _, g := range reputation.Gates() {
		names = append(names, strconv.Quote(g.Name))
	}
	return workbench.Tool{
		Name: "reputation_check_gates", Title: "Gates of an agent", About: "Say which gates the reputation of an agent passes, and what is missing at the others.",
		Input:    `{"agent_id":` + property(agentSchema, "The agent.") + `,"gate":{"type":"string","enum":[` + strings.Join(names, ",") + `],"description":"Only this gate."}}`,
		Required: []string{"agent_id"}, ReadOnly: true, Idempotent: true, Codes: []candor.Code{dualcode.DBBusy},
		Run: handle(func(ctx context.Context, _ *workbench.Call, in agentArgs) (any, error) {
			score, err := s.scoreOf(ctx, in.AgentID)
			if err != nil {
				return nil, err
			}
			all, passed := []reputation.GateResult{}, 0
			for _, g := range reputation.Gates() {
				if in.Gate != "" && in.Gate != g.Name {
					continue
				}
				standing := score.Check(g)
				if standing.Passed {
					passed++
				}
				all = append(all, standing)
			}
			return map[string]any{"agent_id": in.AgentID, "score": score.Value, "outcomes": score.Outcomes, "gates": all, "passed": passed, "all_passed": passed == len(all)}, nil
		}),
	}
}
