package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strconv"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// forge writes ledgers by hand, from spec/ledger.md alone and with none of the writer's code: what the verifier and the writer both
// got wrong would show here.
type forge struct {
	t      testing.TB
	files  fstest.MapFS
	signer note.Signer
	public string
	second []byte
	now    time.Time
	chains []*forgedChain
}

type forgedChain struct {
	f        *forge
	name     string
	segments [][]byte // the last is the active one
	seq      int64
	prev     string
	hashes   []tlog.Hash // as tlog stores them
	notes    []byte
	lines    [][]byte
	covered  int64
}

type seeded struct{ r *rand.ChaCha8 }

func (s seeded) Read(p []byte) (int, error) { return s.r.Read(p) }

func newForge(t testing.TB) *forge {
	secret, public, err := note.GenerateKey(seeded{rand.NewChaCha8([32]byte{1})}, "candor-ledger")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(secret)
	if err != nil {
		t.Fatal(err)
	}
	return &forge{t: t, files: fstest.MapFS{}, signer: signer, public: public, now: time.Date(2026, 11, 15, 4, 5, 6, 0, time.UTC)}
}

// chain begins a chain that names those before it.
func (f *forge) chain() *forgedChain {
	f.now = f.now.Add(time.Second)
	c := &forgedChain{f: f, segments: [][]byte{nil}}
	c.name = fmt.Sprintf("test-%s-%08x", f.now.Format("20060102T150405")+"000Z", len(f.chains)+1)
	sum := sha256.Sum256([]byte("candor ledger " + c.name))
	c.prev = hex.EncodeToString(sum[:])
	before := "["
	for i, other := range f.chains {
		if i > 0 {
			before += ","
		}
		before += fmt.Sprintf(`{"chain":"%s","size":%d,"last":"%s"}`, other.name, other.seq, other.prev)
	}
	f.chains = append(f.chains, c)
	c.add("setting", fmt.Sprintf(`,"data":{"version":1,"key":%q,"policy":"closed","before":%s]}`, f.public, before))
	return c
}

func (c *forgedChain) active() *[]byte { return &c.segments[len(c.segments)-1] }

func (c *forgedChain) add(kind, rest string) {
	c.seq++
	c.f.now = c.f.now.Add(time.Millisecond)
	line := forgeLine(c.name, c.seq, c.f.now, c.prev, kind, rest)
	c.prev = string(line[len(line)-66 : len(line)-2])
	stored, err := tlog.StoredHashes(c.seq-1, line, c.reader())
	if err != nil {
		c.f.t.Fatal(err)
	}
	c.hashes = append(c.hashes, stored...)
	c.lines = append(c.lines, line)
	*c.active() = append(append(*c.active(), line...), '\n')
}

func forgeLine(chain string, seq int64, at time.Time, prev, kind, rest string) []byte {
	body := `{"v":1,"chain":"` + chain + `","seq":` + strconv.FormatInt(seq, 10) + `,"time":"` + at.Format("2006-01-02T15:04:05.000000Z") +
		`","prev":"` + prev + `","kind":"` + kind + `"` + rest
	sum := sha256.Sum256([]byte(body))
	return []byte(body + `,"hash":"` + hex.EncodeToString(sum[:]) + `"}`)
}

func (c *forgedChain) reader() tlog.HashReaderFunc {
	return func(indexes []int64) ([]tlog.Hash, error) {
		var out []tlog.Hash
		for _, i := range indexes {
			out = append(out, c.hashes[i])
		}
		return out, nil
	}
}

// fail adds failures, with a checkpoint whenever one is due.
func (c *forgedChain) fail(n int) {
	for range n {
		c.add("failure", fmt.Sprintf(`,"ref":"r-%d","tool":"read_file","code":"FILE_NOT_FOUND","domain":"kaiza","number":3210,"class":"not_found",`+
			`"origin":{"by":"tool","inferred":false},"session_id":"s-%d","cause":"no such file, for the %d. time","outcome":"error","attempt":1,"latency_us":%d`,
			c.seq, c.seq%3, c.seq, 100+c.seq))
		if c.seq-c.covered >= 200 {
			c.checkpoint(false)
		}
	}
}

func (c *forgedChain) note() string {
	root, err := tlog.TreeHash(c.seq, c.reader())
	if err != nil {
		c.f.t.Fatal(err)
	}
	text := fmt.Sprintf("candor-ledger/%s\n%d\n%s\nlast %s\ntime %s\n", c.name, c.seq, base64.StdEncoding.EncodeToString(root[:]), c.prev,
		c.f.now.Format("2006-01-02T15:04:05.000000Z"))
	signed, err := note.Sign(&note.Note{Text: text}, c.f.signer)
	if err != nil {
		c.f.t.Fatal(err)
	}
	return string(signed)
}

func (c *forgedChain) checkpoint(closed bool) {
	text := c.note()
	c.notes = append(append(c.notes, text...), "---\n"...)
	c.f.second = append(append(c.f.second, text...), "---\n"...)
	c.covered = c.seq
	more := ""
	if closed {
		more = `,"closed":true`
	}
	c.add("checkpoint", fmt.Sprintf(`,"data":{"note":%s%s}`, quoteJSON(text), more))
}

func quoteJSON(text string) string {
	return `"` + string(bytes.ReplaceAll([]byte(text), []byte("\n"), []byte(`\n`))) + `"`
}

func (c *forgedChain) rotate() { c.segments = append(c.segments, nil) }

// fs puts everything in place.
func (f *forge) fs() fstest.MapFS {
	out := fstest.MapFS{"keys/signer.pub": {Data: []byte(f.public + "\n"), Mode: 0o644}, "lock": {Mode: 0o600}}
	for _, c := range f.chains {
		out[c.name+"/checkpoints"] = &fstest.MapFile{Data: bytes.Clone(c.notes), Mode: 0o600}
		out[c.name+"/lock"] = &fstest.MapFile{Mode: 0o600}
		for i, data := range c.segments {
			name := "/audit-log.jsonl"
			if i < len(c.segments)-1 {
				name = fmt.Sprintf("/audit-log.%06d.jsonl", i+1)
			}
			out[c.name+name] = &fstest.MapFile{Data: bytes.Clone(data), Mode: 0o600}
		}
	}
	if f.second != nil {
		out["second"] = &fstest.MapFile{Data: bytes.Clone(f.second)}
	}
	return out
}

// verify runs over a file system, with the second place if there is one.
func verify(t testing.TB, fsys fs.FS, second bool) Report {
	t.Helper()
	var places []*witnessFile
	if second {
		places = []*witnessFile{{fsys: fsys, base: "second", name: "second"}}
	}
	report, err := verifyFS(fsys, places, VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return report
}
