package verify

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"

	"github.com/candor-mcp/candor/internal/segment"
	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/ledger"
)

// pruning is the record of segments that retention removed, from a setting entry.
type pruning struct {
	size uint64        // number of the last removed entry
	last format.Digest // its hash
	seq  uint64        // number of the entry that holds the record
}

// prunedAs finds the pruning record of a chain that does not begin with its first entry. It looks in the records read
// so far, then reads them again, because a running writer may have added one.
func (v *verification) prunedAs(chain string, fits func(pruning) bool) (pruning, bool, error) {
	for range 2 {
		for _, p := range v.pruned[chain] {
			if fits(p) {
				return p, true, nil
			}
		}
		if err := v.findPruned(); err != nil {
			return pruning{}, false, err
		}
	}
	return pruning{}, false, nil
}

// findPruned reads the pruning records of all chains, in bounded memory.
func (v *verification) findPruned() error {
	chains, err := segment.Chains(v.fsys)
	if err != nil {
		return err
	}
	v.pruned = map[string][]pruning{}
	for _, name := range chains {
		found := map[string][]pruning{}
		if err := findPrunedIn(v.fsys, name, found); err != nil {
			return fmt.Errorf("reading chain %s: %w", name, err)
		}
		if err := v.addSigned(name, found); err != nil {
			return err
		}
	}
	return nil
}

// addSigned adds the records of a chain that a valid checkpoint of the chain covers. Others could have been written
// without the key.
func (v *verification) addSigned(name string, found map[string][]pruning) error {
	if len(found) == 0 {
		return nil
	}
	s, err := v.newScan(name)
	if err != nil {
		return err
	}
	s.loose = true
	if err := s.run(); err != nil {
		return err
	}
	for about, list := range found {
		for _, p := range list {
			if p.seq <= s.signed {
				v.pruned[about] = append(v.pruned[about], p)
			}
		}
	}
	return nil
}

func findPrunedIn(fsys fs.FS, name string, found map[string][]pruning) error {
	lines := segment.NewStream(fsys, name)
	defer lines.Close() //nolint:errcheck // it was only read
	for {
		raw, err := lines.Next()
		if errors.Is(err, io.EOF) || errors.Is(err, segment.ErrCorrupt) || errors.Is(err, segment.ErrTorn) {
			return nil
		}
		if err != nil {
			return err
		}
		if !bytes.Contains(raw.Bytes, []byte(`"pruned":`)) {
			continue
		}
		if line, err := ledger.ParseLine(raw.Bytes); err == nil && line.Kind == ledger.KindSetting && line.In(name) {
			addPruned(&line, found)
		}
	}
}

// prunedAt is a record of retention and the number of the entry that holds it.
type prunedAt struct {
	Pruned
	by uint64
}

// collectPruned collects the records of retention in the line.
func (s *chainScan) collectPruned() {
	if s.loose || !bytes.Contains(s.at.Bytes, []byte(`"pruned":`)) {
		return
	}
	found := map[string][]pruning{}
	addPruned(&s.line, found)
	for _, about := range slices.Sorted(maps.Keys(found)) {
		for _, p := range found[about] {
			s.pruned = append(s.pruned, prunedAt{Pruned{Chain: about, Seq: p.size, Time: s.line.Time}, s.seq})
		}
	}
}

func addPruned(line *ledger.Line, found map[string][]pruning) {
	var data struct {
		Pruned []struct {
			Chain string `json:"chain"`
			Size  uint64 `json:"size"`
			Last  string `json:"last"`
		} `json:"pruned"`
	}
	if format.DecodeData(line.Raw(), &data) != nil {
		return
	}
	for _, went := range data.Pruned {
		p := pruning{size: went.Size, seq: line.Seq}
		if format.ReadHex(p.last[:], []byte(went.Last)) && p.size > 0 {
			found[went.Chain] = append(found[went.Chain], p)
		}
	}
}
