package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// carried returns what the marked segments say of others that went before them. It must not go with them: a chain of which nothing is left has no
// other proof that retention took it.
func (c *heldChain) carried(s storage) ([]pruned, error) {
	var all []pruned
	for _, f := range c.files[:c.remove] {
		name := c.name + "/" + f.name
		lines, err := newLineScanner(s, name)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		for {
			err := lines.scan()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil && !errors.Is(err, errShape) {
				return nil, fmt.Errorf("reading %s: %w", name, err)
			}
			all = addPrunings(all, lines.line)
		}
	}
	return all, nil
}

// addPrunings adds what a line says, if it says anything. Of each chain only the newest word counts.
func addPrunings(all []pruned, line []byte) []pruned {
	if !bytes.Contains(line, []byte(`"pruned":`)) {
		return all
	}
	if l, err := parseLine(line); err != nil || l.Kind != KindSetting {
		return all
	}
	var said struct {
		Data struct {
			Pruned []pruned `json:"pruned"`
		} `json:"data"`
	}
	if json.Unmarshal(line, &said) != nil {
		return all
	}
	for _, p := range said.Data.Pruned {
		all = replacePruning(all, p)
	}
	return all
}

func replacePruning(all []pruned, p pruned) []pruned {
	for i := range all {
		if all[i].Chain == p.Chain {
			if p.Size > all[i].Size {
				all[i] = p
			}
			return all
		}
	}
	return append(all, p)
}

// recordPruned makes durable what goes, and what the chains that lose their mention were like. Many take several entries.
func (l *Ledger) recordPruned(gone []pruned, orphans []namedChain) (Receipt, error) {
	const most = 1000
	for {
		part, orphaned := min(len(gone), most), min(len(orphans), most)
		data := struct {
			Pruned []pruned     `json:"pruned,omitempty"`
			Before []namedChain `json:"before,omitempty"`
		}{gone[:part], orphans[:orphaned]}
		gone, orphans = gone[part:], orphans[orphaned:]
		receipt, err := l.Append(context.Background(), Entry{Kind: KindSetting, raw: mustJSON(data)})
		if err != nil || receipt.Unrecorded || len(gone)+len(orphans) == 0 {
			return receipt, err
		}
	}
}
