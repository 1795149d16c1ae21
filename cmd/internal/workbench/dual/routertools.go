package dual

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/rules"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/store"
	dualcode "github.com/candor-mcp/candor/codes/dual"
	"github.com/candor-mcp/candor/contract"
)

const (
	toolSchema     = `{"type":"string","minLength":1,"maxLength":128,"description":%q}`
	upstreamSchema = `{"type":"string","minLength":1,"maxLength":64,"description":%q}`
	routerCallName = "router_call"
)

type routeArgs struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Upstreams []string        `json:"upstreams"`
	Failed    []string        `json:"failed"`
	Upstream  string          `json:"upstream"`
}

// ranking scores all upstreams by their last calls, of one tool or of all, best first. Equal scores keep the order of
// the configuration.
func (s *System) ranking(tx *store.Tx, tool string) ([]upstreamScore, error) {
	scores := []upstreamScore{}
	for _, u := range s.o.Upstreams {
		calls, err := tx.Calls(u.Name, tool, window)
		if err != nil {
			return nil, err
		}
		scores = append(scores, scoreUpstream(u.Name, u.Cost, calls))
	}
	slices.SortStableFunc(scores, func(a, b upstreamScore) int { return cmp.Compare(b.Value, a.Value) })
	return scores, nil
}

// chain returns the upstreams in the order in which a call tries them, without those that have failed.
func (s *System) chain(tx *store.Tx, tool string, failed []string) ([]string, error) {
	scores, err := s.ranking(tx, tool)
	names := []string{}
	for _, score := range scores {
		if !slices.Contains(failed, score.Upstream) {
			names = append(names, score.Upstream)
		}
	}
	return names, err
}

// upstreamNames returns the names in the order of the configuration.
func (s *System) upstreamNames() []string {
	names := make([]string, len(s.o.Upstreams))
	for i, u := range s.o.Upstreams {
		names[i] = u.Name
	}
	return names
}

// checkUpstreams returns an error for a name that is not an upstream.
func (s *System) checkUpstreams(path string, names ...string) error {
	known := s.upstreamNames()
	for _, name := range names {
		if !slices.Contains(known, name) {
			return invalid(path, "unknown upstream "+candor.Public(name, 64)+"; there are: "+strings.Join(known, ", "))
		}
	}
	return nil
}

func (s *System) routerScore() workbench.Tool {
	return query(s, workbench.Tool{
		Name: "router_score", Title: "Rank the upstreams",
		About: "Rank the configured servers by what was measured: failures, latency and cost of their last calls, of one tool or of all.",
		Input: `{"tool":` + property(toolSchema, "Only calls of this tool count.") + `}`,
	}, func(tx *store.Tx, in routeArgs) (any, error) {
		scores, err := s.ranking(tx, in.Tool)
		winner := ""
		if len(scores) > 0 {
			winner = scores[0].Upstream
		}
		return map[string]any{"ranking": scores, "winner": winner, "window": window}, err
	})
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
		if err = s.checkUpstreams("upstreams", chain...); err == nil && len(chain) == 0 {
			chain, err = store.Get(ctx, s.store, func(tx *store.Tx) ([]string, error) { return s.chain(tx, in.Tool, nil) })
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.callChain(ctx, chain, in)
}

// attempt is one attempt of a chain.
type attempt struct {
	Upstream  string  `json:"upstream"`
	Code      string  `json:"code,omitempty"` // domain/SYMBOL; "" for a success
	Message   string  `json:"message,omitempty"`
	LatencyMs float64 `json:"latency_ms"`
}

// routed is the result of a successful chain.
type routed struct {
	Upstream string `json:"upstream"`
	answer
	Attempts []attempt `json:"attempts"`
}

// callChain sends a call to the upstreams of a chain, one after the other, until one answers. It continues only after a
// failure of an upstream, and only if the call can be repeated without a second effect, according to the failure or to
// the tool's hints. Other failures are returned unchanged, with the attempts. Failures that the caller caused are not
// measured, because they show nothing about the upstream.
func (s *System) callChain(ctx context.Context, chain []string, in routeArgs) (any, error) {
	attempts := []attempt{}
	var last *candor.Error
	for n, name := range chain {
		u := s.o.Upstreams[slices.Index(s.upstreamNames(), name)]
		began := time.Now()
		found, repeatable, err := u.call(ctx, in.Tool, in.Arguments)
		latency := time.Since(began)
		one := attempt{Upstream: name, LatencyMs: milliseconds(latency)}
		if err == nil {
			code := ""
			if found.Suspected != nil && found.Suspected.fault {
				code = found.Suspected.Code
			}
			s.measure(ctx, u, in.Tool, code, latency)
			return routed{name, found, append(attempts, one)}, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err() // the call was cancelled, which shows nothing about the upstream
		}
		last = candor.From(err)
		one.Code, one.Message = last.Code().String(), last.Message()
		attempts = append(attempts, one)
		if !isFault(last) {
			return nil, last.With(candor.WithDetails(last.Details().With("attempts", attempts)))
		}
		s.measure(ctx, u, in.Tool, one.Code, latency)
		if !repeatable && !last.Retry().Retryable() && !contract.ProvesNoEffect(last) {
			return nil, stopped(last, attempts, n == len(chain)-1)
		}
	}
	return nil, exhausted(attempts, last)
}

// measure stores the measurement of a call.
func (s *System) measure(ctx context.Context, u *Upstream, tool, code string, latency time.Duration) {
	call := &store.MeasuredCall{Upstream: u.Name, Tool: tool, Code: code, Latency: latency, Cost: u.Cost, At: s.stamp()}
	// A lost measurement only changes the score slightly; the call has its result.
	_ = s.store.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error { return tx.InsertCall(call) })
}

// stopped is the error after which the other upstreams of a chain are not tried, because a second call could have a
// second effect.
func stopped(e *candor.Error, attempts []attempt, wasLast bool) *candor.Error {
	details := e.Details().With("attempts", attempts)
	if wasLast {
		return e.With(candor.WithDetails(details))
	}
	return e.With(candor.WithDetails(details.With("fallbackStopped", "effect")),
		candor.WithSuggestion("Check whether the call took effect before you call another upstream: the tool does not declare that it can be repeated."))
}

// exhausted is the error for a chain in which no upstream answered.
func exhausted(attempts []attempt, last *candor.Error) *candor.Error {
	details := map[string]any{"attempts": attempts}
	if last == nil {
		return failure(dualcode.FallbackChainExhausted, "No upstream is configured.", details).
			With(candor.WithRetry(candor.NoRetry()), candor.WithSuggestion("Ask the operator to configure upstreams with --upstreams."))
	}
	// The chain continues only after failures that allow a retry, so the whole call may be retried.
	return candor.New(dualcode.FallbackChainExhausted, "", candor.WithDetails(details), candor.WithCause(last),
		candor.WithRetry(candor.RetryIn(5*time.Second)))
}

func (s *System) routerFallback() workbench.Tool {
	return query(s, workbench.Tool{
		Name: "router_fallback", Title: "Fallback chain", About: "Say which upstreams a call of a tool would try, in which order, without those that you say have failed. Nothing is called.",
		Input: `{"tool":` + property(toolSchema, "The tool.") + `,
"failed":{"type":"array","maxItems":16,"uniqueItems":true,"items":` + property(upstreamSchema, "The name of an upstream.") + `}}`,
		Required: []string{"tool"},
	}, func(tx *store.Tx, in routeArgs) (any, error) {
		if err := s.checkUpstreams("failed", in.Failed...); err != nil {
			return nil, err
		}
		chain, err := s.chain(tx, in.Tool, in.Failed)
		return map[string]any{"tool": in.Tool, "chain": chain, "length": len(chain)}, err
	})
}

// measured has the measurements of an upstream.
type measured struct {
	upstreamScore
	ByCode map[string]int `json:"failures_by_code"`
	ByTool map[string]int `json:"calls_by_tool"`
	Spent  float64        `json:"spent"`
}

func (s *System) routerStats() workbench.Tool {
	return query(s, workbench.Tool{
		Name: "router_stats", Title: "Measured calls", About: "Show what was measured of each upstream: calls, failures by code, latency and cost.",
		Input: `{"upstream":` + property(upstreamSchema, "Only this upstream.") + `}`,
	}, func(tx *store.Tx, in routeArgs) (any, error) {
		if in.Upstream != "" {
			if err := s.checkUpstreams("upstream", in.Upstream); err != nil {
				return nil, err
			}
		}
		all := []measured{}
		for _, u := range s.o.Upstreams {
			if in.Upstream != "" && in.Upstream != u.Name {
				continue
			}
			calls, err := tx.Calls(u.Name, "", -1)
			if err != nil {
				return nil, err
			}
			m := measured{upstreamScore: scoreUpstream(u.Name, u.Cost, calls), ByCode: map[string]int{}, ByTool: map[string]int{}}
			for _, c := range calls {
				m.ByTool[c.Tool]++
				m.Spent += c.Cost
				if c.Code != "" {
					m.ByCode[c.Code]++
				}
			}
			all = append(all, m)
		}
		return map[string]any{"upstreams": all, "count": len(all)}, nil
	})
}

// upstreamScore is the score of an upstream. Value is computed only from the other fields:
//
//	0.6 · reliability + 0.25 · speed + 0.15 · thrift
type upstreamScore struct {
	Upstream    string  `json:"upstream"`
	Value       float64 `json:"score"`       // from 0 to 1
	Reliability float64 `json:"reliability"` // (successes+1)/(calls+2)
	Speed       float64 `json:"speed"`       // 1/(1+median latency in seconds); 0.5 if nothing was measured
	Thrift      float64 `json:"thrift"`      // 1/(1+cost of a call)
	Calls       int     `json:"calls"`       // number of measured calls
	Failures    int     `json:"failures"`
	LatencyMs   float64 `json:"latency_ms"` // median of the successes
	P95Ms       float64 `json:"p95_ms"`
	Cost        float64 `json:"cost"` // of a call
}

// window is the number of most recent calls that count.
const window = 100

// scoreUpstream computes the score of an upstream from its last calls.
func scoreUpstream(name string, cost float64, calls []store.MeasuredCall) upstreamScore {
	s := upstreamScore{Upstream: name, Calls: len(calls), Cost: cost}
	var latencies []time.Duration
	for _, c := range calls {
		if c.Code != "" {
			s.Failures++
			continue
		}
		latencies = append(latencies, c.Latency)
	}
	slices.Sort(latencies)
	s.Reliability = rules.Round4(float64(len(latencies)+1) / float64(len(calls)+2))
	s.Speed = 0.5
	if len(latencies) > 0 {
		median := latencies[len(latencies)/2]
		s.LatencyMs = milliseconds(median)
		s.P95Ms = milliseconds(latencies[len(latencies)*95/100])
		s.Speed = rules.Round4(1 / (1 + median.Seconds()))
	}
	s.Thrift = rules.Round4(1 / (1 + max(cost, 0)))
	s.Value = rules.Round4(0.6*s.Reliability + 0.25*s.Speed + 0.15*s.Thrift)
	return s
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
