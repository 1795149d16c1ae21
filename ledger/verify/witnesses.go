package verify

import (
	"path/filepath"
	"slices"

	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/ledger/internal/checkpoint"
	"github.com/candor-mcp/candor/ledger/internal/format"
)

// maxPlaces limits the witness copies that chains may name, so that a ledger that was tampered with cannot keep a
// verifier busy.
const maxPlaces = 16

// namePlace records the witness copy that the first entry of a chain names.
func (v *verification) namePlace(line *ledger.Line) {
	var data struct {
		Second string `json:"second_place"`
	}
	if format.DecodeData(line.Raw(), &data) != nil || !filepath.IsAbs(data.Second) || len(v.named) == maxPlaces || slices.Contains(v.named, data.Second) {
		return
	}
	v.named = append(v.named, data.Second)
}

// openPlaces indexes the blocks of each chain in each witness copy. Files that the caller gave must be readable;
// files that only the chains name may be on another machine and are reported as unread.
func (v *verification) openPlaces() error {
	for _, p := range v.places {
		if err := v.openPlace(p); err != nil {
			return err
		}
	}
	for _, name := range v.named {
		if slices.ContainsFunc(v.places, func(p *checkpoint.File) bool { return checkpoint.SameFile(p.Name, name) }) {
			continue
		}
		p := checkpoint.NewFile(name)
		if v.openPlace(p) != nil {
			v.report.Unread = append(v.report.Unread, name)
			continue
		}
		v.places = append(v.places, p)
	}
	return nil
}

func (v *verification) openPlace(p *checkpoint.File) error {
	flaw, err := p.Index()
	if err != nil {
		return err
	}
	if flaw != nil {
		v.report.Damage = append(v.report.Damage, Damage{Kind: Kind(flaw.Kind), File: p.Name, Offset: flaw.Offset, Text: flaw.Why})
	}
	v.report.SecondPlaces = append(v.report.SecondPlaces, p.Name)
	return nil
}

func (v *verification) closePlaces() {
	for _, p := range v.places {
		p.Close()
	}
}
