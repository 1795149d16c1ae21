package client_test

import (
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/client"
	"github.com/candor-mcp/candor/codes/workrail"
)

// reports collects the reports of an aggregator.
type reports struct {
	mu  sync.Mutex
	all []client.Aggregate
}

func (r *reports) add(a client.Aggregate) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, a)
}

func (r *reports) take() []client.Aggregate {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.all
	r.all = nil
	return all
}

func withAggregator(t *testing.T, test func(t *testing.T, a *client.Aggregator, r *reports)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &reports{}
		a := &client.Aggregator{Report: r.add}
		test(t, a, r)
		a.Stop()
	})
}

func failure(code candor.Code, tool string, n int) *candor.Error {
	return candor.New(code, "", candor.WithTool(tool), candor.WithRef("r"+strconv.Itoa(n)))
}

func TestFirstErrorIsReportedAtOnce(t *testing.T) {
	withAggregator(t, func(t *testing.T, a *client.Aggregator, r *reports) {
		began := time.Now()
		for i := range 8 {
			a.Add(failure(candor.CodeTimeout, "read", i))
			time.Sleep(time.Second)
		}
		first := r.take()
		if len(first) != 1 || first[0].Count != 1 || first[0].First.Ref() != "r0" {
			t.Fatalf("told at once: %+v", first)
		}
		time.Sleep(time.Minute)
		rest := r.take()
		if len(rest) != 1 || rest[0].Count != 7 || rest[0].First.Ref() != "r1" || len(rest[0].Refs) != 5 {
			t.Fatalf("told later: %+v", rest)
		}
		if since, last := rest[0].Since.Sub(began), rest[0].Last.Sub(began); since != time.Second || last != 7*time.Second {
			t.Errorf("from %v to %v", since, last)
		}
		time.Sleep(10 * time.Minute)
		if more := r.take(); len(more) != 0 {
			t.Errorf("told of nothing: %+v", more)
		}
		a.Add(failure(candor.CodeTimeout, "read", 9))
		if again := r.take(); len(again) != 1 || again[0].First.Ref() != "r9" {
			t.Errorf("after a quiet time: %+v", again)
		}
	})
}

func TestRepeatedErrorsAreReportedOncePerWindow(t *testing.T) {
	withAggregator(t, func(t *testing.T, a *client.Aggregator, r *reports) {
		for range 600 { // ten minutes
			a.Add(failure(candor.CodeTimeout, "read", 0))
			time.Sleep(time.Second)
		}
		got, total := r.take(), 0
		for _, g := range got {
			total += g.Count
		}
		a.Flush()
		for _, g := range r.take() {
			total += g.Count
		}
		if len(got) < 10 || len(got) > 11 || total != 600 {
			t.Errorf("%d reports of %d errors", len(got), total)
		}
	})
}

func TestKindsDifferByCodeAndTool(t *testing.T) {
	withAggregator(t, func(t *testing.T, a *client.Aggregator, r *reports) {
		a.Add(failure(candor.CodeNotFound, "read", 0))
		a.Add(failure(workrail.NotFound, "read", 1)) // the same symbol of another domain
		a.Add(failure(candor.CodeNotFound, "write", 2))
		a.Add(failure(candor.CodeNotFound, "read", 3))
		a.Add(nil)
		if got := r.take(); len(got) != 3 {
			t.Errorf("told of %d kinds: %+v", len(got), got)
		}
	})
}

func TestInventedKindsCostNeitherMemoryNorReports(t *testing.T) {
	withAggregator(t, func(t *testing.T, a *client.Aggregator, r *reports) {
		a.MaxKinds = 10
		for i := range 5000 {
			a.Add(failure(candor.CodeToolNotFound, "tool-"+strconv.Itoa(i), i))
		}
		if at := r.take(); len(at) != 10 {
			t.Errorf("%d reports at once", len(at))
		}
		time.Sleep(time.Minute)
		others := r.take()
		if len(others) != 1 || !others[0].Other || others[0].Count != 4990 || others[0].First.CallInfo().Tool != "tool-10" {
			t.Errorf("the others: %+v", others)
		}
	})
}

func TestErrorsAfterStopAreReported(t *testing.T) {
	withAggregator(t, func(t *testing.T, a *client.Aggregator, r *reports) {
		a.Add(failure(candor.CodeTimeout, "read", 0))
		a.Add(failure(candor.CodeTimeout, "read", 1))
		a.Stop()
		a.Add(failure(candor.CodeTimeout, "read", 2))
		a.Add(failure(candor.CodeTimeout, "read", 3))
		if got := r.take(); len(got) != 4 {
			t.Errorf("%d reports: %+v", len(got), got)
		}
	})
}

func TestCountsAreExactUnderConcurrency(t *testing.T) {
	withAggregator(t, func(t *testing.T, a *client.Aggregator, r *reports) {
		a.Window, a.MaxKinds = 10*time.Millisecond, 3
		var adding sync.WaitGroup
		for g := range 8 {
			adding.Go(func() {
				for i := range 500 {
					a.Add(failure(candor.CodeTimeout, "tool-"+strconv.Itoa((g+i)%6), i))
					if i%50 == 0 {
						time.Sleep(time.Millisecond)
					}
					if i == 250 {
						a.Flush()
					}
				}
			})
		}
		adding.Wait()
		a.Stop()
		total := 0
		for _, g := range r.take() {
			total += g.Count
		}
		if total != 4000 {
			t.Errorf("4000 errors were added, %d reported", total)
		}
	})
}

func TestWindowThatEndsDuringFlushIsReportedOnce(t *testing.T) {
	withAggregator(t, func(t *testing.T, a *client.Aggregator, r *reports) {
		for range 200 {
			a.Add(failure(candor.CodeTimeout, "read", 0))
			a.Add(failure(candor.CodeTimeout, "read", 1))
			time.Sleep(time.Minute) // wakes at the same time
			a.Flush()
		}
		total := 0
		for _, g := range r.take() {
			total += g.Count
		}
		if total != 400 {
			t.Errorf("400 errors were added, %d reported", total)
		}
	})
}
