package dual

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/router"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/store"
	dualcode "github.com/candor-mcp/candor/codes/dual"
)

const (
	toolSchema     = `{"type":"string","minLength":1,"maxLength":128,"description":%q}`
	upstreamSchema = `{"type":"string","minLength":1,"maxLength":64,"description":%q}`
)

const routerCallName = "router_call"

type routeArgs struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Upstreams []string        `json:"upstreams"`
	Failed    []string        `json:"failed"`
	Upstream  string          `json:"upstream"`
}

// measure stores the measurement of an attempt.
func (s *System) measure(ctx context.Context, tool string, a router.Attempt) {
	call := &store.MeasuredCall{Upstream: a.Upstream, Tool: tool, Latency: a.Latency, Cost: s.router.Cost(a.Upstream), At: stampNow(s)}
	if a.Fault {
		call.Code = a.Code
	}
	// A lost measurement only changes the score slightly; the call has its result.
	_ = s.store.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error { return tx.InsertCall(call) })
}

// ranking scores all upstreams by their last calls, of one tool or of all, best first.
func (s *System) ranking(ctx context.Context, tool string) ([]router.Score, error) {
	scores := []router.Score{}
	err := s.store.View(ctx, func(tx *store.Tx) error {
		for _, name := range s.router.Upstreams() {
			measured, err := tx.Calls(name, tool, router.Window)
			if err != nil {
				return err
			}
			calls := make([]router.Call, len(measured))
			for i, c := range measured {
				calls[i] = router.Call{Failed: c.Code != "", Latency: c.Latency, Cost: c.Cost}
			}
			scores = append(scores, router.ScoreOf(name, s.router.Cost(name), calls))
		}
		return nil
	})
	router.Rank(scores)
	return scores, err
}

// checkUpstreams returns an error for a name that is not an upstream.
func (s *System) checkUpstreams(path string, names []string) error {
	known := s.router.Upstreams()
	for _, name := range names {
		if !slices.Contains(known, name) {
			return invalid(path, "unknown upstream "+candor.Public(name, 64)+"; there are: "+strings.Join(known, ", "))
		}
	}
	return nil
}

func (s *System) routerScore() workbench.Tool {
	return workbench.Tool{
		Name: "router_score", Title: "Rank the upstreams",
		About: "Rank the configured servers by what was measured: failures, latency and cost of their last calls, of one tool or of all.",
		Input: `{"tool":` + property(toolSchema, "Only calls of this tool count.") + `}`, ReadOnly: true, Idempotent: true, Codes: []candor.Code{dualcode.DBBusy},
		Run: handle(func(ctx context.Context, _ *workbench.Call, in routeArgs) (any, error) {
			scores, err := s.ranking(ctx, in.Tool)
			winner := ""
			if len(scores) > 0 {
				winner = scores[0].Upstream
			}
			return map[string]any{"ranking": scores, "winner": winner, "window": router.Window}, err
		}),
	}
}

func (s *System) routerCall() workbench.Tool {
	return workbench.Tool{
		Name: routerCallName, Title: "Call a tool of an upstream",
		About: "Call a tool on the best upstream. After a failure that allows it the next one is tried; the answer lists the attempts. With upstreams the order is yours.",
		Input: `{"tool":` + property(toolSchema, "The tool to call.") + `,
"arguments":{"type":"object","description":"The arguments of that tool."},
"upstreams":{"type":"array","minItems":1,"maxItems":16,"uniqueItems":true,"items":` + property(upstreamSchema, "The name of an upstream.") + `,"description":"The servers to try, in this order; all, the best first, if not given."}}`,
		Required: []string{"tool"},
		Codes: []candor.Code{dualcode.FallbackChainExhausted, dualcode.DBBusy,
			candor.CodeUpstreamGone, candor.CodeCallTimeout, candor.CodeUpstreamMalformed},
		Run: handle(s.route),
	}
}

func (s *System) route(ctx context.Context, _ *workbench.Call, in routeArgs) (any, error) {
	chain := in.Upstreams
	err := s.locks.part(ctx, routerCallName, func() (err error) {
		if err = s.checkUpstreams("upstreams", chain); err == nil && len(chain) == 0 {
			chain, err = s.chain(ctx, in.Tool, nil)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	result, attempts, err := s.router.Call(ctx, chain, in.Tool, in.Arguments)
	var exhausted *router.ExhaustedError
	switch {
	case err == nil:
		return result, nil
	case errors.As(err, &exhausted):
		return nil, exhaustedFailure(exhausted)
	case ctx.Err() != nil:
		return nil, err
	}
	e := candor.From(err)
	return nil, e.With(candor.WithDetails(e.Details().With("attempts", attempts)))
}

// exhaustedWait is the delay before a chain may be tried again.
const exhaustedWait = 5 * time.Second

func exhaustedFailure(e *router.ExhaustedError) *candor.Error {
	if len(e.Attempts) == 0 {
		return failure(dualcode.FallbackChainExhausted, "No upstream is configured.", map[string]any{"attempts": []router.Attempt{}}).
			With(candor.WithRetry(candor.NoRetry()), candor.WithSuggestion("Ask the operator to configure upstreams with --upstreams."))
	}
	// The chain continues only after failures that allow a retry, so the whole call may be retried.
	return candor.New(dualcode.FallbackChainExhausted, "", candor.WithDetails(map[string]any{"attempts": e.Attempts}), candor.WithCause(e.Last),
		candor.WithRetry(candor.RetryIn(exhaustedWait)))
}

// chain returns the upstreams in the order in which a call tries them, without those that have failed.
func (s *System) chain(ctx context.Context, tool string, failed []string) ([]string, error) {
	scores, err := s.ranking(ctx, tool)
	names := []string{}
	for _, score := range scores {
		if !slices.Contains(failed, score.Upstream) {
			names = append(names, score.Upstream)
		}
	}
	return names, err
}

func (s *System) routerFallback() workbench.Tool {
	return workbench.Tool{
		Name: "router_fallback", Title: "Fallback chain", About: "Say which upstreams a call of a tool would try, in which order, without those that you say have failed. Nothing is called.",
		Input: `{"tool":` + property(toolSchema, "The tool.") + `,
"failed":{"type":"array","maxItems":16,"uniqueItems":true,"items":` + property(upstreamSchema, "The name of an upstream.") + `}}`,
		Required: []string{"tool"}, ReadOnly: true, Idempotent: true, Codes: []candor.Code{dualcode.DBBusy},
		Run: handle(func(ctx context.Context, _ *workbench.Call, in routeArgs) (any, error) {
			if err := s.checkUpstreams("failed", in.Failed); err != nil {
				return nil, err
			}
			chain, err := s.chain(ctx, in.Tool, in.Failed)
			return map[string]any{"tool": in.Tool, "chain": chain, "length": len(chain)}, err
		}),
	}
}

func (s *System) routerStats() workbench.Tool {
	return workbench.Tool{
		Name: "router_stats", Title: "Measured calls", About: "Show what was measured of each upstream: calls, failures by code, latency and cost.",
		Input:    `{"upstream":` + property(upstreamSchema, "Only this upstream.") + `}`,
		ReadOnly: true, Idempotent: true, Codes: []candor.Code{dualcode.DBBusy},
		Run: handle(func(ctx context.Context, _ *workbench.Call, in routeArgs) (any, error) {
			names := s.router.Upstreams()
			if in.Upstream != "" {
				names = []string{in.Upstream}
			}
			if err := s.checkUpstreams("upstream", names); err != nil {
				return nil, err
			}
			return s.stats(ctx, names)
		}),
	}
}

// measured has the measurements of an upstream.
type measured struct {
	router.Score
	ByCode map[string]int `json:"failures_by_code"`
	ByTool map[string]int `json:"calls_by_tool"`
	Spent  float64        `json:"spent"`
}

func (s *System) stats(ctx context.Context, names []string) (any, error) {
	all := []measured{}
	err := s.store.View(ctx, func(tx *store.Tx) error {
		for _, name := range names {
			kept, err := tx.Calls(name, "", -1)
			if err != nil {
				return err
			}
			m := measured{ByCode: map[string]int{}, ByTool: map[string]int{}}
			calls := make([]router.Call, len(kept))
			for i, c := range kept {
				calls[i] = router.Call{Failed: c.Code != "", Latency: c.Latency, Cost: c.Cost}
				m.ByTool[c.Tool]++
				m.Spent += c.Cost
				if c.Code != "" {
					m.ByCode[c.Code]++
				}
			}
			m.Score = router.ScoreOf(name, s.router.Cost(name), calls)
			all = append(all, m)
		}
		return nil
	})
	return map[string]any{"upstreams": all, "count": len(all)}, err
}
