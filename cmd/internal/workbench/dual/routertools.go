package dual

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/rules"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/store"
	dualcode "github.com/candor-mcp/candor/codes/dual"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/argerror"
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
			return invalid(path, "unknown upstream "+candor.Public(name, 64)+"; there are: "+strings.Join(known, ", "), map[string]any{"enum": known})
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
		About: "Call a tool on the best upstream that has it. After a failure that allows it the next one is tried; the answer lists the attempts. With upstreams the order is yours. The error for an unknown tool lists the tools that there are.",
		Input: `{"tool":` + property(toolSchema, "The tool to call.") + `,
"arguments":{"type":"object","description":"The arguments of that tool."},
"upstreams":{"type":"array","minItems":1,"maxItems":16,"uniqueItems":true,"items":` + property(upstreamSchema, "The name of an upstream.") + `,"description":"The servers to try, in this order; all, the best first, if not given."}}`,
		Required: []string{"tool"},
		Codes: []candor.Code{dualcode.FallbackChainExhausted, dualcode.DBBusy, candor.CodeToolNotFound,
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

// callChain sends a call to the upstreams of a chain, one after the other, until one answers. Those that do not list the tool are skipped; if
// none lists it, all are asked, because a server may have more tools than it lists.
func (s *System) callChain(ctx context.Context, chain []string, in routeArgs) (any, error) {
	c := &chainCall{System: s, in: in, known: map[string]bool{}}
	for _, c.unlisted = range []bool{false, true} {
		c.attempts = []attempt{}
		for n, name := range chain {
			if found, done, err := c.try(ctx, name, n == len(chain)-1); done {
				return found, err
			}
		}
		if c.last != nil {
			break
		}
	}
	if len(chain) == 0 || c.last != nil {
		return nil, exhausted(c.attempts, c.last, c.lacking, c.tools())
	}
	e := argerror.WithToolNames(failure(candor.CodeToolNotFound, "", map[string]any{"tools": c.tools(), "attempts": c.attempts}), in.Tool, c.tools())
	return nil, e.With(candor.WithSuggestion("Use one of the names in tools, which this error lists."))
}

// maxNamed is the number of tools that an error names.
const maxNamed = 100

// chainCall is the state of [System.callChain].
type chainCall struct {
	*System
	in       routeArgs
	unlisted bool // also call servers that do not list the tool
	attempts []attempt
	last     *candor.Error   // the last failure of an upstream
	lacking  bool            // some upstreams do not have the tool
	known    map[string]bool // the tools that the upstreams list
}

// tools returns the first tools that the upstreams list.
func (c *chainCall) tools() []string {
	names := slices.Sorted(maps.Keys(c.known))
	return names[:min(len(names), maxNamed)]
}

// try sends the call to one upstream. done is false if the next one may be tried: after a failure of the upstream, if the call can be repeated
// without a second effect, according to the failure or to the tool's hints, and if the server does not have the tool. Other failures are
// returned unchanged, with the attempts. Failures that the caller caused are not measured, because they show nothing about the upstream.
func (c *chainCall) try(ctx context.Context, name string, isLast bool) (found any, done bool, err error) {
	u := c.o.Upstreams[slices.Index(c.upstreamNames(), name)]
	began := time.Now()
	got, list, err := u.call(ctx, c.in, c.unlisted)
	latency := time.Since(began)
	one := attempt{Upstream: name, LatencyMs: milliseconds(latency)}
	if list != nil {
		maps.Copy(c.known, list.repeatable)
	}
	if err == nil {
		code := ""
		if got.Suspected != nil && got.Suspected.fault {
			code = got.Suspected.Code
		}
		c.measure(ctx, u, c.in.Tool, code, latency)
		return routed{name, got, append(c.attempts, one)}, true, nil
	}
	if ctx.Err() != nil {
		return nil, true, ctx.Err() // the call was cancelled, which shows nothing about the upstream
	}
	listed, _ := list.has(c.in.Tool)
	failed := candor.From(err)
	lacks := errors.Is(err, errNotListed) || failed.Code() == candor.CodeToolNotFound && !listed
	if one.Code, one.Message = failed.Code().String(), failed.Message(); lacks {
		one.Code, one.Message = candor.CodeToolNotFound.String(), "The server does not have the tool."
	}
	c.attempts = append(c.attempts, one)
	if lacks {
		c.lacking = true
		return nil, false, nil
	}
	if !isFault(failed) {
		return nil, true, failed.With(candor.WithDetails(c.inArguments(failed.Details()).With("attempts", c.attempts)))
	}
	c.measure(ctx, u, c.in.Tool, one.Code, latency)
	if !list.repeats(c.in.Tool) && !failed.Retry().Retryable() && !contract.ProvesNoEffect(failed) {
		return nil, true, stopped(failed, c.attempts, isLast)
	}
	c.last = failed
	return nil, false, nil
}

// inArguments returns the details of an upstream's failure with its issues and its template where the call of router_call has them.
func (c *chainCall) inArguments(details candor.Details) candor.Details {
	issues := details.Issues()
	if len(issues) == 0 {
		return details
	}
	for i := range issues {
		issues[i].Path = "/arguments" + issues[i].Path
	}
	details = details.With("issues", issues)
	if template := details.Get("correctTemplate"); !template.IsZero() {
		details = details.With("correctTemplate", map[string]any{"tool": c.in.Tool, "arguments": template})
	}
	return details
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

// exhausted is the error for a chain in which no upstream answered. If some do not have the tool, the error lists those that there are.
func exhausted(attempts []attempt, last *candor.Error, lacking bool, tools []string) *candor.Error {
	details := map[string]any{"attempts": attempts}
	if last == nil {
		return failure(dualcode.FallbackChainExhausted, "No upstream is configured.", details).
			With(candor.WithRetry(candor.NoRetry()), candor.WithSuggestion("Ask the operator to configure upstreams with --upstreams."))
	}
	// The chain continues only after failures that allow a retry, so the whole call may be retried.
	options := []candor.Option{candor.WithDetails(details), candor.WithCause(last), candor.WithRetry(candor.RetryIn(5 * time.Second))}
	if lacking {
		details["tools"] = tools
		options = append(options, candor.WithDetails(details), candor.WithSuggestion("If the name of the tool may be wrong, use one of those in tools; otherwise wait and send the same call again."))
	}
	return candor.New(dualcode.FallbackChainExhausted, "", options...)
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
		lacking := func(name string) bool {
			has, sure := s.o.Upstreams[slices.Index(s.upstreamNames(), name)].listed().has(in.Tool)
			return sure && !has
		}
		if lists := slices.DeleteFunc(slices.Clone(chain), lacking); len(lists) > 0 {
			chain = lists
		}
		return map[string]any{"tool": in.Tool, "chain": chain, "length": len(chain)}, err
	})
}

// measured has the measurements of an upstream.
type measured struct {
	upstreamScore
	ByCode map[string]int `json:"failures_by_code"`
	ByTool map[string]int `json:"calls_by_tool"`
	Spent  float64        `json:"spent"`
	Tools  []string       `json:"tools,omitempty"` // that the server listed when it was called last
}

func (s *System) routerStats() workbench.Tool {
	return query(s, workbench.Tool{
		Name: "router_stats", Title: "Measured calls", About: "Show what was measured of each upstream: calls, failures by code, latency and cost; and its tools, once one of them was called.",
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
			if list := u.listed(); list != nil {
				m.Tools = slices.Sorted(maps.Keys(list.repeatable))
			}
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
