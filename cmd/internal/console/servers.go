package console

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/console/failures"
	"github.com/candor-mcp/candor/contract"
)

// serversView is the data of the page about servers, and its JSON.
type serversView struct {
	Since   time.Time    `json:"since,omitzero"` // of the recorded failures; zero is all
	Running bool         `json:"running"`        // the state of running servers is known
	Servers []serverView `json:"servers"`

	SinceText string      `json:"-"`
	Choices   [][2]string `json:"-"`
}

// serverView is one server: the recorded failures, and its state if it runs here.
type serverView struct {
	Name      string       `json:"name"`
	Failures  uint64       `json:"failures"`
	Suspected uint64       `json:"suspected"`
	Masked    float64      `json:"maskedShare"`   // of the failures, from 0 to 1
	Wasted    uint64       `json:"wastedRetries"` // calls refused because they repeated a failed call against its retry advice
	Sampled   int          `json:"sampled"`       // number of the newest failures behind latency
	Latency   [3]float64   `json:"latencyMs"`     // of failed calls: median, 90th and 99th percentile
	TopCode   string       `json:"topCode"`
	Last      time.Time    `json:"lastFailure"`
	State     *ServerState `json:"state,omitempty"`

	Percentiles [3]time.Duration `json:"-"`
	MaskedText  string           `json:"-"`
	FailedText  string           `json:"-"` // share of the calls that failed
	Failing     bool             `json:"-"` // most of its calls fail
	Link        string           `json:"-"`
}

// Limits of the page.
const (
	maxServers = 50
	sampleSize = 1000 // newest failures of a server that are looked at one by one
)

func (*serversView) title() string { return "Servers" }

func (s *Server) servers(r *http.Request) (*serversView, error) {
	f, query, err := filterOf(r)
	if err != nil {
		return nil, err
	}
	f = failures.Filter{Since: f.Since, Until: f.Until}
	v := &serversView{Since: f.Since, Servers: []serverView{}, SinceText: query.Get("since"), Choices: closedChoices.Since, Running: s.o.Servers != nil}
	all, err := s.o.Failures.Summarize(r.Context(), f)
	if err != nil {
		return nil, err
	}
	states := map[string]*ServerState{}
	order := names(all.Servers)
	if s.o.Servers != nil {
		for _, state := range s.o.Servers.Servers(r.Context()) {
			states[state.Name] = &state
			if !slices.Contains(order, state.Name) {
				order = append(order, state.Name)
			}
		}
	}
	for _, name := range order[:min(len(order), maxServers)] {
		one, err := s.server(r.Context(), name, f)
		if err != nil {
			return nil, err
		}
		if state := states[name]; state != nil {
			one.join(state)
		}
		v.Servers = append(v.Servers, one)
	}
	return v, nil
}

// server counts the recorded failures of a server.
func (s *Server) server(ctx context.Context, name string, f failures.Filter) (serverView, error) { //nolint:gocritic // changed here
	f.Server = name
	out := serverView{Name: name, Link: listPath(f.Values())}
	sum, err := s.o.Failures.Summarize(ctx, f)
	if err != nil {
		return out, err
	}
	page, err := s.o.Failures.List(ctx, f, "", sampleSize)
	if err != nil {
		return out, err
	}
	out.Failures, out.Suspected, out.Last = sum.Total, sum.Suspected, sum.Last
	out.Masked = share(countOf(sum.Verdicts, string(contract.VerdictMasked)), sum.Total)
	out.Wasted = countOf(sum.Codes, candor.CodeRepeatedFailure.Symbol())
	out.MaskedText = percent(out.Masked)
	if len(sum.Codes) > 0 {
		out.TopCode = sum.Codes[0].Name
	}
	out.sample(page.Failures)
	return out, nil
}

// join shows the state of a running server instead of what the ledger knows.
func (v *serverView) join(state *ServerState) {
	v.State = state
	v.Wasted = max(v.Wasted, state.Wasted)
	v.FailedText, v.Failing = percent(state.FailureShare), state.FailureShare >= 0.5
	v.MaskedText = percent(state.MaskedShare)
	for i, ms := range state.Latency {
		v.Percentiles[i] = time.Duration(ms * float64(time.Millisecond))
	}
}

func percent(share float64) string {
	if share > 0 && share < 0.01 {
		return "< 1 %"
	}
	return numberWords(int64(share*100+0.5)) + " %"
}

func countOf(counts []failures.Count, name string) uint64 {
	for _, c := range counts {
		if c.Name == name {
			return c.Count
		}
	}
	return 0
}

// sample computes what only single failures show.
func (v *serverView) sample(list []failures.Failure) {
	v.Sampled = len(list)
	var times []time.Duration
	for i := range list {
		if list[i].Latency > 0 {
			times = append(times, list[i].Latency)
		}
	}
	slices.Sort(times)
	for i, p := range []int{50, 90, 99} {
		if len(times) > 0 {
			v.Percentiles[i] = times[(len(times)*p+99)/100-1] // the nearest rank, so that one slow call of a few is seen
			v.Latency[i] = float64(v.Percentiles[i].Microseconds()) / 1000
		}
	}
}
