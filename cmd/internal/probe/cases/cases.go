// Package cases decides what is done to a server: which calls, in which order, and which are too dangerous to make. It makes none of
// them. The same tools and the same options give the same cases.
package cases

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/candor-mcp/candor/cmd/internal/probe"
)

// Options chooses.
type Options struct {
	Allow []string // tools that may be called for real although they do not say that they only read
	Yes   bool     // all of them may
	// Faults are those of the fake upstream, as in 429; none without one.
	Faults []string
	// MaxCalls bounds the cases; 0 is 1,000. Those that say least are left out first, of all tools alike.
	MaxCalls int
	// Seed is the order in which the tools are tried: 0 and 1 are that of the list, any other is one of its own. A server that keeps
	// something from one call to the next may fail in another way in another order.
	Seed uint64
	// NoProtocol leaves out what belongs to no tool.
	NoProtocol bool

	slow []string // the tools that wait for a service that does not answer
}

const defaultMaxCalls = 1000

// Plan returns the cases for a server that lists these tools, and what it left out.
func Plan(tools []probe.Tool, o Options) ([]probe.Case, []probe.Skip) {
	var planned []probe.Case
	var skipped []probe.Skip
	if !o.NoProtocol {
		planned = append(planned, protocol()...)
	}
	for _, i := range destroyersLast(tools, turns(len(tools), o.Seed), o) {
		if len(o.slow) < slowTools && mayRun(&tools[i], o) {
			o.slow = append(o.slow, tools[i].Name)
		}
		own, left := forTool(&tools[i], o)
		planned, skipped = append(planned, own...), append(skipped, left...)
	}
	if !o.NoProtocol {
		planned = append(planned, misuse()...) // last: a server may not survive it
		planned = append(planned, calledOff(tools, o)...)
	}
	limit := o.MaxCalls
	if limit == 0 {
		limit = defaultMaxCalls
	}
	return bound(planned, limit, skipped)
}

// destroyersLast moves the tools that may destroy something behind the others: by then it is known whether the server checks arguments.
func destroyersLast(tools []probe.Tool, places []int, o Options) []int {
	slices.SortStableFunc(places, func(a, b int) int { return lateness(&tools[a], o) - lateness(&tools[b], o) })
	return places
}

func lateness(t *probe.Tool, o Options) int {
	if m := (maker{tool: t, real: mayRun(t, o)}); m.care() == probe.CareFirst {
		return 1
	}
	return 0
}

// turns are the places of so many tools, in the order in which they are tried.
func turns(count int, seed uint64) []int {
	places := make([]int, count)
	for i := range places {
		places[i] = i
	}
	if seed > 1 {
		rand.New(rand.NewPCG(seed, 0)).Shuffle(count, func(a, b int) { places[a], places[b] = places[b], places[a] }) //nolint:gosec // it must repeat
	}
	return places
}

// bound leaves out the cases that say least until there are few enough, of all tools alike. Where not all cases of a rank fit, the tools
// that are listed first have theirs.
func bound(planned []probe.Case, limit int, skipped []probe.Skip) ([]probe.Case, []probe.Skip) {
	if len(planned) <= limit {
		return planned, skipped
	}
	places := turns(len(planned), 0)
	slices.SortStableFunc(places, func(a, b int) int { return rankOf(&planned[a]) - rankOf(&planned[b]) })
	places = places[:limit]
	slices.Sort(places)
	kept := make([]probe.Case, limit)
	for i, place := range places {
		kept[i] = planned[place]
	}
	return kept, append(skipped, probe.Skip{What: fmt.Sprintf("%d of %d cases", len(planned)-limit, len(planned)), Reason: "there are more than --max-calls allows"})
}

// ranks are how much a case says about a tool; what stands later is left out first.
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

// params are those of a call of a tool.
func params(tool string, arguments json.RawMessage) json.RawMessage {
	name, _ := json.Marshal(tool) // a text can be encoded
	if arguments == nil {
		return json.RawMessage(`{"name":` + string(name) + `}`)
	}
	return json.RawMessage(`{"name":` + string(name) + `,"arguments":` + string(arguments) + `}`)
}
