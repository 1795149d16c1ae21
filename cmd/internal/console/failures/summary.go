package failures

import (
	"cmp"
	"slices"
	"time"
)

// Limits of a summary.
const (
	maxBuckets = 120
	maxCounts  = 100
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

// topCounts returns the largest counts and the sum of the others.
func topCounts(counts map[string]uint64) []Count {
	list := make([]Count, 0, len(counts))
	for name, n := range counts {
		list = append(list, Count{name, n})
	}
	slices.SortFunc(list, func(a, b Count) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name)) })
	if len(list) <= maxCounts {
		return list
	}
	rest := Count{Name: Other}
	for _, c := range list[maxCounts-1:] {
		rest.Count += c.Count
	}
	return append(slices.Clip(list[:maxCounts-1]), rest)
}
