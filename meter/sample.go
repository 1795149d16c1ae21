package meter

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/candor-mcp/candor/internal/truncate"
)

// Sample configures sampling of the breakdown by tool and verdict, so that many failures cost less. The total and the
// counts by code, symbol and domain stay exact. At most one of the two methods may be set; the zero Sample disables sampling.
type Sample struct {
	// Every keeps the tool and verdict of one of every N failures of a code, at a random position among each N, and counts it N
	// times. 1 is the same as 0.
	//
	// A count c is then an unbiased estimate, in any order of the failures, and its standard error is at most
	// √((N−1)·c). For each code, the sum of all counts differs from the exact number by less than N.
	Every int

	// Rate and Burst give each code a token bucket: tool and verdict are kept for at most Burst failures at once and Rate per
	// second. Failures that were not kept are added to the next kept failure of the same code.
	//
	// A count is then off by at most the number of failures that were not kept, which [SampleStats] reports.
	Rate  float64
	Burst int
}

// maxQuoted bounds the text of a setting that an error quotes.
const maxQuoted = 40

// Limits of the options. They also keep all arithmetic on them far from overflow.
const (
	maxEvery = 1_000_000_000
	minRate  = 0.001
	maxRate  = 1_000_000
	maxBurst = 1_000_000
)

// sampleForms is the hint of every error about a sample.
const sampleForms = `give a whole number N from 1 to 1000000000 (one of every N failures is kept), ` +
	`or bucket:RATE/BURST such as bucket:10/50 (RATE a second from 0.001 to 1000000, BURST a whole number from 1 to 1000000)`

var errSample = errors.New("not a sampling mode; hint: " + sampleForms)

// parseSample parses a Sample in the form used by the environment: "100" or "bucket:10/50". An empty text is the zero Sample.
func parseSample(text string) (Sample, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return Sample{}, nil
	}
	s, ok := parseForm(text)
	if !ok || s.check() != nil {
		return Sample{}, fmt.Errorf("reading %s: %w", strconv.Quote(truncate.Text(text, maxQuoted)), errSample)
	}
	return s, nil
}

func parseForm(text string) (s Sample, ok bool) {
	bucket, isBucket := strings.CutPrefix(text, "bucket:")
	if !isBucket {
		n, err := strconv.Atoi(text)
		return Sample{Every: n}, err == nil && n > 0
	}
	rate, burst, _ := strings.Cut(bucket, "/")
	r, err := strconv.ParseFloat(rate, 64)
	if err != nil {
		return Sample{}, false
	}
	b, err := strconv.Atoi(burst)
	return Sample{Rate: r, Burst: b}, err == nil && b > 0
}

func (s Sample) check() error {
	bucket := s.Rate != 0 || s.Burst != 0
	switch {
	case s.Every < 0, s.Every > maxEvery, s.Every != 0 && bucket:
		return errSample
	case bucket && !(s.Rate >= minRate && s.Rate <= maxRate && s.Burst >= 1 && s.Burst <= maxBurst):
		return errSample // this form also rejects NaN
	}
	return nil
}

func (s Sample) sampler(width int) sampler {
	switch {
	case s.Burst != 0:
		return newBuckets(s, width)
	case s.Every > 1:
		seed := rand.Uint64() //nolint:gosec // it spreads the samples and protects nothing
		return &stride{n: uint64(s.Every), seed: seed, codes: make([]atomic.Uint64, width)}
	default:
		return nil
	}
}

// sampler decides the weight of a failure in the counters of its tool. It counts every failure by code, exactly.
type sampler interface {
	weigh(slot int) uint64 // 0 if not kept
	seen(slot int) uint64  // every failure of a code
	stats(codes *codeTable) *SampleStats
}

// stride keeps one of every n failures of a code. It needs no list and no lock: the position of the kept failure within its
// run of n follows from the number of the run.
//
// A fixed position would be enough for random traffic, but the estimate would be wrong for periodic traffic: in A, B, A, B, …
// every second failure is B. With a random position, a run with k failures of some kind adds n with probability k/n: on average
// k, with a variance of k(n−k) ≤ k(n−1). The runs are independent, so for a count of c the variance is at most c(n−1).
type stride struct {
	n, seed uint64
	codes   []atomic.Uint64 // by slot: every failure of the code
}

func (s *stride) weigh(slot int) uint64 {
	at := s.codes[slot].Add(1) - 1
	run := at / s.n
	if at-run*s.n != mix(s.seed+uint64(slot)<<48+run)%s.n { //nolint:gosec // a slot is not negative
		return 0
	}
	return s.n
}

func (s *stride) seen(slot int) uint64 { return s.codes[slot].Load() }

func (s *stride) stats(*codeTable) *SampleStats {
	return &SampleStats{
		Method: "every", Every: int(s.n), //nolint:gosec // it came from an int
		Estimated: []string{"byTool"},
		Error: "the standard error of a count c is at most sqrt((every-1)*c); " +
			"a tool that is missing has fewer than 3*every with 95% confidence",
	}
}

// mix is the finalizer of SplitMix64. It distributes consecutive numbers evenly.
func mix(x uint64) uint64 {
	x *= 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// buckets has a token bucket for each code.
type buckets struct {
	asked Sample
	step  int64        // nanoseconds between two tokens
	room  int64        // nanoseconds to fill the bucket
	clock func() int64 // nanoseconds since the start
	codes []bucket     // by slot
}

type bucket struct {
	seen    atomic.Uint64 // every failure of the code
	kept    atomic.Uint64 // failures with tool and verdict
	weighed atomic.Uint64 // failures that were added to a breakdown, directly or as weight of a later one
	full    atomic.Int64  // time when the bucket will be full again, from which the number of tokens follows
}

func newBuckets(s Sample, width int) *buckets {
	step := int64(math.Ceil(float64(time.Second) / s.Rate))
	start := time.Now()
	return &buckets{
		asked: s,
		step:  step,
		room:  step * int64(s.Burst),
		clock: func() int64 { return int64(time.Since(start)) },
		codes: make([]bucket, width),
	}
}

func (b *buckets) weigh(slot int) uint64 {
	c := &b.codes[slot]
	seen := c.seen.Add(1)
	if !c.take(b.clock(), b.step, b.room) {
		return 0
	}
	for {
		weighed := c.weighed.Load()
		if seen <= weighed { // a later failure has counted this one, so its tool is not kept
			return 0
		}
		if c.weighed.CompareAndSwap(weighed, seen) {
			c.kept.Add(1)
			return seen - weighed
		}
	}
}

// take takes a token and reports whether there was one.
func (c *bucket) take(now, step, room int64) bool {
	for {
		full := c.full.Load()
		next := max(full, now) + step
		if next-now > room {
			return false
		}
		if c.full.CompareAndSwap(full, next) {
			return true
		}
	}
}

func (b *buckets) seen(slot int) uint64 { return b.codes[slot].seen.Load() }

func (b *buckets) stats(codes *codeTable) *SampleStats {
	notKept := map[string]uint64{}
	for slot := range b.codes {
		kept := b.codes[slot].kept.Load() // read first, so that it does not exceed seen
		if n := b.seen(slot) - kept; n > 0 {
			notKept[codes.codes[slot].Symbol()] += n
		}
	}
	return &SampleStats{
		Method: "bucket", Rate: b.asked.Rate, Burst: b.asked.Burst,
		Estimated: []string{"byTool"},
		Error:     "a count is off by at most the sum of notKept",
		NotKept:   notKept,
	}
}
