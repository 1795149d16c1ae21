package verify

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"

	"github.com/candor-mcp/candor/internal/checkpoint"
	"github.com/candor-mcp/candor/internal/segment"
	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/ledger"
)

// preview reads the statements of each chain's first entry about other chains.
func (v *verification) preview() error {
	for _, name := range v.chains {
		if err := v.previewChain(name); err != nil {
			return err
		}
	}
	return nil
}

// previewChain ignores a malformed line, which the scan reports.
func (v *verification) previewChain(name string) error {
	lines := segment.NewStream(v.fsys, name)
	defer lines.Close() //nolint:errcheck // it was only read
	raw, err := lines.Next()
	if errors.Is(err, io.EOF) || errors.Is(err, segment.ErrCorrupt) || errors.Is(err, segment.ErrTorn) {
		return nil
	}
	if err != nil {
		return err
	}
	line, err := ledger.ParseLine(raw.Bytes)
	if err != nil || line.Kind != ledger.KindSetting || !line.In(name) {
		return nil
	}
	for _, c := range claimsIn(&line) {
		v.claim(c.about, c.claim)
	}
	if !v.entriesOnly { // the path is one of the machine that wrote the chain
		v.addNamedCopy(readFirstEntry(&line).WitnessCopy)
	}
	return nil
}

// lateClaim is a claim that was found while the chains were being read.
type lateClaim struct {
	about string
	claim claim
}

// claimsIn decodes data.before.
func claimsIn(line *ledger.Line) []lateClaim {
	var data struct {
		Before []struct {
			Chain string `json:"chain"`
			Size  uint64 `json:"size"`
			Last  string `json:"last"`
		} `json:"before"`
	}
	if format.DecodeData(line.Raw(), &data) != nil {
		return nil
	}
	var found []lateClaim
	for _, b := range data.Before {
		if !format.LooksLikeChain(b.Chain) {
			continue // an earlier version named every folder
		}
		c := claim{size: b.Size, by: "chain " + line.Chain()}
		if format.ReadHex(c.last[:], []byte(b.Last)) || b.Size == 0 {
			found = append(found, lateClaim{b.Chain, c})
		}
	}
	return found
}

// gone reports whether retention removed all entries. The last one may have followed the last checkpoint.
func (c *Chain) gone() bool { return c.Entries == 0 && c.Pruned > 0 }

// compareLate compares the ends of chains with claims that were found late.
func (v *verification) compareLate() error {
	for i := range v.report.Chains {
		c := &v.report.Chains[i]
		for _, l := range v.late {
			if l.about != c.Chain || c.Damage != nil || c.gone() || c.Size >= l.claim.size {
				continue
			}
			took, err := v.tookAll(c, l.claim.size)
			if err != nil {
				return err
			}
			if took {
				continue
			}
			c.Damage = &Damage{Kind: kindTruncated, Chain: c.Chain, Seq: c.Size + 1, File: c.Chain + "/" + format.ActiveSegment, Offset: c.Bytes, Absent: true,
				Text: fmt.Sprintf("entries %d to %d are missing: %s names them", c.Size+1, l.claim.size, l.claim.by)}
		}
	}
	for _, l := range v.late {
		v.claim(l.about, l.claim)
	}
	return nil
}

// tookAll reports whether retention removed all entries of a chain, and records that in c. Some of them may still
// exist: a crash or an error while the segments are removed can leave any of them.
func (v *verification) tookAll(c *Chain, size uint64) (bool, error) {
	p, found, err := v.prunedAs(c.Chain, func(p pruning) bool { return p.size >= size })
	if found {
		c.First, c.Size, c.Pruned, c.Last, c.Root = p.size+1, p.size, p.size, p.last.String(), ""
	}
	return found, err
}

// claim adds a claim about a chain unless the same is already known: after many restarts, many chains make the same
// claim about an old one.
func (v *verification) claim(about string, c claim) {
	same := func(o claim) bool { return o.size == c.size && o.last == c.last }
	if !slices.ContainsFunc(v.claims[about], same) {
		v.claims[about] = append(v.claims[about], c)
	}
}

// missing finds chains that are named elsewhere but do not exist.
func (v *verification) missing() error {
	named, file := map[string]string{}, map[string]*checkpoint.File{}
	for about, claims := range v.claims {
		named[about] = claims[0].by
	}
	for by, t := range v.statements {
		for _, r := range t.remarks {
			if r.end != nil {
				named[r.about] = "chain " + by
			}
		}
	}
	for _, p := range v.copies {
		foreign := Foreign{WitnessCopy: p.Name}
		for about, at := range p.Blocks {
			if slices.Contains(v.chains, about) || v.exists(about) {
				continue
			}
			_, flaw := checkpoint.Read(at.Newest, v.keys)
			switch {
			case flaw == nil:
				named[about], file[about] = "a checkpoint in "+p.Name, p
			case flaw.Kind == checkpoint.UnknownKey && (p.Own || len(v.chains) == 0 && !v.keyed):
				named[about], file[about] = "a checkpoint in "+p.Name+", signed with a key that is missing too,", p
			case flaw.Kind == checkpoint.UnknownKey: // of another ledger that uses the same witness copy, or of this one before its keys were lost
				foreign.Chains, foreign.Last = foreign.Chains+1, max(foreign.Last, about)
			default:
				v.report.Damage = append(v.report.Damage, Damage{Kind: flaw.Kind, Chain: about, File: p.Name, Offset: at.Last,
					Text: "invalid checkpoint: " + flaw.Why})
			}
		}
		if foreign.Chains > 0 {
			v.report.Foreign = append(v.report.Foreign, foreign)
		}
	}
	for _, about := range slices.Sorted(maps.Keys(named)) {
		if slices.Contains(v.chains, about) {
			continue
		}
		if excused, err := v.mayBeMissing(about); err != nil {
			return err
		} else if excused {
			continue
		}
		h := Damage{Kind: kindMissingChain, Chain: about, Absent: true, Text: "the chain is missing; " + named[about] + " names it"}
		if p := file[about]; p != nil {
			h.File, h.Offset = p.Name, p.Blocks[about].Last
		}
		v.report.Damage = append(v.report.Damage, h)
	}
	return nil
}

// mayBeMissing reports whether a store need not hold a chain that is named elsewhere: it never had an entry, or a signed entry
// records that retention removed all of them. A folder keeps the files of such chains.
func (v *verification) mayBeMissing(chain string) (bool, error) {
	if !v.entriesOnly {
		return false, nil
	}
	size := uint64(0)
	for _, c := range v.claims[chain] {
		size = max(size, c.size)
	}
	for _, t := range v.statements {
		for _, r := range t.remarks {
			if r.about == chain {
				size = max(size, r.size)
			}
		}
	}
	if size == 0 {
		return true, nil
	}
	_, found, err := v.prunedAs(chain, func(p pruning) bool { return p.size >= size })
	return found, err
}

// exists reports whether a chain exists that was begun after the chains were listed. A chain is a directory with an
// active segment.
func (v *verification) exists(chain string) bool {
	folder, err := fs.Lstat(v.fsys, chain)
	if err != nil || !folder.IsDir() {
		return false
	}
	log, err := fs.Lstat(v.fsys, chain+"/"+format.ActiveSegment)
	return err == nil && log.Mode().IsRegular()
}

// impostors finds files and links that have the name of a chain.
func (v *verification) impostors() error {
	list, err := fs.ReadDir(v.fsys, ".")
	if err != nil {
		return fmt.Errorf("listing the ledger: %w", err)
	}
	for _, item := range list {
		if format.LooksLikeChain(item.Name()) && !item.IsDir() {
			v.report.Damage = append(v.report.Damage, Damage{Kind: kindMissingChain, Chain: item.Name(), File: item.Name(),
				Text: "a file or a link, want the folder of a chain"})
		}
	}
	return nil
}

// compareTwins checks that a segment that exists both plain and compressed has the same content in both files.
func (v *verification) compareTwins(c *Chain) error {
	list, err := segment.List(v.fsys, c.Chain)
	if err != nil {
		return err
	}
	for _, s := range list {
		if !s.Twice {
			continue
		}
		plain, err := digestOf(v.fsys, s.Name, false)
		packed, packedErr := digestOf(v.fsys, s.Name+format.GzipSuffix, true)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(packedErr, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if errors.Is(packedErr, segment.ErrCorrupt) || plain != packed {
			c.Damage = &Damage{Kind: kindDuplicate, Chain: c.Chain, File: s.Name + format.GzipSuffix, Text: "the compressed copy of the segment differs from the plain one"}
			return nil
		}
		if err := errors.Join(err, packedErr); err != nil {
			return err
		}
	}
	return nil
}

func digestOf(fsys fs.FS, name string, packed bool) (string, error) {
	file, err := segment.OpenFile(fsys, name, packed)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	return hex.EncodeToString(sum.Sum(nil)), errors.Join(err, file.Close())
}
