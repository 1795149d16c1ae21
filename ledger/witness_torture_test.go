package ledger_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/candor-mcp/candor/ledger"
)

// acknowledged holds the receipts that callers have received. All of their entries must be in the ledger.
type acknowledged struct {
	mu       sync.Mutex
	receipts []ledger.Receipt // append-only, so that a prefix can be kept
}

func (w *acknowledged) add(r ledger.Receipt) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.receipts = append(w.receipts, r)
}

// soFar returns the receipts up to now. The caller may keep the slice.
func (w *acknowledged) all() []ledger.Receipt {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.receipts[:len(w.receipts):len(w.receipts)]
}

// place identifies an entry.
type place struct {
	chain string
	seq   uint64
}

// inventory is the content of a ledger folder, read without the ledger's own code.
type inventory struct {
	hashes map[place]string
	kinds  map[ledger.Kind]int
	disk   map[string]int // number of settings by recorded state of the disk: full, space
	twice  []place        // entries that occur more than once, always with the same hash
	refs   map[string]int // number of entries by ref, without completions
}

// readFolder reads all entries of all chains. Two different entries with one number are an error; an incomplete line
// ends its file.
func readFolder(fsys fs.FS) (*inventory, error) {
	f := &inventory{hashes: map[place]string{}, kinds: map[ledger.Kind]int{}, disk: map[string]int{}, refs: map[string]int{}}
	segments, err := fs.Glob(fsys, "*/audit-log*")
	if err != nil {
		return f, err
	}
	for _, name := range segments {
		if strings.HasSuffix(name, ".new") || packedTwice(segments, name) {
			continue
		}
		content, err := readSegment(fsys, name)
		if err != nil {
			return f, fmt.Errorf("reading %s: %w", name, err)
		}
		if err := f.take(path.Dir(name), content); err != nil {
			return f, fmt.Errorf("in %s: %w", name, err)
		}
	}
	return f, nil
}

// packedTwice reports whether name is a compressed file that also exists plain: a crash between compressing and
// removing leaves both.
func packedTwice(segments []string, name string) bool {
	plain, packed := strings.CutSuffix(name, ".gz")
	return packed && slices.Contains(segments, plain)
}

func readSegment(fsys fs.FS, name string) ([]byte, error) {
	content, err := fs.ReadFile(fsys, name)
	if err != nil || !strings.HasSuffix(name, ".gz") {
		return content, err
	}
	z, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

func (f *inventory) take(chain string, content []byte) error {
	for line := range bytes.Lines(content) {
		hash, whole := bytes.CutSuffix(line, []byte("\"}\n"))
		seq, err := strconv.ParseUint(between(line, `"seq":`, ","), 10, 64)
		if !whole || err != nil || len(hash) < 64 || hash[0] != '{' {
			return nil
		}
		at := place{chain, seq}
		own := string(hash[len(hash)-64:])
		if other, twice := f.hashes[at]; twice && other != own {
			return fmt.Errorf("fork: there are two entries %d", seq)
		} else if twice {
			f.twice = append(f.twice, at)
			continue
		}
		f.hashes[at] = own
		kind := ledger.Kind(between(line, `"kind":"`, `"`))
		f.kinds[kind]++
		if kind == ledger.KindSetting {
			f.disk[between(line, `"data":{"disk":"`, `"`)]++
		}
		if ref := between(line, `"ref":"`, `"`); ref != "" && kind != ledger.KindComplete {
			f.refs[ref]++
		}
	}
	return nil
}

// between returns the text between after and before.
func between(line []byte, after, before string) string {
	_, rest, _ := bytes.Cut(line, []byte(after))
	text, _, _ := bytes.Cut(rest, []byte(before))
	return string(text)
}

// lost returns the receipts of missing or different entries.
func (f *inventory) lost(receipts []ledger.Receipt) (lost []ledger.Receipt) {
	for _, r := range receipts {
		if f.hashes[place{r.Chain, r.Seq}] != r.Hash {
			lost = append(lost, r)
		}
	}
	return lost
}
