// Package cases plans the calls of an audit: which calls are made, in which order, and which are too dangerous. It
// makes no calls. The same tools and options give the same cases.
package cases

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/candor-mcp/candor/internal/probe"
)

// Options selects the cases.
type Options struct {
	Allow []string // tools that may be called with valid arguments although they are not declared read-only
	Yes   bool     // allow all tools
	// Faults are the faults of the fake upstream, as in 429; nil without one.
	Faults []string
	// MaxCalls is the maximum number of cases; 0 is 1,000. The least informative cases of all tools are omitted first.
	MaxCalls int
	// Seed selects the order of the tools: 0 and 1 are the order of the list, others shuffle it. A server with state may fail differently in
	// another order.
	Seed uint64
	// NoProtocol omits the cases that do not belong to a tool.
	NoProtocol bool

	slow []string // tools that are tried with an upstream that does not answer
}

const defaultMaxCalls = 1000

// Plan returns the cases for a server with these tools, and the omitted ones with reasons.
func Plan(tools []probe.Tool, o Options) ([]probe.Case, []probe.Skip) {
	var planned []probe.Case
	var skipped []probe.Skip
	if !o.NoProtocol {
		planned = append(planned, protocol()...)
	}
	for _, i := range destructiveLast(tools, orderOf(len(tools), o.Seed), o) {
		if len(o.slow) < slowTools && mayRun(&tools[i], o) {
			o.slow = append(o.slow, tools[i].Name)
		}
		own, left := forTool(&tools[i], o)
		planned, skipped = append(planned, own...), append(skipped, left...)
	}
	if !o.NoProtocol {
		planned = append(planned, misuse()...) // last: a server may not survive it
		planned = append(planned, cancelledCall(tools, o)...)
	}
	return bound(planned, cmp.Or(o.MaxCalls, defaultMaxCalls), skipped)
}

// destructiveLast moves destructive tools to the end, where it is known whether the server checks arguments.
func destructiveLast(tools []probe.Tool, places []int, o Options) []int {
	destructive := func(i int) bool {
		m := maker{tool: &tools[i], real: mayRun(&tools[i], o)}
		return m.care() == probe.CareFirst
	}
	last := slices.DeleteFunc(slices.Clone(places), func(i int) bool { return !destructive(i) })
	return append(slices.DeleteFunc(places, destructive), last...)
}

// orderOf returns the indexes of count tools in the order in which they are tried.
func orderOf(count int, seed uint64) []int {
	places := make([]int, count)
	for i := range places {
		places[i] = i
	}
	if seed > 1 {
		rand.New(rand.NewPCG(seed, 0)).Shuffle(count, func(a, b int) { places[a], places[b] = places[b], places[a] }) //nolint:gosec // it must repeat
	}
	return places
}

// bound omits the least informative cases of all tools until at most limit remain. If only some cases of a rank fit,
// those of the first tools are kept.
func bound(planned []probe.Case, limit int, skipped []probe.Skip) ([]probe.Case, []probe.Skip) {
	if len(planned) <= limit {
		return planned, skipped
	}
	places := orderOf(len(planned), 0)
	slices.SortStableFunc(places, func(a, b int) int { return rankOf(&planned[a]) - rankOf(&planned[b]) })
	places = places[:limit]
	slices.Sort(places)
	kept := make([]probe.Case, limit)
	for i, place := range places {
		kept[i] = planned[place]
	}
	return kept, append(skipped, probe.Skip{What: fmt.Sprintf("%d of %d cases", len(planned)-limit, len(planned)), Reason: "there are more than --max-calls allows"})
}

// ranks orders the cases by how much they show about a tool; the last are omitted first.
var ranks = []string{
	probe.CaseMissingRequired, probe.CaseNonexistent, probe.CaseNoArgsValid, probe.CaseValid, probe.CaseUnknownIDs, probe.CaseWrongType, probe.CaseMissingOne, probe.CaseBadEnum, probe.CaseExtraProperty,
	probe.CaseOutOfRange, probe.CaseArgsAbsent, probe.CaseArgsArray, probe.CaseArgsString, probe.CaseArgsNull, probe.CaseEmptyText, probe.CaseTooLong,
}

var maxRank = len(ranks) + 1

func rankOf(c *probe.Case) int {
	switch at := slices.Index(ranks, c.Name); {
	case c.Tool == "":
		return -1
	case c.Again > 0:
		return maxRank
	case at < 0:
		return len(ranks)
	default:
		return at
	}
}

// params returns the params of a tools/call request.
func params(tool string, arguments json.RawMessage) json.RawMessage {
	name, _ := json.Marshal(tool) // a text can be encoded
	if arguments == nil {
		return json.RawMessage(`{"name":` + string(name) + `}`)
	}
	return json.RawMessage(`{"name":` + string(name) + `,"arguments":` + string(arguments) + `}`)
}
