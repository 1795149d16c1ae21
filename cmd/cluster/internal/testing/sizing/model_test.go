package sizing

import (
	"math"
	"testing"
)

// TestModelAndSimulationAgree checks the closed formula against a simulation that shares none of its code.
func TestModelAndSimulationAgree(t *testing.T) {
	t.Parallel()
	for _, s := range []Station{{Think: 0.01, Service: 0.004, Batch: 64}, {Think: 0.001, Service: 0.02, Batch: 64}, {Think: 0.1, Service: 0.0005, Batch: 16}} {
		for _, n := range []int{1, 2, 4, 8, 100, 1000} {
			model, simulated := s.Throughput(n), Simulate(s, n, 40_000, 7)
			if d := math.Abs(model-simulated) / simulated; d > 0.05 {
				t.Errorf("%+v, %d nodes: the model says %.0f entries/s, the simulation %.0f", s, n, model, simulated)
			}
		}
		if c := s.Throughput(100_000); math.Abs(c-s.Capacity()) > 0.01*s.Capacity() {
			t.Errorf("%+v: 100,000 nodes store %.0f entries/s, want the capacity %.0f", s, c, s.Capacity())
		}
	}
}

func TestFitFindsTheStation(t *testing.T) {
	t.Parallel()
	want := Station{Think: 0.02, Service: 0.006, Batch: 64}
	var points []Point
	for _, n := range []int{1, 2, 4, 8} {
		points = append(points, Point{n, want.Throughput(n)})
	}
	got, err := Fit(points, want.Batch)
	if err != nil || got.Deviation(points) > 0.01 || math.Abs(got.Service-want.Service) > 0.05*want.Service {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	if _, err := Fit(points[:1], 64); err == nil {
		t.Error("one point was accepted")
	}
}

// TestBacklogOfAnOutageIsPredicted compares the formula for an outage with the simulation.
func TestBacklogOfAnOutageIsPredicted(t *testing.T) {
	t.Parallel()
	s := Station{Think: 0.01, Service: 0.004, Batch: 64}
	for _, load := range []float64{0.2, 0.5, 0.7} {
		l := Load{Nodes: 1000, Rate: load * s.Capacity() / 1000, Seconds: 120, Down: 5, DownFor: 20}
		r := Offer(s, l, 3)
		backlog, drain := Outage(float64(l.Nodes)*l.Rate, s.Capacity(), l.DownFor)
		if math.Abs(float64(r.Backlog)-backlog) > 0.05*backlog || math.Abs(r.Drained-drain) > 0.2*drain || r.Left > 10*s.Batch {
			t.Errorf("load %.1f: backlog %d and %.1f s in the simulation, %.0f and %.1f s in the formula; %d left", load, r.Backlog, r.Drained, backlog, drain, r.Left)
		}
	}
	if _, drain := Outage(10, 10, 1); !math.IsInf(drain, 1) {
		t.Errorf("a store without spare capacity drains in %v s", drain)
	}
}

// TestSaturationIsVisible checks that above the capacity the backlog grows, and that below it it does not.
func TestSaturationIsVisible(t *testing.T) {
	t.Parallel()
	s := Station{Think: 0.01, Service: 0.004, Batch: 64}
	below := Offer(s, Load{Nodes: 10_000, Rate: 0.7 * s.Capacity() / 10_000, Seconds: 60}, 1)
	above := Offer(s, Load{Nodes: 10_000, Rate: 1.2 * s.Capacity() / 10_000, Seconds: 60}, 1)
	if below.Left > 20*s.Batch || below.Stored < 0.99*below.Offered {
		t.Errorf("at 70 %% of the capacity: %+v", below)
	}
	if want := 0.2 * s.Capacity() * 60; math.Abs(float64(above.Left)-want) > 0.15*want || math.Abs(above.Stored-s.Capacity()) > 0.05*s.Capacity() {
		t.Errorf("at 120 %% of the capacity: %+v, want %.0f entries left", above, want)
	}
}
