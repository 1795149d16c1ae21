package parquetfile_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"iter"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/parquetfile"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/ledger"
)

var entries = flag.Int("entries", 300_000, "entries of the test of memory")

// newLedger writes a ledger with one failure of every optional member, and one success.
func newLedger(t *testing.T) *ledger.Reader {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ledger")
	l, err := ledger.Open(dir, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	failure := ledger.EntryOf(candor.New(candor.CodeRateLimited, "", candor.WithTool("fetch")))
	failure.Retry = candor.RetryIn(1500 * time.Millisecond)
	failure.SessionID, failure.Role, failure.Outcome, failure.Attempt = "s-1", "agent", ledger.OutcomeError, 2
	failure.Latency, failure.Cause, failure.Args = 1234*time.Microsecond, "429 from the upstream", []byte(`{"a":1}`)
	for _, e := range []ledger.Entry{failure, {Kind: ledger.KindSuccess, Tool: "list"}} {
		if _, err := l.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := ledger.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// of returns the entries of a ledger as those of a node.
func of(ctx context.Context, r *ledger.Reader, node string) iter.Seq2[term.ExportLine, error] {
	return func(yield func(term.ExportLine, error) bool) {
		for l, err := range r.Entries(ctx, ledger.ReadOptions{}) {
			if !yield(term.ExportLine{Node: node, Line: l}, err) {
				return
			}
		}
	}
}

func TestRowsHaveTheMembersOfTheRecords(t *testing.T) {
	t.Parallel()
	r := newLedger(t)
	var file bytes.Buffer
	if err := parquetfile.Write(&file, of(t.Context(), r, "web-1")); err != nil {
		t.Fatal(err)
	}
	rows, err := parquet.Read[parquetfile.Row](bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	for l, err := range r.Entries(t.Context(), ledger.ReadOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		compare(t, rows[i], l)
		i++
	}
	if i != len(rows) {
		t.Errorf("%d rows, want %d", len(rows), i)
	}
	checkFailure(t, rows)
}

// compare compares a row with the entry that it was written from.
func compare(t *testing.T, row parquetfile.Row, l *ledger.Line) {
	t.Helper()
	record, err := l.Record()
	if err != nil {
		t.Fatal(err)
	}
	got := []any{row.Node, row.Chain, row.Seq, row.Kind, row.Ref, row.Call, row.Tool, row.Code, row.Domain, row.Number, row.Class, row.LatencyUS, row.Hash, row.Cause, row.Bytes, row.Role}
	want := []any{"web-1", record.Chain, record.Seq, string(record.Kind), record.Ref, record.Call, record.Tool, record.Code, record.Domain, int64(record.Number), string(record.Class), record.LatencyUS, l.Hash, record.Cause, int64(len(l.Raw())), record.Role}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("entry %d: column %d is %v, want %v", l.Seq, i, got[i], want[i])
		}
	}
	if want := record.Time.Truncate(time.Microsecond); !row.Time.Equal(want) {
		t.Errorf("entry %d: time %v, want %v", l.Seq, row.Time, want)
	}
}

// checkFailure checks the columns that are null where a record lacks a member.
func checkFailure(t *testing.T, rows []parquetfile.Row) {
	t.Helper()
	seen := 0
	for _, row := range rows {
		switch row.Kind {
		case string(ledger.KindFailure):
			seen++
			if row.Retry != string(candor.RetryAfterMs) || row.RetryAfterMS == nil || *row.RetryAfterMS != 1500 || row.ArgsBytes == nil || *row.ArgsBytes != 7 ||
				row.Session != "s-1" || row.Outcome != string(ledger.OutcomeError) || row.Attempt != 2 || row.Origin == "" || row.Inferred == nil || row.Server == "" {
				t.Errorf("failure: %+v", row)
			}
		case string(ledger.KindSetting), string(ledger.KindCheckpoint):
			if row.Server != "" || row.RetryAfterMS != nil || row.ArgsBytes != nil {
				t.Errorf("%s: %+v", row.Kind, row)
			}
		}
	}
	if seen != 1 {
		t.Errorf("%d failures, want 1", seen)
	}
}

// TestColumnsAreTyped checks the types that other readers see.
func TestColumnsAreTyped(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	if err := parquetfile.Write(&file, of(t.Context(), newLedger(t), "")); err != nil {
		t.Fatal(err)
	}
	opened, err := parquet.OpenFile(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	schema := opened.Schema().String()
	for _, want := range []string{
		"required int64 time (TIMESTAMP(isAdjustedToUTC=true,unit=MICROS))", "required int64 seq (INT(64,false))", "optional binary code (STRING)",
		"optional int64 latency_us", "required fixed_len_byte_array(32) hash", "optional binary node (STRING)",
	} {
		if !strings.Contains(schema, want) {
			t.Errorf("the schema lacks %q:\n%s", want, schema)
		}
	}
	for _, chunk := range opened.Metadata().RowGroups[0].Columns {
		if chunk.MetaData.Codec.String() != "ZSTD" {
			t.Errorf("column %v is compressed with %v", chunk.MetaData.PathInSchema, chunk.MetaData.Codec)
		}
	}
}

func TestErrorsOfEntriesAndOutputEndTheExport(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	err := parquetfile.Write(io.Discard, func(yield func(term.ExportLine, error) bool) { yield(term.ExportLine{}, broken) })
	if !errors.Is(err, broken) {
		t.Errorf("error of the entries: %v", err)
	}
	if err := parquetfile.Write(failing{broken}, of(t.Context(), newLedger(t), "")); !errors.Is(err, broken) {
		t.Errorf("error of the output: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestMemoryIsFlat checks that the memory in use does not grow with the number of entries: a quarter of them fills a row group. -entries
// 1000000 repeats it with more.
func TestMemoryIsFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("not with -short, which the race detector is used with: pools then drop buffers at random")
	}
	lines := lastLine(t)
	var middle, end, peak uint64
	count := &counting{}
	err := parquetfile.Write(count, func(yield func(term.ExportLine, error) bool) {
		for i := range *entries {
			if !yield(term.ExportLine{Node: "web-1", Line: lines}, nil) {
				return
			}
			if i%10000 == 0 {
				end = heap()
				peak = max(peak, end)
			}
			if i == *entries/4/10000*10000 {
				middle = peak
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d entries, %d bytes; the heap had at most %d KiB in the first quarter, %d KiB in all", *entries, count.bytes, middle>>10, peak>>10)
	if peak > middle+8<<20 {
		t.Errorf("the heap grew from %d to %d bytes", middle, peak)
	}
}

// counting counts bytes.
type counting struct{ bytes int64 }

func (c *counting) Write(p []byte) (int, error) {
	c.bytes += int64(len(p))
	return len(p), nil
}

// heap returns the bytes in use. A pool keeps what it holds for one collection.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// lastLine returns a failure.
func lastLine(t *testing.T) *ledger.Line {
	t.Helper()
	for l, err := range newLedger(t).Entries(t.Context(), ledger.ReadOptions{Keep: func(l *ledger.Line) bool { return l.Kind == ledger.KindFailure }}) {
		if err != nil {
			t.Fatal(err)
		}
		line, err := ledger.ParseLine(bytes.Clone(l.Raw()))
		if err != nil {
			t.Fatal(err)
		}
		return &line
	}
	t.Fatal("no failure")
	return nil
}
