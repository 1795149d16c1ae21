package candor_test

import (
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/timestamp"
)

func TestAppendTimeWritesTheLayout(t *testing.T) {
	zone := time.FixedZone("east", 5*3600+1800)
	for _, at := range []time.Time{
		{}, time.UnixMilli(0), time.UnixMilli(-1), time.UnixMilli(1_794_705_715_016), time.UnixMilli(1_794_705_715_999).In(zone),
		time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC), time.Date(0, 1, 1, 0, 0, 0, 9e6, time.UTC),
		time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC),
	} {
		if got, want := string(timestamp.Append(nil, at)), at.UTC().Format(candor.TimeLayout); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
