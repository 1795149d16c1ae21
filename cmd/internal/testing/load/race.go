package load

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Race measures contestants in alternating rounds, because on a shared machine only simultaneous measurements are comparable.
type Race struct {
	// Measure returns the measured figure, and the number of calls made for it.
	Measure func(Callers) (figure float64, calls int64, err error)
	entered []*Contestant
}

// Contestant is one of several routes to the same server, with a figure for each round.
type Contestant struct {
	Name    string
	Callers Callers
	figures []float64
	calls   int64
	cpu     time.Duration
}

// Enter adds a contestant.
func (r *Race) Enter(c *Contestant) { r.entered = append(r.entered, c) }

// Round measures each contestant once.
func (r *Race) Round() error {
	for _, c := range r.entered {
		before := cpuTime()
		figure, calls, err := r.Measure(c.Callers)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		c.figures = append(c.figures, figure)
		c.calls += calls
		c.cpu += cpuTime() - before
	}
	return nil
}

// Forget drops the rounds so far. It is called after a warm-up.
func (r *Race) Forget() {
	for _, c := range r.entered {
		c.figures, c.calls, c.cpu = nil, 0, 0
	}
}

// Figure returns the median of the contestant's figures.
func (c *Contestant) Figure() float64 { return median(c.figures) }

// CPU returns the total CPU time of a call in microseconds, including the caller, the server and the processes between them.
func (c *Contestant) CPU() float64 { return float64(c.cpu.Microseconds()) / float64(c.calls) }

func median(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

// Rate returns a function that measures the calls per second of a tool with that many callers, for about the duration long.
func Rate(callers int, tool string, long time.Duration) func(Callers) (float64, int64, error) {
	return func(c Callers) (float64, int64, error) {
		var calls atomic.Int64
		var wg sync.WaitGroup
		failures := make([]error, callers)
		began := time.Now()
		for i := range callers {
			wg.Go(func() {
				made := int64(0)
				for time.Since(began) < long && failures[i] == nil {
					failures[i] = c.Call(i, tool)
					made++
				}
				calls.Add(made)
			})
		}
		wg.Wait()
		return float64(calls.Load()) / time.Since(began).Seconds(), calls.Load(), errors.Join(failures...)
	}
}

// Latency returns a function that measures the median time in microseconds of that many sequential calls of a tool.
func Latency(calls int, tool string) func(Callers) (float64, int64, error) {
	return func(c Callers) (float64, int64, error) {
		took := make([]float64, calls)
		for i := range took {
			began := time.Now()
			if err := c.Call(0, tool); err != nil {
				return 0, 0, err
			}
			took[i] = float64(time.Since(began).Nanoseconds()) / 1e3
		}
		return median(took), int64(calls), nil
	}
}
