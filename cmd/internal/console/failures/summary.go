package failures

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/ledger"
)

// Limits of a summary.
const (
	maxBuckets = 120
	maxCounts  = 100
	maxClasses = 30 // of a bucket, more than the contract has
)

// steps are the lengths of buckets. The shortest one is used that needs at most maxBuckets; after the last, multiples
// of it.
var steps = []time.Duration{
	time.Second, 5 * time.Second, 15 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 3 * time.Hour,
	6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour,
}

// stepFor returns the length of a bucket for a span of time, and the beginning of the first bucket.
func stepFor(first, last time.Time) (step time.Duration, begin time.Time) {
	fits := func(step time.Duration) bool {
		return last.Truncate(step).Sub(first.Truncate(step)) < maxBuckets*step
	}
	for _, step := range steps {
		if fits(step) {
			return step, first.Truncate(step)
		}
	}
	week := steps[len(steps)-1]
	step = week
	for !fits(step) {
		step += week * max(1, time.Duration(last.Sub(first)/week)/maxBuckets)
	}
	return step, first.Truncate(step)
}

// newBuckets returns empty buckets without gaps.
func newBuckets(first, last time.Time) (time.Duration, []Bucket) {
	step, begin := stepFor(first, last)
	buckets := make([]Bucket, last.Truncate(step).Sub(begin)/step+1)
	for i := range buckets {
		buckets[i] = Bucket{Begin: begin.Add(time.Duration(i) * step), Classes: map[string]uint64{}}
	}
	return step, buckets
}

// named returns the name under which a value is counted.
func named(s string) string { return cmp.Or(s, None) }

// Summarize counts the failures that a filter selects.
func (s *Store) Summarize(ctx context.Context, f Filter) (sum Summary, err error) { //nolint:gocritic // a value
	err = s.db.read(ctx, func(c *sqlite3.Conn) error { return sum.read(c, f.selection()) })
	if err == nil && !s.options.Nodes {
		sum.Nodes = nil
	}
	return sum, err
}

func (sum *Summary) read(c *sqlite3.Conn, all selection) error {
	err := query(c, "SELECT count(*), min(time), max(time)"+all.from()+all.where(), all.args, func(st *sqlite3.Stmt) {
		sum.Total, sum.First, sum.Last = uint64(st.ColumnInt64(0)), micros(st.ColumnInt64(1)), micros(st.ColumnInt64(2)) //nolint:gosec // a count
	})
	if err != nil || sum.Total == 0 {
		*sum = Summary{Buckets: []Bucket{}}
		sum.count(nil, nil)
		return err
	}
	list, chains := map[int64]names{}, map[int64]string{}
	err = errors.Join(
		query(c, "SELECT id, server, tool, code, class, verdict, origin, outcome FROM names", nil, func(st *sqlite3.Stmt) {
			list[st.ColumnInt64(0)] = names{st.ColumnText(1), st.ColumnText(2), st.ColumnText(3), st.ColumnText(4), st.ColumnText(5), st.ColumnText(6), st.ColumnText(7)}
		}),
		query(c, "SELECT id, node FROM chains", nil, func(st *sqlite3.Stmt) { chains[st.ColumnInt64(0)] = st.ColumnText(1) }))
	if err != nil {
		return err
	}
	sum.Step, sum.Buckets = newBuckets(sum.First, sum.Last)
	sum.Seconds = sum.Step.Seconds()
	byNames, byChain := map[int64]uint64{}, map[int64]uint64{}
	begin, step := sum.Buckets[0].Begin.UnixMicro(), sum.Step.Microseconds()
	err = query(c, "SELECT time, names, chain"+all.from()+all.where(), all.args, func(st *sqlite3.Stmt) {
		id := st.ColumnInt64(1)
		byNames[id]++
		byChain[st.ColumnInt64(2)]++
		sum.Buckets[(st.ColumnInt64(0)-begin)/step].add(named(list[id].class))
	})
	sum.count(list, byNames)
	nodes := map[string]uint64{}
	for id, n := range byChain {
		nodes[chains[id]] += n
	}
	sum.Nodes = topCounts(nodes)
	return err
}

// add counts a failure of a class.
func (b *Bucket) add(class string) {
	if _, known := b.Classes[class]; !known && len(b.Classes) >= maxClasses-1 {
		class = Other
	}
	b.Total++
	b.Classes[class]++
}

// count sets the lists.
func (sum *Summary) count(list map[int64]names, byNames map[int64]uint64) {
	var counts [6]map[string]uint64
	for i := range counts {
		counts[i] = map[string]uint64{}
	}
	for id, count := range byNames {
		n := list[id]
		suspected := n.outcome == string(ledger.OutcomeSuspected)
		if suspected {
			sum.Suspected += count
		}
		if suspected || n.verdict == string(contract.VerdictMasked) {
			sum.Masked += count
		}
		for i, name := range []string{n.server, n.tool, n.code, n.class, n.verdict, n.origin} {
			counts[i][named(name)] += count
		}
	}
	for i, to := range []*[]Count{&sum.Servers, &sum.Tools, &sum.Codes, &sum.Classes, &sum.Verdicts, &sum.Origins} {
		*to = topCounts(counts[i])
	}
}

// topCounts returns the largest counts, and the sum of the others.
func topCounts(counts map[string]uint64) []Count {
	list := make([]Count, 0, len(counts))
	for name, n := range counts {
		list = append(list, Count{name, n})
	}
	slices.SortFunc(list, func(a, b Count) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name)) })
	if len(list) <= maxCounts {
		return list
	}
	rest := uint64(0)
	for _, c := range list[maxCounts-1:] {
		rest += c.Count
	}
	return append(slices.Clip(list[:maxCounts-1]), Count{Other, rest})
}
