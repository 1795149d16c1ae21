package plug

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"iter"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/meter"
)

// restore adds the failures in a ledger to a meter. A missing ledger has none.
func restore(ctx context.Context, counts *meter.Meter, dir string) error {
	r, err := ledger.OpenReader(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(counts.Restore(failures(ctx, r)), r.Close())
}

func failures(ctx context.Context, r *ledger.Reader) iter.Seq2[meter.Past, error] {
	return func(yield func(meter.Past, error) bool) {
		for line, err := range r.Entries(ctx, ledger.ReadOptions{}) {
			if err != nil {
				yield(meter.Past{}, err)
				return
			}
			if line.Kind != ledger.KindFailure {
				continue
			}
			if past, err := pastOf(line); !yield(past, err) || err != nil {
				return
			}
		}
	}
}

func pastOf(line *ledger.Line) (meter.Past, error) {
	record, err := line.Record()
	if err != nil {
		return meter.Past{}, err
	}
	var data struct{ Verdict string }
	if len(record.Data) > 0 && json.Unmarshal(record.Data, &data) != nil {
		data.Verdict = "" // counted as "other"
	}
	code, _ := candor.LookupCode(record.Domain, record.Code)
	return meter.Past{Code: code, Tool: record.Tool, Verdict: data.Verdict}, nil
}
