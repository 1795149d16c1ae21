package verify

import (
	"path/filepath"
	"slices"

	"github.com/candor-mcp/candor/internal/checkpoint"
	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/ledger"
)

// maxNamedCopies limits the witness copies that chains may name, so that a ledger that was tampered with cannot keep a
// verifier busy.
const maxNamedCopies = 16

// firstEntry is the part of the data of a chain's first entry that a verifier reads.
type firstEntry struct {
	WitnessCopy string `json:"second_place"`
	Within      int64  `json:"checkpoint_ms"`
}

func readFirstEntry(line *ledger.Line) firstEntry {
	var data firstEntry
	if format.DecodeData(line.Raw(), &data) != nil {
		return firstEntry{}
	}
	if !filepath.IsAbs(data.WitnessCopy) {
		data.WitnessCopy = ""
	}
	return data
}

// addNamedCopy records the witness copy that the first entry of a chain names.
func (v *verification) addNamedCopy(name string) {
	if name != "" && len(v.namedCopies) < maxNamedCopies && !slices.Contains(v.namedCopies, name) {
		v.namedCopies = append(v.namedCopies, name)
	}
}

// openCopies indexes the blocks of each chain in each witness copy. Files that the caller gave must be readable;
// files that only the chains name may be on another machine and are reported as unread.
func (v *verification) openCopies() error {
	for _, p := range v.copies {
		if err := v.openCopy(p); err != nil {
			return err
		}
	}
	for _, name := range v.namedCopies {
		if hasFile(v.copies, name) {
			continue
		}
		p := checkpoint.NewFile(name)
		if v.openCopy(p) != nil {
			v.report.UnreadWitnessCopies = append(v.report.UnreadWitnessCopies, name)
			continue
		}
		v.copies = append(v.copies, p)
	}
	return nil
}

func (v *verification) openCopy(p *checkpoint.File) error {
	flaw, err := p.Index()
	if err != nil {
		return err
	}
	if flaw != nil {
		v.report.Damage = append(v.report.Damage, Damage{Kind: flaw.Kind, File: p.Name, Offset: flaw.Offset, Text: flaw.Why})
	}
	v.report.WitnessCopies = append(v.report.WitnessCopies, p.Name)
	return nil
}

func (v *verification) closeCopies() {
	for _, p := range v.copies {
		p.Close()
	}
}
