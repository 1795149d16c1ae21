package failures

import (
	"cmp"
	"context"
	"slices"
	"time"

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
func (s *Store) Summarize(ctx context.Context, f Filter) (Summary, error) { //nolint:gocritic // a value
	q := s.newQuery(&f)
	counts := make([]uint64, len(q.view.groups))
	first, last := int64(0), int64(0)
	sum := Summary{}
	nodes := map[string]uint64{}
	err := q.each(ctx, func(v *segmentView, matched []uint32) {
		low, high := v.rows[matched[0]].time, v.rows[matched[len(matched)-1]].time
		if sum.Total == 0 || low < first {
			first = low
		}
		if sum.Total == 0 || high > last {
			last = high
		}
		sum.Total += uint64(len(matched))
		if node := nodeOf(v.chain); node != "" {
			nodes[node] += uint64(len(matched))
		}
		for _, i := range matched {
			counts[v.rows[i].group]++
		}
	})
	if err != nil || sum.Total == 0 {
		return Summary{}, err
	}
	sum.First, sum.Last = micros(first), micros(last)
	sum.count(q.view.groups, counts)
	sum.Nodes = topCounts(nodes, 0)
	return sum, sum.fill(ctx, q)
}

// count sets the lists from the counts of groups.
func (sum *Summary) count(groups []group, counts []uint64) {
	for i := range counts {
		suspected := groups[i].outcome == string(ledger.OutcomeSuspected)
		if suspected {
			sum.Suspected += counts[i]
		}
		if suspected || groups[i].verdict == string(contract.VerdictMasked) {
			sum.Masked += counts[i]
		}
	}
	for i, list := range []*[]Count{&sum.Servers, &sum.Tools, &sum.Codes, &sum.Classes, &sum.Verdicts, &sum.Origins} {
		names, rest := map[string]uint64{}, uint64(0)
		for id, n := range counts {
			switch g := &groups[id]; {
			case n == 0:
			case g.all || g.more && i == 1:
				rest += n
			default:
				names[named(*g.names()[i])] += n
			}
		}
		*list = topCounts(names, rest)
	}
}

// fill sets the buckets.
func (sum *Summary) fill(ctx context.Context, q *query) error {
	var classes []string
	classOf := make([]int, len(q.view.groups))
	for i := range classOf {
		name := named(q.view.groups[i].class)
		at := slices.Index(classes, name)
		if at < 0 && len(classes) == maxClasses-1 {
			name = Other
			at = slices.Index(classes, name)
		}
		if at < 0 && len(classes) < maxClasses {
			at = len(classes)
			classes = append(classes, name)
		}
		classOf[i] = max(at, 0)
	}
	sum.Step, sum.Buckets = newBuckets(sum.First, sum.Last)
	counts := make([][maxClasses]uint64, len(sum.Buckets))
	begin, step := sum.Buckets[0].Begin.UnixMicro(), sum.Step.Microseconds()
	err := q.each(ctx, func(v *segmentView, matched []uint32) {
		for _, i := range matched {
			r := &v.rows[i]
			at := min(max((r.time-begin)/step, 0), int64(len(counts)-1)) // a damaged chain may not be in order
			counts[at][classOf[r.group]]++
		}
	})
	for i := range counts {
		b := &sum.Buckets[i]
		for at, n := range counts[i] {
			if n > 0 {
				b.Total += n
				b.Classes[classes[at]] += n
			}
		}
	}
	return err
}

// topCounts returns the largest counts, and the sum of the others, which rest begins with.
func topCounts(counts map[string]uint64, rest uint64) []Count {
	list := make([]Count, 0, len(counts))
	for name, n := range counts {
		list = append(list, Count{name, n})
	}
	slices.SortFunc(list, func(a, b Count) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name)) })
	if len(list) > maxCounts || len(list) == maxCounts && rest > 0 {
		for _, c := range list[maxCounts-1:] {
			rest += c.Count
		}
		list = slices.Clip(list[:maxCounts-1])
	}
	if rest > 0 {
		list = append(list, Count{Other, rest})
	}
	return list
}
