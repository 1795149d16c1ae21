package ledger

import (
	"encoding/json"
)

// endNote says how a chain ended, so that the next opener need not read it. It proves nothing: whoever verifies reads the chain.
type endNote struct {
	How   string `json:"how"`
	Size  uint64 `json:"size"`
	Last  string `json:"last"`
	Named string `json:"named,omitempty"` // the chain whose first entries name this one with its final size
}

// How a chain can end.
const (
	endClosed    = "closed"
	endRecovered = "recovered"
	endPoisoned  = "poisoned"
)

func writeEnd(s storage, chain string, n endNote) error {
	return s.WriteFile(chain+"/"+endFile, append(mustJSON(n), '\n'), 0o600)
}

// readEnd returns the note, or false if there is none that can be read: then the chain is looked at again.
func readEnd(s storage, chain string) (endNote, bool) {
	b, err := readSmall(s, chain+"/"+endFile, maxKeyFile)
	var n endNote
	if err != nil || json.Unmarshal(b, &n) != nil || len(n.Last) != 2*len(Digest{}) {
		return endNote{}, false
	}
	return n, n.How == endClosed || n.How == endRecovered || n.How == endPoisoned
}
