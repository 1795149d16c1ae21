package ledgercmd

import (
	"cmp"
	"slices"

	"github.com/candor-mcp/candor/ledger"
	ledgerexport "github.com/candor-mcp/candor/ledger/export"
)

// The dimensions that package export does not have.
const (
	byNode = "node"
	byKind = "kind" // counts all entries, not only failures
)

// statsReport is the output of `candor ledger stats --json`.
type statsReport struct {
	ledgerexport.Stats
	Nodes []nodeStats `json:"nodes,omitempty"` // of a store
}

// nodeStats is the count of one node.
type nodeStats struct {
	Node      string                `json:"node"`
	Entries   uint64                `json:"entries"`
	Failures  uint64                `json:"failures"`
	Suspected uint64                `json:"suspected"`
	Skipped   uint64                `json:"skipped"`
	Kinds     map[ledger.Kind]int64 `json:"kinds"`
}

// total adds up the counts of nodes.
type total struct {
	sum    statsReport
	counts map[string]uint64
}

func newTotal(by string) *total {
	t := &total{counts: map[string]uint64{}}
	t.sum.By, t.sum.Kinds, t.sum.Buckets = by, map[ledger.Kind]int64{}, []ledgerexport.Bucket{}
	return t
}

// add adds the count of a node, or of a folder if it has no name.
func (t *total) add(node string, s ledgerexport.Stats) {
	t.sum.Entries += s.Entries
	t.sum.Failures += s.Failures
	t.sum.Suspected += s.Suspected
	t.sum.Skipped += s.Skipped
	if !s.Begin.IsZero() && (t.sum.Begin.IsZero() || s.Begin.Before(t.sum.Begin)) {
		t.sum.Begin = s.Begin
	}
	if s.End.After(t.sum.End) {
		t.sum.End = s.End
	}
	for kind, n := range s.Kinds {
		t.sum.Kinds[kind] += n
	}
	if node != "" {
		t.sum.Nodes = append(t.sum.Nodes, nodeStats{node, s.Entries, s.Failures, s.Suspected, s.Skipped, s.Kinds})
	}
	switch t.sum.By {
	case byNode:
		t.counts[cmp.Or(node, "this machine")] += s.Failures
	case byKind:
		for kind, n := range s.Kinds {
			t.counts[string(kind)] += uint64(n) //nolint:gosec // a count
		}
	default:
		for _, b := range s.Buckets {
			t.bucket(b)
		}
	}
}

// maxBuckets limits the memory of a count, as for one ledger.
const maxBuckets = 10000

func (t *total) bucket(b ledgerexport.Bucket) {
	if _, known := t.counts[b.Name]; !known && len(t.counts) >= maxBuckets {
		b.Name = "other"
	}
	t.counts[b.Name] += b.Count
}

// result returns the sum, with the largest count first, or hours in order of time.
func (t *total) result() statsReport {
	for name, n := range t.counts {
		t.sum.Buckets = append(t.sum.Buckets, ledgerexport.Bucket{Name: name, Count: n})
	}
	slices.SortFunc(t.sum.Buckets, func(a, b ledgerexport.Bucket) int {
		if t.sum.By != "hour" && a.Count != b.Count {
			return cmp.Compare(b.Count, a.Count)
		}
		return cmp.Compare(a.Name, b.Name)
	})
	return t.sum
}
