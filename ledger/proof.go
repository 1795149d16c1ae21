package ledger

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/candor-mcp/candor/internal/strictjson"
)

// Proof shows that an entry is in a ledger, to somebody who has nothing but the proof and the public key. It holds the entry itself, so
// whoever gets it can read it.
type Proof struct {
	V          int         `json:"v"` // 1
	Chain      string      `json:"chain"`
	Seq        uint64      `json:"seq"`
	Entry      string      `json:"entry"`      // the line as it stands in the ledger
	Hashes     []tlog.Hash `json:"hashes"`     // from the entry up to the root, in base64
	Checkpoint string      `json:"checkpoint"` // the signed note that the root stands in

	// Session is set if the proof is about an entry's place in a session. Then Entry is the one that finalised the session.
	Session *SessionProof `json:"session,omitempty"`
}

// SessionProof shows that an entry is part of a session whose root the entry of the enclosing [Proof] states.
type SessionProof struct {
	ID     string      `json:"id"`
	Index  int64       `json:"index"` // from 0, in the order of the session
	Entry  string      `json:"entry"`
	Hashes []tlog.Hash `json:"hashes"`
}

// ErrNotCovered says that no checkpoint covers the entry yet; one does at most a second after it was written.
var ErrNotCovered = errors.New("no checkpoint covers the entry yet")

// ErrNoEntry says that the ledger has no such entry, or has it no more.
var ErrNoEntry = errors.New("no such entry")

// Prove makes a proof for one entry, against the newest checkpoint of its chain. It reads the chain once, and refuses to prove anything from
// a chain that does not fit that checkpoint.
func Prove(dir, chain string, seq uint64) (Proof, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Proof{}, fmt.Errorf("opening the ledger: %w", err)
	}
	defer root.Close() //nolint:errcheck // it was only read
	return prove(root.FS(), chain, seq)
}

func prove(fsys fs.FS, chain string, seq uint64) (Proof, error) {
	if _, err := fs.Stat(fsys, chain); err != nil || !isChainName(chain) {
		return Proof{}, fmt.Errorf("%w: there is no chain %s", ErrNoEntry, chain)
	}
	newest, err := newestStatement(fsys, chain)
	if err != nil {
		return Proof{}, err
	}
	if seq == 0 || newest == nil || newest.size < int64(seq) { //nolint:gosec // more than 18 digits are covered by nothing
		return Proof{}, notCovered(fsys, chain, seq)
	}
	record := int64(seq) - 1 //nolint:gosec // it is covered
	walk := &proofWalk{fsys: fsys, chain: chain, seq: seq, size: newest.size}
	hashes, err := tlog.ProveRecord(newest.size, record, walk)
	if err != nil {
		return Proof{}, fmt.Errorf("proving entry %d: %w", seq, err)
	}
	if walk.line == nil { // a tree of one entry needs no hashes
		if _, err := walk.ReadHashes(nil); err != nil {
			return Proof{}, fmt.Errorf("proving entry %d: %w", seq, err)
		}
	}
	if walk.root != newest.root {
		return Proof{}, fmt.Errorf("chain %s does not fit its newest checkpoint: verify it", chain)
	}
	return Proof{V: 1, Chain: chain, Seq: seq, Entry: string(walk.line), Hashes: hashes, Checkpoint: newest.text}, nil
}

// notCovered tells an entry that is not covered yet from one that is not there.
func notCovered(fsys fs.FS, chain string, seq uint64) error {
	lines := newLineStream(fsys, chain)
	defer lines.close() //nolint:errcheck // it was only read
	for {
		raw, err := lines.next()
		if err != nil {
			return fmt.Errorf("%w: %s/%d", ErrNoEntry, chain, seq)
		}
		if line, err := parseLine(raw.bytes); err == nil && line.Seq == seq {
			return fmt.Errorf("%w: %s/%d", ErrNotCovered, chain, seq)
		}
	}
}

// newestStatement returns the last checkpoint in the chain's file, or nil. Whether its signature can be believed is for whoever checks the
// proof.
func newestStatement(fsys fs.FS, chain string) (*statement, error) {
	notes, err := openNotes(fsys, chain+"/"+checkpointsName, checkpointsName)
	if err != nil {
		return nil, err
	}
	defer notes.close() //nolint:errcheck // it was only read
	var newest *statement
	for {
		text, _, whole, err := notes.next()
		if errors.Is(err, io.EOF) {
			return newest, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading the checkpoints of %s: %w", chain, err)
		}
		if !whole {
			notes.accept()
		}
		if s, err := unsignedStatement(text); err == nil && s.chain == chain {
			newest = &s
		}
	}
}

// proofWalk reads a chain once for the few hashes of its tree that a proof needs. Its memory does not depend on the chain's length.
type proofWalk struct {
	fsys  fs.FS
	chain string
	seq   uint64
	size  int64
	line  []byte
	root  tlog.Hash
}

// ReadHashes finds the hashes with these indexes. It implements [tlog.HashReader].
func (w *proofWalk) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	found := make([]tlog.Hash, len(indexes))
	places := map[int64]int{}
	for i, index := range indexes {
		places[index] = i
	}
	tree := frontier{node: func(level int, n int64, h tlog.Hash) {
		if i, wanted := places[tlog.StoredHashIndex(level, n)]; wanted {
			found[i] = h
		}
	}}
	lines := newLineStream(w.fsys, w.chain)
	defer lines.close() //nolint:errcheck // it was only read
	for leaves := newLeafHasher(); tree.size < w.size; {
		raw, err := lines.next()
		if err != nil {
			return nil, fmt.Errorf("entry %d cannot be read: %w", tree.size+1, err)
		}
		line, err := parseLine(raw.bytes)
		if err != nil {
			return nil, lineError(raw.file, uint64(tree.size)+1, err) //nolint:gosec // a size
		}
		if line.Seq != uint64(tree.size)+1 { //nolint:gosec // a size
			return nil, fmt.Errorf("entries %d to %d are gone", tree.size+1, line.Seq-1)
		}
		if line.Seq == w.seq {
			w.line = append([]byte(nil), raw.bytes...)
		}
		tree.push(leaves.sum(raw.bytes))
	}
	w.root = tree.root()
	return found, nil
}

// ReadProof reads a proof from its JSON. A text that readers can understand differently is refused: one with a member twice, with a member
// that a proof does not have, or with more than one value.
func ReadProof(data []byte) (Proof, error) {
	var p Proof
	if err := strictjson.Unmarshal(data, &p); err != nil {
		return Proof{}, fmt.Errorf("reading the proof: %w", err)
	}
	return p, p.CheckVersion()
}

// CheckVersion returns an error if the proof has another version than those that [CheckProof] knows.
func (p *Proof) CheckVersion() error {
	if p.V != 1 {
		return fmt.Errorf("reading the proof: version %d is not known", p.V)
	}
	return nil
}
