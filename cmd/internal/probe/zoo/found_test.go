package zoo_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/probe/zoo"
	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/internal/probe/rules"
	"github.com/candor-mcp/candor/wire"
)

// service is an upstream that fails with the current fault.
type service struct {
	*httptest.Server

	fault atomic.Value // string
	hits  atomic.Int32
}

var faults = []string{"401", "403", "404", "409", "422", "429", "500", "503", "200html", "garbage"}

func newService(t *testing.T) *service {
	s := &service{}
	s.fault.Store("")
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s.hits.Add(1)
		switch fault, _ := s.fault.Load().(string); fault {
		case "":
			_, _ = w.Write([]byte(`{"name":"alpha","lines":3}`))
		case "200html":
			_, _ = w.Write([]byte(`<!DOCTYPE html><html><body>Please log in to the network.</body></html>`))
		case "garbage":
			_, _ = w.Write([]byte("\x01\x02 this is {no JSON"))
		default:
			status, _ := strconv.Atoi(fault)
			if status == http.StatusTooManyRequests {
				w.Header().Set("Retry-After", "30")
			}
			w.WriteHeader(status)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// run sends a server the cases of one tool, or of the protocol for "".
func run(t *testing.T, o zoo.Options, tool, era string, up *service) *probe.Run {
	t.Helper()
	c := open(t, era, o)
	r := &probe.Run{Version: probe.RunVersion, Server: probe.Server{Protocol: era, Transport: "stdio"}, Tools: c.tools()}
	var down []string
	if up != nil {
		down = faults
	}
	for _, k := range planned(r.Tools, tool, down...) {
		before := int32(0)
		if up != nil {
			up.fault.Store(k.Fault)
			before = up.hits.Load()
		}
		s := c.put(&k)
		seen := probe.Observation{Case: k, Request: s.request, Response: s.response, Outcome: probe.OutcomeAnswered}
		if up != nil {
			seen.Hits = int(up.hits.Load() - before)
		}
		for _, other := range s.other {
			m := wire.Parse([]byte(other), wire.Limits{})
			switch {
			case m.Shape() == wire.KindMalformed:
				seen.Noise = append(seen.Noise, other)
			case m.Method() != nil:
				seen.Notices++
			case s.response == "":
				seen.Response = other
			default:
				seen.Extra++
			}
		}
		switch {
		case s.died:
			seen.Outcome = probe.OutcomeCrash
			mustCrash(t, c.died())
			c = open(t, era, o)
		case seen.Response == "" && k.Expect == probe.ExpectSilence:
			seen.Outcome = probe.OutcomeNoAnswer
		case seen.Response == "":
			seen.Outcome = probe.OutcomeHang
		}
		r.Observations = append(r.Observations, seen)
	}
	return r
}

// unseen lists defects that this test cannot show, because they need waiting calls, large messages, or output before
// the first request.
var unseen = []string{"oversize-dies", "banner", "keeps-on"}

func TestJudgeFindsEachDefectAndNothingElse(t *testing.T) {
	up := newService(t)
	for _, d := range zoo.Defects() {
		if slices.Contains(unseen, d.ID) || d.Transport == "http" {
			continue
		}
		t.Run(d.ID, func(t *testing.T) {
			o := zoo.Options{Defects: []string{d.ID}}
			var service *service
			if strings.HasPrefix(d.ID, "up-") {
				o.Upstream, service = up.URL, up
			}
			era := era2026
			if d.Protocol != "" {
				era = d.Protocol
			}
			found := rulesFound(t, run(t, o, d.Tool, era, service))
			want := slices.Sorted(slices.Values(append(slices.Clone(d.Also), d.Rule)))
			if !slices.Equal(found, want) {
				t.Errorf("found %v, planted %v", found, want)
			}
		})
	}
}

func TestJudgeFindsNothingWrongWithHonestTools(t *testing.T) {
	up := newService(t)
	for _, tool := range []string{"honest", "records", "up-honest", ""} {
		for _, era := range []string{era2025, era2026} {
			o := zoo.Options{Defects: []string{zoo.NoDefect}, Upstream: up.URL}
			var service *service
			if tool == "up-honest" {
				service = up
			}
			if found := rulesFound(t, run(t, o, tool, era, service)); len(found) > 0 {
				t.Errorf("%q at %s: found %v", tool, era, found)
			}
		}
	}
}

// rulesFound returns the ids of the rules that a run breaks, sorted.
func rulesFound(t *testing.T, r *probe.Run) []string {
	t.Helper()
	report, err := rules.Judge(r, rules.SetAgent)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range report.Findings {
		if !slices.Contains(found, f.Rule) {
			found = append(found, f.Rule)
		}
		t.Log(f.Rule, f.Message, fmt.Sprintf("%.600v", f.Evidence))
	}
	slices.Sort(found)
	return found
}
