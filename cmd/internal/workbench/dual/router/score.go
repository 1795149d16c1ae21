// Package router chooses between servers that offer the same tool. It measures each call, ranks the servers by these
// measurements, and tries the next server if a failure allows it.
package router

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Call is one measured call of an upstream.
type Call struct {
	Failed  bool // by a fault of the upstream, not of the caller
	Latency time.Duration
	Cost    float64
}

// Score is the score of an upstream. Value is computed only from the other fields:
//
//	0.6 · reliability + 0.25 · speed + 0.15 · thrift
type Score struct {
	Upstream    string  `json:"upstream"`
	Value       float64 `json:"score"`       // from 0 to 1
	Reliability float64 `json:"reliability"` // (successes+1)/(calls+2)
	Speed       float64 `json:"speed"`       // 1/(1+median latency in seconds); 0.5 if nothing was measured
	Thrift      float64 `json:"thrift"`      // 1/(1+cost of a call)
	Calls       int     `json:"calls"`       // number of measured calls
	Failures    int     `json:"failures"`
	LatencyMs   float64 `json:"latency_ms"` // median of the successes
	P95Ms       float64 `json:"p95_ms"`
	Cost        float64 `json:"cost"` // of a call
}

// Window is the number of most recent calls that count.
const Window = 100

// ScoreOf computes the score of an upstream from its last calls.
func ScoreOf(upstream string, cost float64, calls []Call) Score {
	s := Score{Upstream: upstream, Calls: len(calls), Cost: cost}
	var latencies []time.Duration
	for _, c := range calls {
		if c.Failed {
			s.Failures++
			continue
		}
		latencies = append(latencies, c.Latency)
	}
	slices.Sort(latencies)
	s.Reliability = round(float64(len(latencies)+1) / float64(len(calls)+2))
	s.Speed = 0.5
	if len(latencies) > 0 {
		median := latencies[len(latencies)/2]
		s.LatencyMs = milliseconds(median)
		s.P95Ms = milliseconds(latencies[len(latencies)*95/100])
		s.Speed = round(1 / (1 + median.Seconds()))
	}
	s.Thrift = round(1 / (1 + max(cost, 0)))
	s.Value = round(0.6*s.Reliability + 0.25*s.Speed + 0.15*s.Thrift)
	return s
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func round(v float64) float64 { return math.Round(v*10000) / 10000 }

// Rank sorts scores, best first. Equal scores keep the order of the configuration.
func Rank(scores []Score) {
	slices.SortStableFunc(scores, func(a, b Score) int { return cmp.Compare(b.Value, a.Value) })
}
