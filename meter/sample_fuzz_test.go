package meter_test

import (
	"testing"

	"github.com/candor-mcp/candor/meter"
)

// FuzzParseSample checks that any text is rejected or gives a meter that counts.
func FuzzParseSample(f *testing.F) {
	for _, text := range []string{"", "1", "100", "-1", "bucket:10/50", "bucket:0.001/1000000", "bucket:1e6/1", "bucket:NaN/1", "bucket:/", "1_0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := meter.ParseSample(text)
		if err != nil {
			if s != (meter.Sample{}) || len(err.Error()) > 512 {
				t.Errorf("refused with %+v and %d bytes", s, len(err.Error()))
			}
			return
		}
		m, err := meter.New(meter.Options{Sample: s})
		if err != nil {
			t.Fatalf("%q is accepted, but not by New: %v", text, err)
		}
		for range 3 {
			m.Count(nil, "tool")
		}
		if got := m.Stats(); got.Total != 3 || sum(got.ByCode) != 3 {
			t.Errorf("%q: total %d, byCode %v", text, got.Total, got.ByCode)
		}
	})
}
