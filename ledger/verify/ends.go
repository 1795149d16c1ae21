package verify

import (
	"fmt"
	"maps"
	"slices"

	"github.com/candor-mcp/candor/internal/segment/format"
)

// remark is a statement of one chain about another: its size and the hash of its last entry.
type remark struct {
	seq   uint64 // number of the entry that makes the statement
	about string
	size  uint64
	last  format.Digest
	end   *recovery // set if the entry records the end of that chain
}

// testimony holds the statements of one chain about others. Entries that are not signed could have been written
// without the key, so their remarks may show damage but never excuse it.
type testimony struct {
	signed  uint64
	kept    uint64 // entries that a witness copy should cover
	remarks []remark
	pruned  []prunedAt
}

// signedPrunings returns the records of retention that a checkpoint covers.
func (t testimony) signedPrunings() (signed []Pruned) {
	for _, p := range t.pruned {
		if p.by <= t.signed {
			signed = append(signed, p.Pruned)
		}
	}
	return signed
}

// recovery is the recorded end of a chain, from a recovered entry of another chain.
type recovery struct {
	size     uint64
	last     format.Digest
	by       string
	damage   bool // the chain was damaged, so its end may differ from the recorded one
	poisoned bool // the content after its end is undefined
}

// remarkEnd collects the statement of an entry about the end of another chain.
func (s *chainScan) remarkEnd() {
	var data struct {
		Chain    string `json:"chain"`
		Size     uint64 `json:"size"`
		Last     string `json:"last"`
		Damage   any    `json:"harm"`
		Poisoned bool   `json:"poisoned"`
	}
	if s.loose || format.DecodeData(s.line.Raw(), &data) != nil || !format.LooksLikeChain(data.Chain) || data.Chain == s.report.Chain {
		return
	}
	r := recovery{size: data.Size, by: s.report.Chain, damage: data.Damage != nil, poisoned: data.Poisoned}
	if format.ReadHex(r.last[:], []byte(data.Last)) || r.size == 0 {
		s.remarks = append(s.remarks, remark{seq: s.seq, about: data.Chain, size: r.size, last: r.last, end: &r})
	}
}

// remarkBefore collects the statements of a setting about the chains that existed before.
func (s *chainScan) remarkBefore() {
	if s.loose {
		return
	}
	for _, c := range claimsIn(&s.line) {
		s.remarks = append(s.remarks, remark{seq: s.seq, about: c.about, size: c.claim.size, last: c.claim.last})
	}
}

// endOf returns the recorded end of a chain. A signed record is preferred to others, then the one with the largest
// size. An unsigned record that would excuse damage is ignored.
func (v *verification) endOf(chain string) (end recovery, signed, found bool) {
	for _, by := range slices.Sorted(maps.Keys(v.statements)) {
		t := v.statements[by]
		for _, r := range t.remarks {
			if r.about != chain || r.end == nil {
				continue
			}
			covered := r.seq <= t.signed
			if !covered && (signed || r.end.poisoned || r.end.damage) {
				continue
			}
			if !found || covered && !signed || r.size >= end.size {
				end, signed, found = *r.end, covered, true
			}
		}
	}
	return end, signed, found
}

// compareEnds compares the chains with the ends that other chains recorded. A chain that does not match is read
// again: it may have been recovered meanwhile, or the content after its end is undefined.
func (v *verification) compareEnds() error {
	for i := range v.report.Chains {
		c := &v.report.Chains[i]
		end, _, ok := v.endOf(c.Chain)
		if !ok || end.damage || !end.poisoned && c.Damage != nil {
			continue
		}
		took := false
		if c.Damage == nil && c.Size < end.size {
			var err error
			if took, err = v.tookAll(c, end.size); err != nil {
				return err
			}
		}
		if !took && (c.Damage != nil || v.misfit(c, end) != nil) {
			if err := v.again(c, end); err != nil {
				return err
			}
		}
		c.Recovered = end.by
	}
	return nil
}

// again reads a chain once more, up to its recorded end if the content after it is undefined.
func (v *verification) again(c *Chain, end recovery) error {
	limit := uint64(0)
	if end.poisoned {
		limit = end.size
	}
	signed := v.statements[c.Chain].signed
	report, err := v.scan(c.Chain, limit)
	if err != nil {
		return err
	}
	if end.poisoned && (report.Damage != nil && report.Damage.Seq > end.size || end.size == 0) {
		report.Damage = nil
	}
	if *c = report; c.Damage == nil {
		c.Damage = v.misfit(c, end)
	}
	if c.Damage == nil && end.poisoned {
		c.Damage, err = v.beyond(c, end)
	}
	if c.Damage == nil && end.poisoned && signed > end.size {
		c.Damage = &Damage{Kind: kindTruncated, Chain: c.Chain, Seq: end.size + 1, File: c.Chain + "/" + format.ActiveSegment, Offset: c.Bytes,
			Text: fmt.Sprintf("a checkpoint in an entry covers entries %d to %d, and chain %s does not", end.size+1, signed, end.by)}
	}
	return err
}

// beyond looks for a signed statement that covers more entries than the recorded end of a chain. A writer signs only
// acknowledged entries, so such an end is false.
func (v *verification) beyond(c *Chain, end recovery) (*Damage, error) {
	h := &Damage{Kind: kindTruncated, Chain: c.Chain, Seq: end.size + 1, File: c.Chain + "/" + format.ActiveSegment, Offset: c.Bytes}
	for _, by := range slices.Sorted(maps.Keys(v.statements)) {
		t := v.statements[by]
		for _, r := range t.remarks {
			if r.about == c.Chain && r.seq <= t.signed && r.size > end.size {
				h.Text = fmt.Sprintf("entries %d to %d are missing: chain %s names them, and chain %s does not", end.size+1, r.size, by, end.by)
				return h, nil
			}
		}
	}
	witnesses, err := v.witnesses(c.Chain)
	if err != nil {
		return nil, err
	}
	for _, w := range witnesses {
		size, err := w.most()
		if err != nil {
			return nil, err
		}
		if size > end.size {
			h.Text = fmt.Sprintf("entries %d to %d are missing: a checkpoint in %s covers them, and chain %s does not", end.size+1, size, w.notes.Name, end.by)
			return h, nil
		}
	}
	return nil, nil
}

// misfit compares the end of a chain with its record.
func (v *verification) misfit(c *Chain, end recovery) *Damage {
	h := Damage{Chain: c.Chain, Seq: c.Size + 1, File: c.Chain + "/" + format.ActiveSegment, Offset: c.Bytes}
	switch {
	case end.poisoned && end.size == 0, c.gone():
		return nil
	case c.Size < end.size:
		h.Kind, h.Absent, h.Text = kindTruncated, true, fmt.Sprintf("entries %d to %d are missing: chain %s recorded them when it recovered this chain", c.Size+1, end.size, end.by)
	case c.Size > end.size:
		h.Kind, h.Seq, h.Text = kindWrongSeq, end.size+1, "entries follow the end that chain "+end.by+" recorded"
	case c.Size > 0 && c.Last != end.last.String():
		h.Kind, h.Seq, h.Text = kindBrokenLink, c.Size, "chain "+end.by+" recorded another hash for the last entry"
	case c.Torn > 0 && !end.poisoned:
		h.Kind, h.Text = kindTornTail, "half a line follows the end that chain "+end.by+" recorded"
	default:
		return nil
	}
	return &h
}
