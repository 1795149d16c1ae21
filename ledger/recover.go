package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor/internal/segment"
	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/internal/storage"
)

// recoveredChain is the entry about the state of a chain after its writer exited.
type recoveredChain struct {
	Chain    string           `json:"chain"`
	Size     uint64           `json:"size"`
	Last     string           `json:"last"`
	Root     string           `json:"root"`
	Cut      int64            `json:"cut,omitempty"`
	Evidence string           `json:"evidence,omitempty"`
	Digest   string           `json:"digest,omitempty"`
	Open     []reservation    `json:"open,omitempty"`
	Damage   *recoveredDamage `json:"harm,omitempty"`
	Poisoned bool             `json:"poisoned,omitempty"`

	closed bool // it was closed properly, so there is nothing to record
}

type recoveredDamage struct {
	Seq  uint64 `json:"seq"`
	Kind string `json:"kind"`
}

// recoverChain reads the last segment of a chain whose lock the caller holds, cuts off the remains of a crash, and
// makes the rest durable, so that other chains may record it. Earlier segments were closed under a signed checkpoint
// and are left to the verifier, so that the time recovery takes does not depend on the length of the chain.
func recoverChain(s storage.Storage, chain string) (recoveredChain, error) {
	closed, active, err := listSegments(s, chain)
	if err != nil {
		return recoveredChain{}, err
	}
	w := newWalk(chain)
	r := recoveredChain{Chain: chain}
	bad, err := w.lastSegment(s, &r, closed, active)
	if err != nil {
		return recoveredChain{}, err
	}
	covered, _ := lastCheckpoint(s.Files(), chain)
	switch {
	case bad != nil && (bad.proved || bad.seq <= covered):
		if r.Damage == nil { // a damaged chain is not changed
			r.Damage = &recoveredDamage{bad.seq, bad.kind}
		}
	case active:
		err = r.cutTail(s, bad)
	case len(closed) > 0: // the writer was killed between closing a segment and beginning the next
		err = trimClosed(s, closed[len(closed)-1])
	}
	if err != nil {
		return recoveredChain{}, err
	}
	if r.Damage == nil && w.at.seq() < covered {
		r.Damage = &recoveredDamage{Seq: w.at.seq() + 1, Kind: damageTruncated}
	}
	names, err := fs.ReadDir(s.Files(), chain)
	if err != nil {
		return recoveredChain{}, err
	}
	err = errors.Join(s.SyncDir(chain), storage.Remove(s, chain+"/"+format.ReserveFile))
	for _, item := range names {
		if isUnfinished(item.Name()) {
			err = errors.Join(err, storage.Remove(s, chain+"/"+item.Name()))
		}
	}
	if err != nil {
		return recoveredChain{}, fmt.Errorf("syncing %s: %w", chain, err)
	}
	root := w.at.tree.Root()
	r.Size, r.Last, r.Root, r.Open = w.at.seq(), w.at.last.String(), root.String(), listOpen(w.open)
	r.closed = w.closed && r.Cut == 0 && r.Damage == nil
	return r, nil
}

// isUnfinished reports whether a file has not got its final name yet: end notes and compressed segments are written under
// another name and renamed when they are durable.
func isUnfinished(name string) bool {
	final, aside := strings.CutSuffix(name, storage.AsideSuffix)
	_, packed, isSegment := format.SegmentNumber(final)
	return aside && (final == format.EndFile || isSegment && packed)
}

// lastSegment reads the active segment up to its first bad line. If it has no good line, or does not exist because
// the crash happened while it was created, the chain ends in the last closed segment.
func (w *walk) lastSegment(s storage.Storage, r *recoveredChain, closed []segment.File, active bool) (bad *badLine, err error) {
	if active {
		bad, err = w.segment(s, w.chain+"/"+format.ActiveSegment)
	}
	if err != nil || w.at.seq() > 0 || len(closed) == 0 {
		return bad, err
	}
	inside, err := w.segment(s, closed[len(closed)-1].Name)
	if inside != nil { // it was durable before it was closed, so a crash cannot have caused this
		r.Damage = &recoveredDamage{inside.seq, inside.kind}
	}
	if bad != nil {
		bad.seq = w.at.seq() + 1
	}
	return bad, err
}

// cutTail moves the remains of a crash after the last good line to the evidence, and makes the remaining entries durable.
func (r *recoveredChain) cutTail(s storage.Storage, bad *badLine) error {
	name := r.Chain + "/" + format.ActiveSegment
	f, err := s.OpenAppend(name)
	if err != nil {
		return fmt.Errorf("opening %s: %w", name, err)
	}
	if bad != nil {
		if err = r.keepEvidence(s, name, bad.off, bad.seq); err == nil {
			err = f.Truncate(bad.off) // the evidence is already durable
		}
	}
	if err == nil {
		err = f.Trim() // the writer could not release the space it had reserved
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("cutting the tail of %s: %w", name, err)
	}
	return nil
}

// trimClosed releases the space that was reserved after the end of a closed segment. A compressed one has none.
func trimClosed(s storage.Storage, closed segment.File) error {
	if closed.Packed {
		return nil
	}
	f, err := s.OpenAppend(closed.Name)
	if err != nil {
		return fmt.Errorf("opening %s: %w", closed.Name, err)
	}
	if err := errors.Join(f.Trim(), f.Close()); err != nil {
		return fmt.Errorf("releasing the space after %s: %w", closed.Name, err)
	}
	return nil
}

// keepEvidence durably copies the bytes that will be cut to a separate file.
func (r *recoveredChain) keepEvidence(s storage.Storage, name string, from int64, seq uint64) error {
	dir := r.Chain + "/" + format.EvidenceDir
	if err := s.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	names, err := fs.ReadDir(s.Files(), dir)
	if err != nil {
		return err
	}
	r.Evidence = "torn-" + strconv.FormatUint(seq, 10) + "-" + strconv.Itoa(len(names)+1)
	in, err := storage.OpenAt(s.Files(), name, from)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // it was only read
	f, err := s.Create(dir+"/"+r.Evidence, 0o600)
	if err != nil {
		return err
	}
	sum := sha256.New()
	r.Cut, err = io.Copy(io.MultiWriter(f, sum), in)
	if err == nil {
		err = f.Sync()
	}
	r.Digest = "sha256:" + hex.EncodeToString(sum.Sum(nil))
	return errors.Join(err, f.Close(), s.SyncDir(dir), s.SyncDir(r.Chain))
}
