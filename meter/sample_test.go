package meter_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kg"
	"github.com/candor-mcp/candor/meter"
)

// orders returns streams of failures of tools "a" to "e". Two are periodic, which breaks sampling at a fixed position.
func orders() map[string][]string {
	const length = 3000
	random := rand.New(rand.NewPCG(1, 2))
	out := map[string][]string{}
	for i := range length {
		out["alternating"] = append(out["alternating"], []string{"a", "b"}[i%2])
		out["rare in a period"] = append(out["rare in a period"], []string{"a", "a", "a", "a", "a", "b", "a", "a", "c", "a"}[i%10])
		out["in blocks"] = append(out["in blocks"], string(rune('a'+i*5/length)))
		out["random"] = append(out["random"], string("aaaaabbbcd"[random.IntN(10)]))
	}
	return out
}

func TestStrideErrorBound(t *testing.T) {
	const seeds = 150
	for order, tools := range orders() {
		truth := map[string]float64{}
		for _, tool := range tools {
			truth[tool]++
		}
		for _, n := range []int{2, 10, 100} {
			bias, square := map[string]float64{}, map[string]float64{}
			for seed := range seeds {
				s := sampled(t, n, uint64(seed)*7919, tools)
				if s.Total != uint64(len(tools)) || sum(s.ByCode) != s.Total {
					t.Fatalf("total is %d and byCode %v, want exactly %d", s.Total, s.ByCode, len(tools))
				}
				if off := math.Abs(byTool(s) - float64(s.Total)); off >= float64(n) {
					t.Errorf("%s, N=%d: byTool adds up to %v away from the total", order, n, off)
				}
				for tool, count := range truth {
					off := float64(s.ByTool[tool]["tool"]) - count
					bias[tool] += off / seeds
					square[tool] += off * off / seeds
				}
			}
			for tool, count := range truth {
				variance := float64(n-1) * count // the documented variance
				if square[tool] > 1.3*variance {
					t.Errorf("%s, N=%d, %s: standard error %.1f, stated %.1f", order, n, tool, math.Sqrt(square[tool]), math.Sqrt(variance))
				}
				if limit := 4 * math.Sqrt(variance/seeds); math.Abs(bias[tool]) > limit {
					t.Errorf("%s, N=%d, %s: %.2f off on average, limit %.2f", order, n, tool, bias[tool], limit)
				}
			}
		}
	}
}

func sampled(t *testing.T, n int, seed uint64, tools []string) meter.Stats {
	t.Helper()
	m := newMeter(t, meter.Options{Sample: meter.Sample{Every: n}})
	m.SetSeed(seed)
	for _, tool := range tools {
		m.Count(failureOf[tool], "tool")
	}
	return m.Stats()
}

func byTool(s meter.Stats) (n float64) {
	for _, verdicts := range s.ByTool {
		n += float64(sum(verdicts))
	}
	return n
}

var failureOf = map[string]*candor.Error{}

func init() {
	for _, tool := range []string{"a", "b", "c", "d", "e", "rare", "often"} {
		failureOf[tool] = failure(candor.CodeInternalError, tool)
	}
}

func TestBucketSampleLimits(t *testing.T) {
	m := newMeter(t, meter.Options{Sample: meter.Sample{Rate: 10, Burst: 5}})
	now := int64(0)
	m.SetClock(func() int64 { return now })
	storm := func(tool string, n int) {
		for range n {
			m.Count(failureOf[tool], "tool")
		}
	}
	kept := func() uint64 { s := m.Stats(); return s.Total - sum(s.Sample.NotKept) }
	storm("a", 100)
	if got := kept(); got != 5 {
		t.Errorf("%d kept of a storm, want the burst of 5", got)
	}
	now += int64(time.Second)
	storm("a", 100)
	if got := kept(); got != 10 {
		t.Errorf("%d kept after a second, want 5 more: a bucket does not hold more than its burst", got)
	}
	now += int64(200 * time.Millisecond)
	storm("b", 100)
	if got := kept(); got != 12 {
		t.Errorf("%d kept after a fifth of a second, want 2 more", got)
	}
	// Dropped failures are added to the next kept one: 95 of a to a, then 95 of a to b.
	if s := m.Stats(); s.ByTool["a"]["tool"] != 105 || s.ByTool["b"]["tool"] != 97 {
		t.Errorf("byTool is %v", s.ByTool)
	}
	m.Count(failure(kg.Full, "a"), "tool")
	if got := kept(); got != 13 {
		t.Errorf("%d kept: another code has no bucket of its own", got)
	}
}

func TestBucketSampleErrorBound(t *testing.T) {
	const goroutines, rounds = 64, 500
	m := newMeter(t, meter.Options{Sample: meter.Sample{Rate: 1000, Burst: 20}})
	truth := map[string]uint64{}
	var guard sync.Mutex
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(g), 5))
			mine := map[string]uint64{}
			for range rounds {
				tool := string("aabc"[random.IntN(4)])
				m.Count(failureOf[tool], "tool")
				mine[tool]++
			}
			guard.Lock()
			defer guard.Unlock()
			for tool, n := range mine {
				truth[tool] += n
			}
		})
	}
	wg.Wait()
	m.Count(nil, "tool")
	s := m.Stats()
	if s.Total != goroutines*rounds+1 || s.BySymbol["INTERNAL_ERROR"] != goroutines*rounds || sum(s.ByCode) != s.Total {
		t.Errorf("total %d, byCode %v", s.Total, s.ByCode)
	}
	bound := sum(s.Sample.NotKept)
	if bound == 0 || bound >= s.Total {
		t.Fatalf("%d of %d not kept: the test proves nothing", bound, s.Total)
	}
	for tool, want := range truth {
		got := s.ByTool[tool]["tool"]
		if max(got, want)-min(got, want) > bound {
			t.Errorf("%s: estimated %d, true %d, stated bound %d", tool, got, want, bound)
		}
	}
}

func TestSampledStatsNameEstimates(t *testing.T) {
	for spelling, want := range map[string]string{
		"100":          `"sample":{"method":"every","every":100,"estimated":["byTool"],"error":"the standard error`,
		"bucket:10/50": `"sample":{"method":"bucket","rate":10,"burst":50,"estimated":["byTool"],"error":"a count is off by`,
		"1":            `"unrecorded":0}`,
	} {
		sample, err := meter.ParseSample(spelling)
		if err != nil {
			t.Fatal(err)
		}
		m := newMeter(t, meter.Options{Sample: sample})
		m.Count(nil, "tool")
		if got := string(m.AppendStats(nil)); !strings.Contains(got, want) {
			t.Errorf("%s: stats are %s, want %s", spelling, got, want)
		}
	}
}
