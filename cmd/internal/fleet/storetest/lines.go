package storetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/ledger"
)

// Ledger writes a ledger with package ledger and returns the lines of its chain: n failures with all sorts of characters, the
// first and the last entry of the chain, and its checkpoints.
func Ledger(tb testing.TB, node string, n int) (fleet.Chain, [][]byte) {
	tb.Helper()
	dir := tb.TempDir()
	WriteLedger(tb, dir, n)
	return ReadLedger(tb, dir, node)
}

// WriteLedger writes one chain with n failures to a ledger folder.
func WriteLedger(tb testing.TB, dir string, n int) {
	tb.Helper()
	l, err := ledger.Open(dir, ledger.Options{MaxSegmentBytes: 16 << 10})
	if err != nil {
		tb.Fatal(err)
	}
	for i := range n {
		text := fmt.Sprintf("failure %d: „é\u2028\x00\x1b[31m漢字🎉 %s", i, strings.Repeat("x", i*37%4000))
		entry := ledger.EntryOf(candor.New(candor.CodeTimeout, text))
		entry.Upstream, entry.Args = []byte(text), []byte(`{"n":1}`)
		if i%17 == 16 {
			big := bytes.Repeat([]byte("long "), 13<<10)
			entry.Upstream, entry.Envelope, entry.Cause = big, big, string(big)
		}
		if _, err := l.Append(tb.Context(), entry); err != nil {
			tb.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		tb.Fatal(err)
	}
}

// ReadLedger returns the lines of the newest chain of a ledger folder.
func ReadLedger(tb testing.TB, dir, node string) (fleet.Chain, [][]byte) {
	tb.Helper()
	r, err := ledger.OpenReader(dir)
	if err != nil {
		tb.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // only read
	names, err := r.Chains()
	if err != nil || len(names) == 0 {
		tb.Fatalf("chains of %s: %v, %v", dir, names, err)
	}
	chain := fleet.Chain{Node: node, Name: names[len(names)-1]}
	var lines [][]byte
	for line, err := range r.Entries(context.Background(), ledger.ReadOptions{Chain: chain.Name}) {
		if err != nil {
			tb.Fatal(err)
		}
		lines = append(lines, bytes.Clone(line.Raw()))
	}
	return chain, lines
}

// NextLine returns a line that continues a chain with this head. Its hash and link are right; body is kept as it is, and need not be JSON.
func NextLine(chain fleet.Chain, head fleet.Head, body []byte) []byte {
	line, _ := nextLine(chain, head, body)
	return line
}

func nextLine(chain fleet.Chain, head fleet.Head, body []byte) ([]byte, fleet.Head) {
	prev := head.Hash
	if head == (fleet.Head{}) {
		prev = sha256.Sum256([]byte("candor ledger " + chain.Name))
	}
	at := time.UnixMilli(1794715506000 + int64(head.Seq%(1<<40))).UTC() //nolint:gosec // at most 1<<40
	line := fmt.Appendf(nil, `{"v":1,"chain":"%s","seq":%d,"time":"%s","prev":"%x","kind":"failure","cause":"%s"`,
		chain.Name, head.Seq+1, at.Format("2006-01-02T15:04:05.000000Z"), prev, body)
	hash := sha256.Sum256(line)
	return fmt.Appendf(line, `,"hash":"%x"}`, hash), fleet.Head{Seq: head.Seq + 1, Hash: hash}
}

// MakeLines returns n lines that continue a chain with this head, each with a body of size bytes.
func MakeLines(chain fleet.Chain, head fleet.Head, n, size int) [][]byte {
	lines := make([][]byte, n)
	body := bytes.Repeat([]byte("x"), size)
	for i := range lines {
		lines[i], head = nextLine(chain, head, body)
	}
	return lines
}

// HeadOf returns the head of a chain that ends with line.
func HeadOf(tb testing.TB, line []byte) fleet.Head {
	tb.Helper()
	entry, err := ledger.ParseLine(line)
	if err != nil {
		tb.Fatalf("%v: %.200q", err, line)
	}
	return fleet.Head{Seq: entry.Seq, Hash: entry.Hash}
}
