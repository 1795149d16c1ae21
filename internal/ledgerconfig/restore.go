package ledgerconfig

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/durable"
	"github.com/candor-mcp/candor/internal/repeated"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/meter"
)

// restore adds the failures in a ledger to a meter. A missing ledger has none.
func restore(ctx context.Context, counts *meter.Meter, dir string) error {
	r, err := ledger.OpenReader(dir)
	if err != nil {
		return durable.IgnoreMissing(err)
	}
	return errors.Join(counts.Restore(failures(ctx, r)), r.Close())
}

// failures yields the failures in a ledger, without those that a gateway recorded too.
func failures(ctx context.Context, r *ledger.Reader) iter.Seq2[meter.Series, error] {
	return func(yield func(meter.Series, error) bool) {
		again, err := repeated.Find(ctx, r, time.Time{})
		if err != nil {
			yield(meter.Series{}, err)
			return
		}
		for line, err := range r.Entries(ctx, ledger.ReadOptions{}) {
			if err != nil {
				yield(meter.Series{}, err)
				return
			}
			if line.Kind != ledger.KindFailure || again(line) {
				continue
			}
			if past, err := pastOf(line); !yield(past, err) || err != nil {
				return
			}
		}
	}
}

func pastOf(line *ledger.Line) (meter.Series, error) {
	record, err := line.Record()
	if err != nil {
		return meter.Series{}, err
	}
	var data struct{ Verdict string }
	if len(record.Data) > 0 && json.Unmarshal(record.Data, &data) != nil {
		data.Verdict = "" // counted as "other"
	}
	code, _ := candor.LookupCode(record.Domain, record.Code)
	return meter.Series{Code: code, Tool: record.Tool, Verdict: data.Verdict, Count: 1}, nil
}
