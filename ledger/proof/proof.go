// Package proof proves that single entries are in a ledger, to a reader who has only the proof and the public key.
//
// # How do I prove an entry?
//
// Keep the [ledger.Receipt] of the entry and call [Make]. The proof is JSON and holds the entry itself. A proof needs
// a signed checkpoint over the entry; until one is written, at most a second later, [Make] returns [ErrNotCovered].
//
// # How do I check a proof?
//
// [Parse] it and call [Check] with the public keys you trust. Check needs neither the ledger nor the network.
package proof

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/candor-mcp/candor/internal/checkpoint"
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/segment"
	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/ledger/internal/tree"
)

// Proof proves that an entry is in a ledger, to a reader who has only the proof and the public key. It contains the
// entry itself, which its recipient can read.
type Proof struct {
	V          int         `json:"v"` // 1
	Chain      string      `json:"chain"`
	Seq        uint64      `json:"seq"`
	Entry      string      `json:"entry"`      // the line as stored in the ledger
	Hashes     []tlog.Hash `json:"hashes"`     // from the entry to the root, in base64
	Checkpoint string      `json:"checkpoint"` // the signed note that states the root
}

// ErrNotCovered means that no checkpoint covers the entry yet. A checkpoint covers it at most a second after it was
// written.
var ErrNotCovered = errors.New("no checkpoint covers the entry yet")

// ErrNoEntry means that the entry does not exist or was removed.
var ErrNoEntry = errors.New("no such entry")

// Make makes a proof of one entry against the newest checkpoint of its chain. It uses only the Chain and Seq of at.
// Make reads the chain once, and fails if the chain does not match that checkpoint. The errors are [ErrNoEntry] and
// [ErrNotCovered].
func Make(ctx context.Context, dir string, at ledger.Receipt) (Proof, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Proof{}, fmt.Errorf("opening the ledger: %w", err)
	}
	defer root.Close() //nolint:errcheck // it was only read
	return prove(ctx, root.FS(), at)
}

func prove(ctx context.Context, fsys fs.FS, at ledger.Receipt) (Proof, error) {
	chain, seq := at.Chain, at.Seq
	if _, err := fs.Stat(fsys, chain); err != nil || !format.IsChainName(chain) {
		return Proof{}, fmt.Errorf("%w: no chain %s", ErrNoEntry, chain)
	}
	newest, err := newestStatement(fsys, chain)
	if err != nil {
		return Proof{}, err
	}
	if seq == 0 || newest == nil || newest.Size < int64(seq) { //nolint:gosec // more than 18 digits are covered by nothing
		return Proof{}, notCovered(fsys, chain, seq)
	}
	record := int64(seq) - 1 //nolint:gosec // it is covered
	walk := &proofWalk{ctx: ctx, fsys: fsys, chain: chain, seq: seq, size: newest.Size}
	hashes, err := tlog.ProveRecord(newest.Size, record, walk)
	if err != nil {
		return Proof{}, fmt.Errorf("proving entry %d: %w", seq, err)
	}
	if walk.line == nil { // a tree of one entry needs no hashes
		if _, err := walk.ReadHashes(nil); err != nil {
			return Proof{}, fmt.Errorf("proving entry %d: %w", seq, err)
		}
	}
	if walk.root != newest.Root {
		return Proof{}, fmt.Errorf("chain %s does not match its newest checkpoint; run candor ledger verify", chain)
	}
	return Proof{V: 1, Chain: chain, Seq: seq, Entry: string(walk.line), Hashes: hashes, Checkpoint: newest.Text}, nil
}

// notCovered distinguishes an entry that is not covered yet from one that does not exist.
func notCovered(fsys fs.FS, chain string, seq uint64) error {
	lines := segment.NewStream(fsys, chain)
	defer lines.Close() //nolint:errcheck // it was only read
	for {
		raw, err := lines.Next()
		if err != nil {
			return fmt.Errorf("%w: %s/%d", ErrNoEntry, chain, seq)
		}
		if line, err := ledger.ParseLine(raw.Bytes); err == nil && line.Seq == seq {
			return fmt.Errorf("%w: %s/%d", ErrNotCovered, chain, seq)
		}
	}
}

// newestStatement returns the last checkpoint in the chain's file, or nil. It does not check the signature; [Check]
// does.
func newestStatement(fsys fs.FS, chain string) (*checkpoint.Statement, error) {
	notes, err := checkpoint.OpenStream(fsys, chain+"/"+format.CheckpointsFile, format.CheckpointsFile)
	if err != nil {
		return nil, err
	}
	defer notes.Close() //nolint:errcheck // it was only read
	var newest *checkpoint.Statement
	for {
		text, _, whole, err := notes.Next()
		if errors.Is(err, io.EOF) {
			return newest, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading the checkpoints of %s: %w", chain, err)
		}
		if !whole {
			notes.Accept()
		}
		if s, err := checkpoint.ReadUnsigned(text); err == nil && s.Chain == chain {
			newest = &s
		}
	}
}

// proofWalk reads a chain once and collects the hashes that a proof needs. Its memory use does not depend on the
// chain's length.
type proofWalk struct {
	ctx   context.Context //nolint:containedctx // tlog.HashReader takes none
	fsys  fs.FS
	chain string
	seq   uint64
	size  int64
	line  []byte
	root  tlog.Hash
}

// ReadHashes returns the hashes with these indexes. It implements [tlog.HashReader].
func (w *proofWalk) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	found := newHashFinder(indexes)
	hashes := tree.Tree{Node: found.add}
	lines := segment.NewStream(w.fsys, w.chain)
	defer lines.Close()                                                   //nolint:errcheck // it was only read
	for leaves := tree.NewRecordHasher(); hashes.Size < uint64(w.size); { //nolint:gosec // a size
		if err := w.ctx.Err(); err != nil {
			return nil, err
		}
		raw, err := lines.Next()
		if err != nil {
			return nil, fmt.Errorf("reading entry %d: %w", hashes.Size+1, err)
		}
		line, err := ledger.ParseLine(raw.Bytes)
		if err != nil {
			return nil, format.LineError(raw.File, hashes.Size+1, err)
		}
		if line.Seq != hashes.Size+1 {
			return nil, fmt.Errorf("entries %d to %d are missing", hashes.Size+1, line.Seq-1)
		}
		if line.Seq == w.seq {
			w.line = append([]byte(nil), raw.Bytes...)
		}
		hashes.Push(leaves.Sum(raw.Bytes))
	}
	w.root = hashes.Root()
	return found.hashes, nil
}

// hashFinder collects the nodes of a tree that have the wanted indexes.
type hashFinder struct {
	wanted map[int64]int // index in hashes by stored hash index
	hashes []tlog.Hash
}

func newHashFinder(indexes []int64) *hashFinder {
	f := &hashFinder{wanted: map[int64]int{}, hashes: make([]tlog.Hash, len(indexes))}
	for i, index := range indexes {
		f.wanted[index] = i
	}
	return f
}

func (f *hashFinder) add(level int, n int64, h tlog.Hash) {
	if i, ok := f.wanted[tlog.StoredHashIndex(level, n)]; ok {
		f.hashes[i] = h
	}
}

// Parse decodes a proof from JSON. It rejects JSON that parsers may interpret differently: duplicate members, unknown
// members, and data after the value.
func Parse(data []byte) (Proof, error) {
	var p Proof
	if err := jsontext.UnmarshalStrict(data, &p); err != nil {
		return Proof{}, fmt.Errorf("reading the proof: %w", err)
	}
	return p, p.CheckVersion()
}

// CheckVersion returns an error if [Check] does not support the version of the proof.
func (p *Proof) CheckVersion() error {
	if p.V != 1 {
		return fmt.Errorf("reading the proof: unknown version %d", p.V)
	}
	return nil
}
