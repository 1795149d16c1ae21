package workrail_test

import (
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// BenchmarkStepsStayFlat records 10,000 steps of one session through the running server and compares the first with the
// last ones. Use -benchtime 1x.
func BenchmarkStepsStayFlat(b *testing.B) {
	const steps, window = 10_000, 500
	for range b.N {
		p := newPlace(b)
		p.write(filepath.Join(p.workflows, "many.yaml"), `id: many
name: Many
steps:
  - id: outer
    loop:
      times: 11
      maxIterations: 11
      steps:
        - id: inner
          loop:
            times: 1000
            maxIterations: 1000
            steps:
              - {id: s, prompt: Do it., notes: required}
`)
		s := p.start()
		start := func() time.Duration {
			began := time.Now()
			for range 20 {
				s.begin("plain", nil)
			}
			return time.Since(began) / 20
		}
		startEarly := start()
		a := s.begin("many", nil)
		took := make([]time.Duration, steps)
		for i := range took {
			began := time.Now()
			a = s.call("continue_workflow", args{"continueToken": a.token(), "notes": "n"}).fine()
			took[i] = time.Since(began)
		}
		early, late := median(took[10:10+window]), median(took[steps-window:])
		b.ReportMetric(float64(early.Microseconds()), "µs/early-step")
		b.ReportMetric(float64(late.Microseconds()), "µs/late-step")
		b.ReportMetric(float64(late)/float64(early), "step-ratio")
		b.ReportMetric(float64(start())/float64(startEarly), "start-ratio")
		s.End()
	}
}

func median(all []time.Duration) time.Duration {
	all = slices.Sorted(slices.Values(all))
	return all[len(all)/2]
}
