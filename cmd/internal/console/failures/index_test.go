package failures_test

import (
	"context"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/candor-mcp/candor/cmd/internal/console/failures"
	"github.com/candor-mcp/candor/ledger"
)

// randomFilter returns a filter with a few members that select a part of the list.
func randomFilter(r *rand.Rand, all []failures.Failure) failures.Filter {
	var f failures.Filter
	for range r.IntN(4) {
		x := pick(r, all)
		switch r.IntN(12) {
		case 0:
			f.Server = x.Server
		case 1:
			f.Tool = strings.ToUpper(x.Tool)
		case 2:
			f.Code = x.Code
		case 3:
			f.Class = x.Class
		case 4:
			f.Verdict = x.Verdict
		case 5:
			f.Origin = x.Origin
		case 6:
			f.Outcome = string(x.Outcome)
		case 7:
			f.Session = x.Session
		case 8:
			f.Ref = x.Ref[:min(len(x.Ref), r.IntN(20))]
		case 9:
			f.Text = pick(r, []string{"FILE", "überschritten (1", "upstream: ", "read_", "\"tool", "TIMEOUT", "no such text"})
		case 10:
			f.Since = x.Time.Add(time.Duration(r.IntN(2000)))
		case 11:
			f.Until = x.Time.Add(time.Duration(r.IntN(2000)))
		}
	}
	return f
}

func TestIndexAgreesWithScan(t *testing.T) {
	for seed := range uint64(3) {
		random := rand.New(rand.NewPCG(seed, 2))
		dir := t.TempDir()
		writeChains(t, dir, random)
		s := open(t, dir, failures.Options{})
		compare(t, s, dir, random, 40)
	}
}

// writeChains writes a ledger of several chains: closed ones, with closed and compressed segments, and two that are
// being written at the same time.
func writeChains(t *testing.T, dir string, random *rand.Rand) {
	t.Helper()
	for range 2 {
		l := openLedger(t, dir, ledger.Options{Instance: pick(random, []string{"web", "gateway-2"}), MaxSegmentBytes: 15 << 10, Compress: random.IntN(2) == 0})
		appendRandom(t, l, random, random.IntN(150))
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	a, b := openLedger(t, dir, ledger.Options{MaxSegmentBytes: 15 << 10}), openLedger(t, dir, ledger.Options{Instance: "b"})
	for range 5 {
		appendRandom(t, a, random, random.IntN(20))
		appendRandom(t, b, random, random.IntN(20))
	}
}

// compare compares the answers of a store with a scan, for random filters.
func compare(t *testing.T, s *failures.Store, dir string, random *rand.Rand, filters int) {
	t.Helper()
	all := scan(t, dir)
	for i := range filters {
		f := failures.Filter{}
		if i > 0 && len(all) > 0 {
			f = randomFilter(random, all)
		}
		want := slices.DeleteFunc(slices.Clone(all), func(x failures.Failure) bool { return !f.Selects(&x) })
		got := walkPages(t, s, f, 1+random.IntN(60))
		if sortTies(want); !slices.Equal(want, sortTies(got)) {
			t.Fatalf("filter %v: list (-scan +index):\n%s", f.Values(), cmp.Diff(want, got))
		}
		compareSummary(t, s, f, want)
	}
}

// sortTies orders failures of the same microsecond, which the list has in any order, by chain.
func sortTies(list []failures.Failure) []failures.Failure {
	slices.SortStableFunc(list, func(a, b failures.Failure) int {
		if order := b.Time.Compare(a.Time); order != 0 {
			return order
		}
		return strings.Compare(b.ID.Chain, a.ID.Chain)
	})
	return list
}

// walkPages returns all pages, and checks that the way back has the same failures.
func walkPages(t *testing.T, s *failures.Store, f failures.Filter, limit int) []failures.Failure {
	t.Helper()
	var list, back []failures.Failure
	page := failures.Page{Next: ""}
	for {
		var err error
		if page, err = s.List(context.Background(), f, page.Next, limit); err != nil {
			t.Fatal(err)
		}
		list = append(list, page.Failures...)
		if page.Next == "" {
			break
		}
	}
	if int(page.Total) != len(list) {
		t.Fatalf("filter %v: total %d, listed %d", f.Values(), page.Total, len(list))
	}
	back = slices.Clone(page.Failures)
	for page.Previous != "" {
		var err error
		if page, err = s.List(context.Background(), f, page.Previous, limit); err != nil {
			t.Fatal(err)
		}
		back = append(slices.Clone(page.Failures), back...)
	}
	if !slices.Equal(list, back) {
		t.Fatalf("filter %v: pages forward and backward differ:\n%s", f.Values(), cmp.Diff(list, back))
	}
	return list
}

func compareSummary(t *testing.T, s *failures.Store, f failures.Filter, want []failures.Failure) {
	t.Helper()
	sum, err := s.Summarize(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	if int(sum.Total) != len(want) {
		t.Fatalf("filter %v: %d failures, want %d", f.Values(), sum.Total, len(want))
	}
	for _, dimension := range []struct {
		got  []failures.Count
		name func(*failures.Failure) string
	}{
		{sum.Servers, func(x *failures.Failure) string { return x.Server }},
		{sum.Tools, func(x *failures.Failure) string { return x.Tool }},
		{sum.Codes, func(x *failures.Failure) string { return x.Code }},
		{sum.Classes, func(x *failures.Failure) string { return x.Class }},
		{sum.Verdicts, func(x *failures.Failure) string { return x.Verdict }},
		{sum.Origins, func(x *failures.Failure) string { return x.Origin }},
	} {
		got := map[string]uint64{}
		for _, c := range dimension.got {
			got[c.Name] += c.Count
		}
		if diff := cmp.Diff(count(want, dimension.name), got); diff != "" {
			t.Fatalf("filter %v: counts (-scan +index):\n%s", f.Values(), diff)
		}
	}
	compareBuckets(t, &sum, want)
}

func compareBuckets(t *testing.T, sum *failures.Summary, want []failures.Failure) {
	t.Helper()
	if len(want) == 0 {
		return
	}
	if !sum.First.Equal(want[len(want)-1].Time) || !sum.Last.Equal(want[0].Time) || len(sum.Buckets) > 120 {
		t.Fatalf("%s to %s in %d buckets, want %s to %s", sum.First, sum.Last, len(sum.Buckets), want[len(want)-1].Time, want[0].Time)
	}
	for i, b := range sum.Buckets {
		classes := map[string]uint64{}
		for j := range want {
			if x := &want[j]; !x.Time.Before(b.Begin) && x.Time.Before(b.Begin.Add(sum.Step)) {
				classes[x.Class]++
			}
		}
		if !maps.Equal(classes, b.Classes) || i > 0 && !b.Begin.Equal(sum.Buckets[i-1].Begin.Add(sum.Step)) {
			t.Fatalf("bucket %d of %s: %v, want %v", i, b.Begin, b.Classes, classes)
		}
	}
}

func TestMissingFolderIsAnEmptyLedger(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "later")
	s := open(t, dir, failures.Options{Poll: 10 * time.Millisecond})
	page, err := s.List(context.Background(), failures.Filter{}, "", 10)
	if err != nil || len(page.Failures) > 0 || page.Next != "" {
		t.Errorf("got %v, %v; want an empty page", page, err)
	}
	sub := s.Subscribe(failures.Filter{})
	l := openLedger(t, dir, ledger.Options{})
	appendRandom(t, l, rand.New(rand.NewPCG(1, 1)), 10)
	select {
	case <-sub.C:
	case <-time.After(time.Minute):
		t.Error("no failure of a ledger that was created later")
	}
}
