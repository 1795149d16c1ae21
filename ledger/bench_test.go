package ledger

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/ledger/internal/format"
	"github.com/candor-mcp/candor/ledger/internal/storage"
	"github.com/candor-mcp/candor/ledger/internal/tree"
)

// sampleEntry returns a failure with its context and the digest of its arguments.
func sampleEntry() Entry {
	e := fullEntry()
	e.Upstream, e.Envelope = nil, nil
	return e
}

// fullEntry returns a failure as the gateway records it, including the received and sent messages, which have to be
// redacted.
func fullEntry() Entry {
	err := candor.New(kaiza.FileNotFound, "the file is not there", candor.WithRef("r-0123456789abcdef"), candor.WithTool("read_file"),
		candor.WithOrigin(candor.PartyTool, true))
	e := EntryOf(err)
	e.Call, e.SessionID = "c-42", "s-1"
	e.Args = []byte(`{"path":"docs/missing.txt"}`)
	e.Upstream = []byte(`{"content":[{"type":"text","text":"ENOENT: no such file or directory"}],"isError":true}`)
	e.Envelope = err.AppendJSON(nil, candor.JSONOptions{})
	e.Latency = 1500 * time.Microsecond
	return e
}

// BenchmarkAppend compares durable appends with one write and one fdatasync per record, for the same number of
// callers and lines of the same length. Compare the two results of one run, not results of different runs.
func BenchmarkAppend(b *testing.B) {
	for _, callers := range []int{1, 16, 128} {
		b.Run(fmt.Sprintf("callers=%d/plain", callers), func(b *testing.B) { benchPlain(b, callers) })
		b.Run(fmt.Sprintf("callers=%d/ledger", callers), func(b *testing.B) { benchLedger(b, callers, sampleEntry()) })
	}
	b.Run("callers=128/texts", func(b *testing.B) { benchLedger(b, 128, fullEntry()) })
}

// share runs b.N calls of act on several goroutines and reports their rate.
func share(b *testing.B, callers int, act func() error) {
	b.Helper()
	b.ResetTimer()
	start := time.Now()
	var all sync.WaitGroup
	for i := range callers {
		n := b.N / callers
		if i < b.N%callers {
			n++
		}
		all.Go(func() {
			for range n {
				if err := act(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/time.Since(start).Seconds(), "records/s")
}

func benchPlain(b *testing.B, callers int) {
	s, err := storage.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	f, err := s.Create("plain", 0o600)
	if err != nil {
		b.Fatal(err)
	}
	e := sampleEntry()
	body, _ := newEncoder(make([]byte, format.DigestSize)).appendBody(nil, &e)
	line := append(body, make([]byte, 250)...) // the part that the writer adds
	var mu sync.Mutex
	share(b, callers, func() error {
		mu.Lock()
		defer mu.Unlock()
		if _, err := f.Write(line); err != nil {
			return err
		}
		return f.Sync()
	})
}

func benchLedger(b *testing.B, callers int, e Entry) {
	l, err := Open(b.TempDir(), Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	share(b, callers, func() error {
		_, err := l.Append(context.Background(), e)
		return err
	})
	b.StopTimer()
	stats := l.Stats()
	b.ReportMetric(float64(stats.Appended)/float64(max(stats.Batches, 1)), "entries/sync")
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkEncode(b *testing.B) {
	for name, e := range map[string]Entry{"context": sampleEntry(), "texts": fullEntry()} {
		b.Run(name, func(b *testing.B) {
			c := newEncoder(make([]byte, format.DigestSize))
			body, _ := c.appendBody(nil, &e)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				body, _ = c.appendBody(body[:0], &e)
			}
		})
	}
}

func BenchmarkParseLine(b *testing.B) {
	c := &chain{name: "candor-20261115T040506789Z-01234567", leaves: tree.NewRecordHasher()}
	e := sampleEntry()
	body, _ := newEncoder(make([]byte, format.DigestSize)).appendBody(nil, &e)
	at := position{time: format.FormatTime(time.Unix(1_800_000_000, 0))}
	c.appendLine(&at, body)
	line := c.lines[:len(c.lines)-1]
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseLine(line); err != nil {
			b.Fatal(err)
		}
	}
}
