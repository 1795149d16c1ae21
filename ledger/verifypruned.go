package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"golang.org/x/mod/sumdb/tlog"
)

// pruning is what a setting says about segments that retention removed.
type pruning struct {
	Size uint64 // number of the last entry that went
	Last Digest // its hash
	Tree []tlog.Hash
}

// findPruned reads all chains for what retention recorded, in bounded memory. It is only called for a chain that does not begin
// with its first entry.
func findPruned(fsys fs.FS) (map[string][]pruning, error) {
	chains, err := chainNames(fsys)
	if err != nil {
		return nil, err
	}
	found := map[string][]pruning{}
	for _, name := range chains {
		if err := findPrunedIn(fsys, name, found); err != nil {
			return nil, fmt.Errorf("reading chain %s: %w", name, err)
		}
	}
	return found, nil
}

func findPrunedIn(fsys fs.FS, name string, found map[string][]pruning) error {
	lines := newLineStream(fsys, name)
	defer lines.close() //nolint:errcheck // it was only read
	for {
		raw, err := lines.next()
		if errors.Is(err, io.EOF) || errors.Is(err, errCorrupt) || errors.Is(err, errTornInside) {
			return nil
		}
		if err != nil {
			return err
		}
		if !bytes.Contains(raw.bytes, []byte(`"pruned":`)) {
			continue
		}
		if line, err := parseLine(raw.bytes); err == nil && line.Kind == KindSetting && line.In(name) {
			addPruned(&line, found)
		}
	}
}

func addPruned(line *Line, found map[string][]pruning) {
	var data struct {
		Pruned struct {
			Chain string      `json:"chain"`
			Size  uint64      `json:"size"`
			Last  string      `json:"last"`
			Tree  []tlog.Hash `json:"tree"`
		} `json:"pruned"`
	}
	if unmarshalData(line, &data) != nil {
		return
	}
	p := pruning{Size: data.Pruned.Size, Tree: data.Pruned.Tree}
	if readHex(p.Last[:], []byte(data.Pruned.Last)) && p.Size > 0 {
		found[data.Pruned.Chain] = append(found[data.Pruned.Chain], p)
	}
}
