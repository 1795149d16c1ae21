package verify

import "github.com/candor-mcp/candor/internal/checkpoint"

// keptUpTo records that, according to a checkpoint entry, its checkpoint was also written to the witness copy.
func (s *chainScan) keptUpTo(inside *checkpointData) {
	if !s.hasWitnessCopy || inside.Witnessed != nil && !*inside.Witnessed {
		return
	}
	if said, err := checkpoint.ReadUnsigned(inside.Note); err == nil {
		s.kept = max(s.kept, uint64(said.Size)) //nolint:gosec // it was read as a size
	}
}

// compareKept finds chains whose witness copies cover less than the chain claims. It reads the copies again, because
// they were read before the chains and a running writer may have added to both. A power cut may lose the newest
// blocks, so this alone is not damage.
func (v *verification) compareKept() error {
	var again []*checkpoint.File
	for i := range v.report.Chains {
		c := &v.report.Chains[i]
		kept := v.statements[c.Chain].kept
		if kept <= c.Witnessed || len(v.copies) == 0 {
			continue
		}
		for _, p := range v.copies[len(again):] {
			fresh := &checkpoint.File{Fsys: p.Fsys, Base: p.Base, Name: p.Name}
			again = append(again, fresh)
			defer fresh.Close()
			if _, err := fresh.Index(); err != nil {
				return err
			}
		}
		if !v.holdKept(again, c.Chain, kept) {
			c.Unwitnessed = kept
		}
	}
	return nil
}

func (v *verification) holdKept(places []*checkpoint.File, chain string, kept uint64) bool {
	for _, p := range places {
		if at := p.Blocks[chain]; at != nil {
			said, flaw := checkpoint.Read(at.Newest, v.keys)
			if flaw == nil && uint64(said.Size) >= kept { //nolint:gosec // it was read as a size
				return true
			}
		}
	}
	return false
}
