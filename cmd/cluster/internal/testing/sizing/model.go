// Package sizing predicts what a fleet needs: how many entries per second a store takes from a number of nodes, how much disk, memory and
// network that costs, and how a backlog grows and shrinks. The model is compared with measurements of this repository's own engines
// (testdata/measured.json), and a simulation with both. docs/sizing.md is written from it.
package sizing

import (
	"errors"
	"math"
)

// Station is a store as its nodes see it: each node prepares a batch, which takes Think, and then waits for the store, which serves one
// batch after the other, each for Service. Both are means, in seconds.
type Station struct {
	Think   float64 `json:"think_s"`
	Service float64 `json:"service_s"`
	Batch   int     `json:"batch"` // entries
}

// Throughput returns the entries per second that n nodes store which always have a batch to send. It is the mean value analysis of a
// closed network with one queue: with q batches at the store, a new one waits for q+1 services.
func (s Station) Throughput(n int) float64 {
	queue, rate := 0.0, 0.0
	for k := 1; k <= n; k++ {
		response := s.Service * (1 + queue)
		rate = float64(k) / (s.Think + response)
		queue = rate * response
	}
	return rate * float64(s.Batch)
}

// Capacity returns the entries per second that the store takes from any number of nodes.
func (s Station) Capacity() float64 { return float64(s.Batch) / s.Service }

// Point is the measured throughput of a number of nodes, in entries per second.
type Point struct {
	Nodes int     `json:"nodes"`
	Rate  float64 `json:"entries_per_s"`
}

// Fit returns the station whose largest relative deviation from the points is smallest.
func Fit(points []Point, batch int) (Station, error) {
	if len(points) < 2 {
		return Station{}, errors.New("fitting a model needs two points")
	}
	// The throughput of one node is Batch/(Think+Service), so only the share of Service and a factor near one are unknown.
	whole := float64(batch) * float64(points[0].Nodes) / points[0].Rate
	best, least := Station{}, math.Inf(1)
	for share := 0.005; share <= 1; share += 0.005 {
		for factor := 0.8; factor <= 1.25; factor += 0.01 {
			s := Station{Think: whole * factor * (1 - share), Service: whole * factor * share, Batch: batch}
			if d := s.Deviation(points); d < least {
				best, least = s, d
			}
		}
	}
	return best, nil
}

// Deviation returns the largest relative difference between the model and the points.
func (s Station) Deviation(points []Point) float64 {
	worst := 0.0
	for _, p := range points {
		worst = max(worst, math.Abs(s.Throughput(p.Nodes)-p.Rate)/p.Rate)
	}
	return worst
}

// Engine is what was measured of one engine.
type Engine struct {
	Name    string  `json:"name"`
	Batch   int     `json:"batch"`
	Points  []Point `json:"points"`
	Copies  int     `json:"copies"`          // of each line
	Disk    float64 `json:"bytes_per_entry"` // of all copies together
	Wire    float64 `json:"wire_bytes"`      // from the node to the store, per entry
	Subject float64 `json:"chain_memory"`    // bytes of memory of each server per chain; 0 if not measured
}

// Measured is the content of testdata/measured.json.
type Measured struct {
	When    string   `json:"when"`
	Machine string   `json:"machine"`
	Line    float64  `json:"line_bytes"`  // mean size of a line
	Local   float64  `json:"local_bytes"` // of the node's own ledger per entry
	Ledger  Engine   `json:"ledger"`      // the nodes' own ledgers, each with its own folder on the same disk
	Stores  []Engine `json:"stores"`
}

// headroom is the share of the capacity that a plan uses. Above it queues grow, and a backlog takes long to shrink.
const headroom = 0.7

// Plan is what a fleet needs.
type Plan struct {
	Nodes   int
	Rate    float64 // entries per second of all nodes
	Stores  int     // separate streams or databases, so that each has headroom
	DiskDay float64 // bytes per day of all copies
	Network float64 // bytes per second from all nodes
	Memory  float64 // bytes of memory for the chains, per server of one store
	Spool   float64 // bytes that one node keeps during an outage of an hour
	Drain   float64 // seconds until the backlog of such an outage is stored
}

// Size returns the plan for nodes that record rate entries per second each, in chains that end with the process: chains is their
// number per node within the time that entries are kept.
func Size(m Measured, e Engine, s Station, nodes int, rate float64, chains int) Plan {
	total := float64(nodes) * rate
	p := Plan{Nodes: nodes, Rate: total, Stores: max(1, int(math.Ceil(total/(headroom*s.Capacity()))))}
	p.DiskDay = total * 86400 * e.Disk
	p.Network = total * e.Wire
	p.Memory = float64(nodes*chains) / float64(p.Stores) * e.Subject
	p.Spool = rate * 3600 * m.Local
	_, p.Drain = Outage(total/float64(p.Stores), s.Capacity(), 3600)
	return p
}

// Outage returns the largest backlog of an outage, in entries, and how long it takes until it is stored after the store is back. It is
// infinite if the store has no capacity to spare.
func Outage(rate, capacity, seconds float64) (backlog, drain float64) {
	backlog = rate * seconds
	if capacity <= rate {
		return backlog, math.Inf(1)
	}
	return backlog, backlog / (capacity - rate)
}
