package ledger

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"time"

	"github.com/candor-mcp/candor/internal/segment"
)

// Reader reads the entries of a ledger folder. It takes no lock, changes nothing and never blocks a writer, and its
// memory use does not depend on the size of the ledger. It skips malformed lines and reports them to
// [ReadOptions.Skipped]; package verify finds out what is wrong with them.
//
// A Reader is safe for concurrent use; a sequence that it returned is not.
type Reader struct {
	root *os.Root
	fsys fs.FS
}

// OpenReader opens a ledger folder for reading.
func OpenReader(dir string) (*Reader, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the ledger: %w", err)
	}
	return &Reader{root: root, fsys: root.FS()}, nil
}

// NewReader returns a [Reader] of a ledger in a file system, such as a copy in a shared store. The chains are folders with a file
// audit-log.jsonl; see spec/ledger.md.
func NewReader(fsys fs.FS) *Reader { return &Reader{fsys: fsys} }

// Close closes the folder.
func (r *Reader) Close() error {
	if r.root == nil {
		return nil
	}
	return r.root.Close()
}

// Chains returns the names of the chains, sorted. For one instance this is the order in which they began.
func (r *Reader) Chains() ([]string, error) { return segment.Chains(r.fsys) }

// ReadOptions selects entries. The zero value selects all.
type ReadOptions struct {
	Chain string    // only this chain
	From  uint64    // with Chain: only entries with this number or later; earlier segments are not read
	Since time.Time // only entries of this time or later
	Last  int       // only the last n that Keep accepts; 0 means all
	// Keep reports whether an entry is wanted; nil accepts all. It must not retain the line.
	Keep func(*Line) bool
	// Follow waits for more entries at the end, until the context ends.
	Follow bool
	// Poll is the interval at which Follow looks for entries. 0 means 200 ms.
	Poll time.Duration
	// Wake makes Follow look for entries at once when a value is received. It must not be closed.
	Wake <-chan struct{}
	// Skipped, if not nil, is called for each malformed line.
	Skipped func(file string, offset int64)
}

// Entries returns the entries of all chains ordered by time, then chain, then number. Each line is valid until the
// next iteration. An error ends the sequence; when the context ends, the sequence ends without an error.
func (r *Reader) Entries(ctx context.Context, options ReadOptions) iter.Seq2[*Line, error] {
	return func(yield func(*Line, error) bool) {
		m := newMerge(r, options)
		defer func() { m.close() }()
		if options.Last > 0 {
			var goOn bool
			if m, goOn = lastOf(ctx, m, yield); !goOn {
				return
			}
		} else if !m.drain(ctx, yield) {
			return
		}
		if options.Follow {
			m.follow(ctx, yield)
		}
	}
}
