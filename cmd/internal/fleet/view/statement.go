package view

import (
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/candor-mcp/candor/internal/checkpoint"
	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/ledger"
)

// KeyStatement is what the first entry of a chain states about keys. Nothing in it is trusted by itself: a caller trusts the key because
// it is known, or because a rotation connects it with one that is.
type KeyStatement struct {
	Key       string // verifier line of the key that signs the chain
	Rotations []Rotation
}

// Rotation is the replacement of a signing key by another. A note that names both was signed with both.
type Rotation struct {
	Old, New string // verifier lines
}

// StatedKeys returns what an entry states about keys. It reports false unless the entry is the first of its chain and names a valid
// key. Rotations that are not signed with both keys are left out.
func StatedKeys(line *ledger.Line) (KeyStatement, bool) {
	var data struct {
		Key     string   `json:"key"`
		Rotated []string `json:"rotated"`
	}
	if line.Seq != 1 || line.Kind != ledger.KindSetting || format.DecodeData(line.Raw(), &data) != nil {
		return KeyStatement{}, false
	}
	if _, err := note.NewVerifier(data.Key); err != nil {
		return KeyStatement{}, false
	}
	said := KeyStatement{Key: data.Key}
	for _, text := range data.Rotated[:min(len(data.Rotated), format.MaxRotations)] {
		if r, ok := readRotation(text); ok {
			said.Rotations = append(said.Rotations, r)
		}
	}
	return said, true
}

// readRotation checks that a note about a rotation is signed with both keys that it names.
func readRotation(text string) (r Rotation, ok bool) {
	lines := strings.SplitN(text, "\n", 4)
	if len(lines) != 4 || lines[0] != format.RotationOrigin {
		return r, false
	}
	old, isOld := strings.CutPrefix(lines[1], "old ")
	fresh, isNew := strings.CutPrefix(lines[2], "new ")
	if !isOld || !isNew {
		return r, false
	}
	for _, key := range []string{old, fresh} {
		keys, err := checkpoint.Verifiers([]string{key})
		if err != nil {
			return r, false
		}
		opened, err := note.Open([]byte(text), keys)
		if err != nil || strings.Count(opened.Text, "\n") != 3 {
			return r, false
		}
	}
	return Rotation{Old: old, New: fresh}, true
}
