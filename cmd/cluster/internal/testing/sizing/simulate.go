package sizing

import (
	"container/heap"
	"math/rand/v2"
)

// Simulate runs n nodes that always have a batch to send for a number of batches, and returns the entries per second. The times of
// preparation and service are exponentially distributed. The same seed gives the same result.
func Simulate(s Station, n, batches int, seed uint64) float64 {
	random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a simulation
	var ready arrivals                       // when a node has its next batch ready
	for range n {
		heap.Push(&ready, random.ExpFloat64()*s.Think)
	}
	free, now := 0.0, 0.0 // when the store is free; when the last batch was stored
	for range batches {
		arrived, ok := heap.Pop(&ready).(float64)
		if !ok {
			return 0
		}
		now = max(free, arrived) + random.ExpFloat64()*s.Service
		free = now
		heap.Push(&ready, now+random.ExpFloat64()*s.Think)
	}
	return float64(batches*s.Batch) / now
}

// arrivals is a heap of times.
type arrivals []float64

func (a arrivals) Len() int           { return len(a) }
func (a arrivals) Less(i, j int) bool { return a[i] < a[j] }
func (a arrivals) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }

// Push adds a time. It is called by package heap.
func (a *arrivals) Push(x any) {
	if at, ok := x.(float64); ok {
		*a = append(*a, at)
	}
}

// Pop removes the last time. It is called by package heap.
func (a *arrivals) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

// Load is an offered load of many nodes on one store.
type Load struct {
	Nodes   int
	Rate    float64 // entries per second of each node
	Seconds float64 // length of the simulation
	Down    float64 // when the store becomes unavailable, and for how long; 0 for never
	DownFor float64
}

// Result is what a simulated load did.
type Result struct {
	Offered, Stored float64 // entries per second
	Backlog         int     // the largest number of entries that waited
	Drained         float64 // seconds from the return of the store until at most one batch waited; negative if that did not happen
	Left            int     // entries that wait at the end
}

// Offer simulates nodes that record entries at random times (a Poisson process), and a store that takes up to a batch at a time.
// A batch that is not full takes less time, in proportion to its entries, but at least that of one tenth of a batch.
func Offer(s Station, l Load, seed uint64) Result {
	random := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // a simulation
	total := float64(l.Nodes) * l.Rate
	var (
		r              Result
		waiting        int
		arrived, taken int
		next           = random.ExpFloat64() / total
		back           = l.Down + l.DownFor
	)
	r.Drained = -1
	for now := 0.0; now < l.Seconds; {
		for next <= now {
			waiting++
			arrived++
			next += random.ExpFloat64() / total
		}
		r.Backlog = max(r.Backlog, waiting)
		if l.DownFor > 0 && now >= back && r.Drained < 0 && waiting <= s.Batch {
			r.Drained = now - back
		}
		switch {
		case l.DownFor > 0 && now >= l.Down && now < back:
			now = min(back, max(next, now)) // nothing is stored; count the arrivals one by one
		case waiting == 0:
			now = next
		default:
			n := min(waiting, s.Batch)
			now += random.ExpFloat64() * s.Service * max(0.1, float64(n)/float64(s.Batch))
			waiting -= n
			taken += n
		}
	}
	r.Offered, r.Stored, r.Left = float64(arrived)/l.Seconds, float64(taken)/l.Seconds, waiting
	return r
}
