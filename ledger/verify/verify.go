// Package verify checks a whole ledger: every line, every link, every signed checkpoint.
//
// # How do I check a ledger?
//
// [Dir] reads a folder and returns a [Report]. It changes nothing, takes no lock, and may run while the ledger is
// written. [Report.OK] is the verdict, and [Report.Damage] says what is wrong, with the chain, the entry and the file.
//
// # What do I compare it with?
//
// Without [Options] a ledger is compared with its own keys and with the witness copies that its chains name. A person who can change
// the entries can also change the keys in the folder, so pass the public keys that you kept elsewhere in [Options.Keys].
//
// # What is not damage?
//
// A crash may leave half a line at the end of a chain, and retention removes old segments and records that. Neither is reported.
package verify

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sort"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/candor-mcp/candor/internal/checkpoint"
	"github.com/candor-mcp/candor/internal/segment"
	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/internal/storage"
	"github.com/candor-mcp/candor/ledger/internal/tree"
)

// Options configures a verification. The zero value uses the keys and witness copies that the ledger itself names.
type Options struct {
	// WitnessCopies are witness copies: files that checkpoints were also written to. Each must be readable.
	WitnessCopies []string
	// WitnessCopies are witness copies that only this ledger uses. Missing files are ignored; a missing chain that one
	// of them names is damage under any key. Witness copies that the chains name need not be listed here.
	OwnWitnessCopies []string
	// Keys are the public keys to trust, one verifier line each. If empty, the keys in the folder are used, which
	// prove less: a person who can change the entries can change those keys too.
	Keys []string
	// WitnessFS is the file system in which WitnessCopies are names; nil means that of the operating system.
	WitnessFS fs.FS
	// Known are entries that the caller knows from elsewhere. A chain must contain them, unless a signed entry records
	// that retention removed them.
	Known []Known
	// EntriesOnly says that the file system holds the entries of each chain in one file, and nothing else, as the copy
	// of a ledger in a shared store does. Then the checkpoints in the entries count, a chain that was never written or
	// that retention removed may be missing, and nothing is excused as the remains of a crash.
	EntriesOnly bool
	// Progress, if not nil, is called from time to time. It runs on the caller's goroutine.
	Progress func(Progress)
}

// Known is an entry of a chain that the caller knows from elsewhere.
type Known struct {
	Chain string
	Seq   uint64
	Hash  [sha256.Size]byte
	By    string // where it is known from, such as "the checkpoint of 2026-11-15"
}

// Progress is the progress of a verification.
type Progress struct {
	Chains, Chain int   // number of chains, and the number of the current one, from 1
	Bytes         int64 // read so far
}

// Report is the result of a verification.
type Report struct {
	OK bool `json:"ok"`
	// OwnKeys is true if the keys are those in the folder itself.
	OwnKeys bool    `json:"own_keys"`
	Entries uint64  `json:"entries"`
	Bytes   int64   `json:"bytes"`
	Chains  []Chain `json:"chains"`
	// WitnessCopies are the witness copies that the ledger was compared with.
	WitnessCopies []string `json:"witness_copies"`
	// UnreadWitnessCopies are witness copies that chains name and that cannot be read here.
	UnreadWitnessCopies []string `json:"unread_witness_copies,omitempty"`
	// Foreign are the witness copies with checkpoints of chains that do not exist here, signed with unknown keys.
	// They belong to other ledgers, or to this one before it was removed together with its keys.
	Foreign []Foreign `json:"foreign,omitempty"`
	// Damage holds the first damage of every damaged chain, and damage outside the chains.
	Damage []Damage `json:"damage"`
	// Pruned are the removals by retention that signed entries record, in the order of the chains that record them.
	Pruned []Pruned `json:"-"`
}

// Pruned is the record that retention removed the entries of a chain up to and including Seq.
type Pruned struct {
	Chain string
	Seq   uint64
	Time  time.Time // of the record
}

// Foreign describes chains that only a witness copy names, under unknown keys.
type Foreign struct {
	WitnessCopy string `json:"witness_copy"`
	Chains      int    `json:"chains"`
	Last        string `json:"last"` // name of one of them
}

// Chain is the result for one chain.
type Chain struct {
	Chain       string    `json:"chain"`
	Entries     uint64    `json:"entries"`               // entries that were read
	First       uint64    `json:"first"`                 // number of the first remaining entry
	Size        uint64    `json:"size"`                  // number of the last good entry
	Bytes       int64     `json:"bytes"`                 // size of the good entries
	Pruned      uint64    `json:"pruned,omitempty"`      // number of entries removed by retention
	Begin       time.Time `json:"begin,omitzero"`        // time of the first entry
	End         time.Time `json:"end,omitzero"`          // time of the last entry
	Last        string    `json:"last"`                  // hash of the last entry
	Root        string    `json:"root,omitempty"`        // root of the tree over all entries
	Checkpoints int       `json:"checkpoints"`           // checkpoints in files that were compared
	Inside      int       `json:"inside,omitempty"`      // checkpoints that are only in entries, because a crash lost them from the file
	Covered     uint64    `json:"covered"`               // entries that a checkpoint in the folder covers
	Witnessed   uint64    `json:"witnessed,omitempty"`   // entries that a checkpoint in a witness copy covers
	Unwitnessed uint64    `json:"unwitnessed,omitempty"` // entries that a witness copy should cover according to the chain, if it covers fewer
	Closed      bool      `json:"closed"`                // its writer closed it
	Recovered   string    `json:"recovered,omitempty"`   // the chain that recorded its end, after its writer had exited
	Torn        int64     `json:"torn,omitempty"`        // bytes of an incomplete last line; not damage
	Damage      *Damage   `json:"damage,omitempty"`
}

// Dir reads a whole ledger folder and compares it with its checkpoints. Damage is in the report; the error is not nil
// only if the folder cannot be read or ctx is cancelled.
func Dir(ctx context.Context, dir string, options Options) (Report, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Report{}, fmt.Errorf("opening the ledger: %w", err)
	}
	defer root.Close() //nolint:errcheck // it was only read
	return FS(ctx, root.FS(), options)
}

// witnessCopies returns the witness copies that the caller names.
func (o *Options) witnessCopies() []*checkpoint.File {
	copies := make([]*checkpoint.File, 0, len(o.WitnessCopies)+len(o.OwnWitnessCopies))
	for _, name := range o.WitnessCopies {
		if o.WitnessFS != nil {
			copies = append(copies, &checkpoint.File{Fsys: o.WitnessFS, Base: name, Name: name})
		} else {
			copies = append(copies, checkpoint.NewFile(name))
		}
	}
	for _, name := range o.OwnWitnessCopies {
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) || hasFile(copies, name) {
			continue
		}
		p := checkpoint.NewFile(name)
		p.Own = true
		copies = append(copies, p)
	}
	return copies
}

func hasFile(copies []*checkpoint.File, name string) bool {
	return slices.ContainsFunc(copies, func(p *checkpoint.File) bool { return checkpoint.SameFile(p.Name, name) })
}

// ErrNoLedger means that a folder does not contain a ledger. A writer creates the key first, so that even a new
// ledger has one.
var ErrNoLedger = segment.ErrNoLedger

// verification is one run. It belongs to one goroutine.
type verification struct {
	ctx         context.Context //nolint:containedctx // of one call of FS
	fsys        fs.FS
	chains      []string // in the folder when the verification began
	keys        note.Verifiers
	copies      []*checkpoint.File
	namedCopies []string             // witness copies that chains name
	claims      map[string][]claim   // by the chain they are about
	statements  map[string]testimony // by the chain that makes the statements
	pruned      map[string][]pruning // nil until it is needed
	late        []lateClaim
	keyed       bool // the folder holds a key
	entriesOnly bool
	onProgress  func(Progress)
	at          Progress
	reported    int64
	report      Report
}

// FS verifies the ledger in a file system, as [Dir] does.
func FS(ctx context.Context, fsys fs.FS, options Options) (Report, error) {
	v := &verification{ctx: ctx, fsys: fsys, copies: options.witnessCopies(), claims: map[string][]claim{}, statements: map[string]testimony{}, entriesOnly: options.EntriesOnly, onProgress: options.Progress}
	defer v.closeCopies()
	v.report.Damage, v.report.Chains, v.report.WitnessCopies = []Damage{}, []Chain{}, []string{}
	// The evidence is read before the chains. Chains only grow, so a running writer causes no false alarm.
	chains, err := segment.Chains(fsys)
	if err != nil {
		return Report{}, err
	}
	v.chains = chains
	if err := v.trust(options.Keys); err != nil {
		return Report{}, err
	}
	for _, k := range options.Known {
		v.claim(k.Chain, claim{size: k.Seq, last: k.Hash, by: k.By})
	}
	for _, check := range []func() error{
		v.preview, v.openCopies, v.scanAll, v.compareEnds, v.compareLate, v.missing, v.impostors, v.compareKept,
	} {
		if err := check(); err != nil {
			return Report{}, err
		}
	}
	if len(chains) == 0 && !v.keyed && len(v.report.Damage) == 0 {
		return Report{}, ErrNoLedger
	}
	return v.conclude(), nil
}

// trust sets the keys to trust.
func (v *verification) trust(lines []string) error {
	own, err := folderKeys(v.fsys)
	if err != nil {
		return err
	}
	v.keyed = len(own) > 0
	if v.report.OwnKeys = len(lines) == 0; v.report.OwnKeys {
		lines = own
	}
	keys, err := checkpoint.Verifiers(lines)
	v.keys = keys
	return err
}

// scanAll scans every chain and adds its report.
func (v *verification) scanAll() error {
	v.at.Chains = len(v.chains)
	for i, name := range v.chains {
		v.at.Chain = i + 1
		report, err := v.scan(name, 0)
		if err != nil {
			return err
		}
		v.report.Chains = append(v.report.Chains, report)
	}
	return nil
}

// scan reads one chain, up to entry limit unless that is 0.
func (v *verification) scan(name string, limit uint64) (Chain, error) {
	s, err := v.newScan(name)
	if err != nil {
		return Chain{}, err
	}
	s.limit = limit
	s.claims = slices.Clone(v.claims[name])
	sort.Slice(s.claims, func(i, j int) bool { return s.claims[i].size < s.claims[j].size })
	if err := s.run(); err != nil {
		return Chain{}, err
	}
	v.statements[name] = testimony{signed: s.signed, kept: s.kept, remarks: s.remarks, pruned: s.pruned}
	if s.report.Damage == nil {
		if err := v.compareTwins(&s.report); err != nil {
			return Chain{}, err
		}
	}
	return s.report, nil
}

// newScan opens a chain and every file that holds checkpoints of it.
func (v *verification) newScan(name string) (*chainScan, error) {
	witnesses, err := v.witnesses(name)
	if err != nil {
		return nil, err
	}
	s := &chainScan{v: v, lines: segment.NewStream(v.fsys, name), leaves: tree.NewRecordHasher(), last: format.Genesis(name), witnesses: witnesses}
	s.report.Chain = name
	return s, nil
}

// witnesses opens the chain's own file of checkpoints and the witness copies that name the chain, in this order.
func (v *verification) witnesses(name string) ([]*witness, error) {
	own, err := checkpoint.OpenStream(v.fsys, name+"/"+format.CheckpointsFile, name+"/"+format.CheckpointsFile)
	if err != nil {
		return nil, err
	}
	list := []*witness{{notes: own, keys: v.keys, chain: name}}
	for _, p := range v.copies {
		w, err := witnessIn(p, name, v.keys)
		if err != nil {
			_ = own.Close() // only read
			return nil, err
		}
		if w != nil {
			list = append(list, w)
		}
	}
	return list, nil
}

// conclude computes the totals and the verdict.
func (v *verification) conclude() Report {
	r := &v.report
	for _, c := range r.Chains {
		r.Entries += c.Entries
		r.Bytes += c.Bytes
		if c.Damage != nil {
			r.Damage = append(r.Damage, *c.Damage)
		}
		r.Pruned = append(r.Pruned, v.statements[c.Chain].signedPrunings()...)
	}
	r.OK = len(r.Damage) == 0
	return *r
}

// progress is called for every line, and calls the caller's function every few megabytes.
func (v *verification) progress(bytes int64) {
	v.at.Bytes += bytes
	if v.onProgress != nil && v.at.Bytes-v.reported >= 4<<20 {
		v.reported = v.at.Bytes
		v.onProgress(v.at)
	}
}

// folderKeys returns the public keys in the folder, the current one and older ones. It skips invalid files, because
// anyone who can write to the folder can add them; the checkpoints that such a key would have signed are reported
// with an unknown key.
func folderKeys(fsys fs.FS) ([]string, error) {
	names := []string{format.SignerPub}
	old, err := fs.ReadDir(fsys, format.OldKeysDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("listing old keys: %w", err)
	}
	for _, item := range old {
		names = append(names, format.OldKeysDir+"/"+item.Name())
	}
	var keys []string
	for _, name := range names {
		lines, err := folderKeysIn(fsys, name)
		if err != nil {
			return nil, fmt.Errorf("reading a public key: %w", err)
		}
		keys = append(keys, lines...)
	}
	return keys, nil
}

// folderKeysIn returns the valid keys in one file.
func folderKeysIn(fsys fs.FS, name string) ([]string, error) {
	text, err := storage.ReadTail(fsys, name, format.MaxKeyFile)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, storage.ErrNotRegular) {
		return nil, nil
	}
	return slices.DeleteFunc(checkpoint.KeyLines(string(text)), func(line string) bool {
		_, err := checkpoint.Verifiers([]string{line})
		return err != nil
	}), err
}
