package telemetry

import (
	"fmt"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
)

func TestLabelsOfCallsAreBounded(t *testing.T) {
	t.Parallel()
	c := NewCalls()
	now := time.Now()
	for i := range 1000 {
		c.CallEnded(&gateway.Ending{IsCall: true, Failure: candor.Failure{Upstream: fmt.Sprint("server-", i), Verdict: fmt.Sprint("outcome-", i), Error: candor.New(candor.CodeTimeout, "")}, Began: now, Ended: now.Add(time.Millisecond)})
	}
	c.CallEnded(&gateway.Ending{Failure: candor.Failure{Upstream: "server-1", Verdict: "stray"}, Began: now, Ended: now})                                                        // not a call
	c.CallEnded(&gateway.Ending{IsCall: true, Failure: candor.Failure{Upstream: "server-1", Error: candor.New(candor.CodeTimeout, "")}, Began: now, Ended: now.Add(-time.Hour)}) // the clock was set back
	metrics := make(chan prometheus.Metric, 2000)
	c.Collect(metrics)
	close(metrics)
	series, count := 0, uint64(0)
	for m := range metrics {
		var out dto.Metric
		if err := m.Write(&out); err != nil {
			t.Fatal(err)
		}
		series++
		count += out.GetHistogram().GetSampleCount()
		if out.GetHistogram().GetSampleSum() < 0 {
			t.Errorf("negative time: %v", &out)
		}
	}
	if series != 201 || count != 1001 {
		t.Errorf("%d series with %d calls, want 201 with 1001", series, count)
	}
}

func TestFullQueueDropsAndCounts(t *testing.T) {
	t.Parallel()
	q := &queue{limit: 3}
	for range 5 {
		q.admit()
	}
	if q.lost(false) != 2 || q.lost(true) != 5 {
		t.Errorf("lost %d, and %d at the end", q.lost(false), q.lost(true))
	}
	q.done(2, nil)
	q.done(1, fmt.Errorf("the receiver is down"))
	if !q.admit() || q.lost(false) != 3 || q.lost(true) != 4 {
		t.Errorf("lost %d, and %d at the end", q.lost(false), q.lost(true))
	}
}
