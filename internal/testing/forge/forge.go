// Package forge writes ledgers from the text of spec/ledger.md alone, for tests of the verifier.
package forge

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// Ledger writes a ledger from spec/ledger.md alone, without the writer's code, so that a mistake that the writer and the
// verifier share is found.
type Ledger struct {
	t      testing.TB
	files  fstest.MapFS
	signer note.Signer
	Public string
	second []byte
	Now    time.Time
	Chains []*Chain
}

// Chain is a chain of a forged ledger.
type Chain struct {
	F        *Ledger
	Name     string
	Segments [][]byte // the last is the active one
	Seq      int64
	Prev     string
	hashes   []tlog.Hash // as tlog stores them
	Notes    []byte
	Lines    [][]byte
	covered  int64
}

// New returns an empty ledger with a fixed key.
func New(t testing.TB) *Ledger {
	secret, public, err := note.GenerateKey(rand.NewChaCha8([32]byte{1}), "candor-ledger")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(secret)
	if err != nil {
		t.Fatal(err)
	}
	return &Ledger{t: t, files: fstest.MapFS{}, signer: signer, Public: public, Now: time.Date(2026, 11, 15, 4, 5, 6, 0, time.UTC)}
}

// Chain begins a chain that names those before it.
func (f *Ledger) Chain() *Chain {
	f.Now = f.Now.Add(time.Second)
	c := &Chain{F: f, Segments: [][]byte{nil}}
	c.Name = fmt.Sprintf("test-%s-%08x", f.Now.Format("20060102T150405")+"000Z", len(f.Chains)+1)
	sum := sha256.Sum256([]byte("candor ledger " + c.Name))
	c.Prev = hex.EncodeToString(sum[:])
	before := "["
	for i, other := range f.Chains {
		if i > 0 {
			before += ","
		}
		before += fmt.Sprintf(`{"chain":"%s","size":%d,"last":"%s"}`, other.Name, other.Seq, other.Prev)
	}
	f.Chains = append(f.Chains, c)
	c.Add("setting", fmt.Sprintf(`,"data":{"version":1,"key":%q,"policy":"closed","before":%s]}`, f.Public, before))
	return c
}

func (c *Chain) active() *[]byte { return &c.Segments[len(c.Segments)-1] }

// Add appends an entry to the chain.
func (c *Chain) Add(kind, rest string) {
	c.Seq++
	c.F.Now = c.F.Now.Add(time.Millisecond)
	line := Line(c.Name, c.Seq, c.F.Now, c.Prev, kind, rest)
	c.Prev = string(line[len(line)-66 : len(line)-2])
	stored, err := tlog.StoredHashes(c.Seq-1, line, c.reader())
	if err != nil {
		c.F.t.Fatal(err)
	}
	c.hashes = append(c.hashes, stored...)
	c.Lines = append(c.Lines, line)
	*c.active() = append(append(*c.active(), line...), '\n')
}

// Line returns an entry as it is stored, with its hash.
func Line(chain string, seq int64, at time.Time, prev, kind, rest string) []byte {
	body := `{"v":1,"chain":"` + chain + `","seq":` + strconv.FormatInt(seq, 10) + `,"time":"` + at.Format("2006-01-02T15:04:05.000000Z") +
		`","prev":"` + prev + `","kind":"` + kind + `"` + rest
	sum := sha256.Sum256([]byte(body))
	return []byte(body + `,"hash":"` + hex.EncodeToString(sum[:]) + `"}`)
}

func (c *Chain) reader() tlog.HashReaderFunc {
	return func(indexes []int64) ([]tlog.Hash, error) {
		var out []tlog.Hash
		for _, i := range indexes {
			out = append(out, c.hashes[i])
		}
		return out, nil
	}
}

// Fail adds failures, with a checkpoint whenever one is due.
func (c *Chain) Fail(n int) {
	for range n {
		c.Add("failure", fmt.Sprintf(`,"ref":"r-%d","tool":"read_file","code":"FILE_NOT_FOUND","domain":"kaiza","number":3210,"class":"not_found",`+
			`"origin":{"by":"tool","inferred":false},"session_id":"s-%d","cause":"no such file, for the %d. time","outcome":"error","attempt":1,"latency_us":%d`,
			c.Seq, c.Seq%3, c.Seq, 100+c.Seq))
		if c.Seq-c.covered >= 200 {
			c.Checkpoint(false)
		}
	}
}

func (c *Chain) note() string {
	root, err := tlog.TreeHash(c.Seq, c.reader())
	if err != nil {
		c.F.t.Fatal(err)
	}
	text := fmt.Sprintf("candor-ledger/%s\n%d\n%s\nlast %s\ntime %s\n", c.Name, c.Seq, base64.StdEncoding.EncodeToString(root[:]), c.Prev,
		c.F.Now.Format("2006-01-02T15:04:05.000000Z"))
	signed, err := note.Sign(&note.Note{Text: text}, c.F.signer)
	if err != nil {
		c.F.t.Fatal(err)
	}
	return string(signed)
}

// Checkpoint appends a signed checkpoint entry.
func (c *Chain) Checkpoint(closed bool) {
	text := c.note()
	c.Notes = append(append(c.Notes, text...), "---\n"...)
	c.F.second = append(append(c.F.second, text...), "---\n"...)
	c.covered = c.Seq
	more := ""
	if closed {
		more = `,"closed":true`
	}
	c.Add("checkpoint", fmt.Sprintf(`,"data":{"note":%s%s}`, quoteJSON(text), more))
}

func quoteJSON(text string) string {
	return `"` + string(bytes.ReplaceAll([]byte(text), []byte("\n"), []byte(`\n`))) + `"`
}

// Rotate begins a new segment.
func (c *Chain) Rotate() { c.Segments = append(c.Segments, nil) }

// FS puts everything in place.
func (f *Ledger) FS() fstest.MapFS {
	out := fstest.MapFS{"keys/signer.pub": {Data: []byte(f.Public + "\n"), Mode: 0o644}, "lock": {Mode: 0o600}}
	for _, c := range f.Chains {
		out[c.Name+"/checkpoints"] = &fstest.MapFile{Data: bytes.Clone(c.Notes), Mode: 0o600}
		out[c.Name+"/lock"] = &fstest.MapFile{Mode: 0o600}
		for i, data := range c.Segments {
			name := "/audit-log.jsonl"
			if i < len(c.Segments)-1 {
				name = fmt.Sprintf("/audit-log.%06d.jsonl", i+1)
			}
			out[c.Name+name] = &fstest.MapFile{Data: bytes.Clone(data), Mode: 0o600}
		}
	}
	if f.second != nil {
		out["second"] = &fstest.MapFile{Data: bytes.Clone(f.second)}
	}
	return out
}

// Sample returns a ledger of three chains: one closed over three segments, one killed, one still open.
func Sample(t testing.TB) *Ledger {
	f := New(t)
	a := f.Chain()
	a.Fail(250)
	a.Rotate()
	a.Fail(300)
	a.Rotate()
	a.Fail(20)
	a.Checkpoint(true)
	b := f.Chain()
	b.Fail(30)
	b.Checkpoint(false)
	b.Fail(3)
	c := f.Chain()
	c.Fail(5)
	return f
}
