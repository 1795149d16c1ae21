package dual

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/dialect"
)

// patterns lists how each tool reports its domain failures: thrown, or returned as data.
var patterns = map[string]dialect.Pattern{
	"server_ping": dialect.PatternA, "server_health": dialect.PatternA,
	"thought_record": dialect.PatternA, "thought_record_list": dialect.PatternA, "audit_verify_chain": dialect.PatternA,
	"skill_list":     dialect.PatternA,
	"reputation_get": dialect.PatternA, "reputation_history": dialect.PatternA, "reputation_leaderboard": dialect.PatternA, "reputation_check_gates": dialect.PatternA,
	"consensus_propose": dialect.PatternA, "consensus_vote": dialect.PatternA, "consensus_finality": dialect.PatternA, "consensus_gossip": dialect.PatternA,
	"vrf_eval":     dialect.PatternA,
	"router_score": dialect.PatternA, "router_call": dialect.PatternA, "router_fallback": dialect.PatternA, "router_stats": dialect.PatternA,
	"task_create": dialect.PatternB, "task_get": dialect.PatternB, "task_update": dialect.PatternB, "task_list": dialect.PatternB,
	"task_next_actions": dialect.PatternB, "audit_session_start": dialect.PatternB, "merkle_finalize": dialect.PatternB, "merkle_root": dialect.PatternB,
}

// PatternOf returns the pattern of a tool's failures, for the dialect. A tool of pattern B returns only codes that
// begin with ERR_ as data; other failures are thrown, as for any tool.
func PatternOf(tool string) dialect.Pattern {
	if patterns[tool] == dialect.PatternB {
		return dialect.PatternAuto
	}
	return dialect.PatternA
}

// handle returns a Run function for a function that returns the data of a success.
func handle[In any](run func(ctx context.Context, c *workbench.Call, in In) (any, error)) func(context.Context, *workbench.Call) (workbench.Reply, error) {
	decoded := workbench.Handle(func(ctx context.Context, c *workbench.Call, in In) (workbench.Reply, error) {
		data, err := run(ctx, c, in)
		if err != nil {
			return workbench.Reply{}, storeFailure(err)
		}
		reply, err := success(data)
		if err != nil {
			return workbench.Reply{}, storeFailure(err)
		}
		return reply, nil
	})
	return func(ctx context.Context, c *workbench.Call) (workbench.Reply, error) {
		if err := checkText(c.Arguments); err != nil {
			return workbench.Reply{}, err
		}
		return decoded(ctx, c)
	}
}

// success returns the envelope {"ok":true,"data":…}, as text and as structured content.
func success(data any) (workbench.Reply, error) {
	envelope, err := encode(struct {
		OK   bool `json:"ok"`
		Data any  `json:"data"`
	}{true, data})
	if err != nil {
		return workbench.Reply{}, err
	}
	return workbench.Reply{Text: []string{string(envelope)}, Data: envelope}, nil
}

// encode returns JSON without HTML escapes.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
