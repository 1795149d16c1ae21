package learn_test

import (
	"bytes"
	"context"
	"errors"
	"hash/fnv"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
	"github.com/candor-mcp/candor/cmd/internal/learn"
	"github.com/candor-mcp/candor/cmd/internal/probe/profile"
	"github.com/candor-mcp/candor/internal/testing/corpus"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/wire"
)

// exchange is a recorded call of a tool and the answer of its server.
type exchange struct {
	corpus.Record
	suspected bool // without rules
}

// exchanges returns the recorded calls of tools, without those whose label is known to be wrong.
func exchanges(t *testing.T) (out []exchange) {
	t.Helper()
	for _, name := range []string{corpus.Failures, corpus.Successes} {
		records, err := corpus.Load(name)
		if errors.Is(err, corpus.ErrAbsent) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			if _, wrong := r.Mislabelled(); wrong || !bytes.HasPrefix(r.Response, []byte("{")) { // a string is a recording that was cut
				continue
			}
			m := wire.Parse(r.Request, wire.Limits{})
			if m.Kind() == wire.KindRequest && m.MethodIs("tools/call") {
				out = append(out, exchange{Record: r})
			}
		}
	}
	return out
}

// outcome is a ledger that notes how the last call ended.
type outcome struct{ last candor.Failure }

func (o *outcome) RecordFailure(_ context.Context, f candor.Failure) error {
	o.last = f
	return nil
}

// pass sends an exchange through a gateway and returns the failure that was recorded; without one, its Error is nil.
func (o *outcome) pass(t *testing.T, x *exchange, rules *gateway.Rules) candor.Failure {
	t.Helper()
	o.last = candor.Failure{}
	request := wire.Parse(x.Request, wire.Limits{})
	gateway.New(gateway.Options{Name: x.Server, Ledger: o, Rules: rules}).NewCall(&request, "s1").Close(t.Context(), x.Response)
	return o.last
}

// record writes the failures of the tools that have a suspected answer to a ledger. The others say nothing about suspicions.
func record(t *testing.T, all []exchange) (dir string) {
	t.Helper()
	dir = t.TempDir()
	l, err := ledger.Open(dir, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	type tool struct{ server, name string }
	wanted := map[tool]bool{}
	failures := make([]candor.Failure, len(all))
	var o outcome
	for i := range all {
		failures[i] = o.pass(t, &all[i], nil)
		all[i].suspected = failures[i].Suspected
		if failures[i].Suspected {
			wanted[tool{all[i].Server, all[i].Tool}] = true
		}
	}
	for i, f := range failures {
		if f.Error == nil || !wanted[tool{all[i].Server, all[i].Tool}] {
			continue
		}
		if err := l.RecordFailure(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// learnt returns the proposals from a ledger as rules for each server, read from the files that would be written.
func learnt(t *testing.T, dir string) map[string]*gateway.Rules {
	t.Helper()
	r, err := ledger.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // it was only read
	found, err := learn.Read(t.Context(), r, learn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	profiles := map[string]*profile.Profile{}
	for _, s := range found.Shapes {
		if s.Held != "" {
			continue
		}
		if profiles[s.Server] == nil {
			profiles[s.Server] = &profile.Profile{Server: s.Server}
		}
		profiles[s.Server].Masks = append(profiles[s.Server].Masks, s.Rule)
	}
	rules := map[string]*gateway.Rules{}
	for server, p := range profiles {
		read, err := config.ParseProfile("learnt", p.YAML())
		if err != nil {
			t.Fatal(err)
		}
		rules[server] = read.Rules
	}
	return rules
}

// figures compares what is learnt with the labels.
type figures struct {
	masked, made     int // masked failures that are recorded as suspected; of them: the proposals make them certain
	suspected, wrong int // true successes that are recorded as suspected; true successes that the proposals make failures
}

func (f *figures) add(t *testing.T, x *exchange, certain bool) {
	t.Helper()
	switch {
	case x.Masked() && x.suspected:
		f.masked++
		if certain {
			f.made++
		} else if testing.Verbose() {
			t.Logf("not proposed: %s %s %s %.200s", x.Server, x.Tool, x.Case, x.Response)
		}
	case x.Success():
		if x.suspected {
			f.suspected++
		}
		if certain {
			f.wrong++
			t.Errorf("a true success becomes a failure: %s %s %s %.300s", x.Server, x.Tool, x.Case, x.Response)
		}
	}
}

// aside reports whether a server belongs to the half that was set aside while the rules of this package were made.
func aside(server string) bool {
	h := fnv.New32a()
	h.Write([]byte(server))
	return h.Sum32()%2 == 1
}

// TestProposalsAgreeWithLabels makes a ledger of all recordings, learns from it, and sends the recordings through gateways with the
// learnt rules.
func TestProposalsAgreeWithLabels(t *testing.T) {
	t.Parallel()
	all := exchanges(t)
	rules := learnt(t, record(t, all))
	var halves [2]figures
	var o outcome
	for i := range all {
		x := &all[i]
		f := o.pass(t, x, rules[x.Server])
		half := &halves[0]
		if aside(x.Server) {
			half = &halves[1]
		}
		half.add(t, x, f.Error != nil && !f.Suspected)
	}
	for i, name := range []string{"servers that were looked at first", "servers that were set aside"} {
		f := halves[i]
		t.Logf("%s: %d of %d masked failures; of %d suspected true successes %d", name, f.made, f.masked, f.suspected, f.wrong)
		if f.masked == 0 || f.made*100 < f.masked*95 {
			t.Errorf("%s: %d of %d masked failures become certain, want 95 %%", name, f.made, f.masked)
		}
	}
}
