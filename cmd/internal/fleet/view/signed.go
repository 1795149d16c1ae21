package view

import (
	"context"
	"encoding/json"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/ledger"
)

// maxUnsigned is how many lines of a chain are read to find a checkpoint. A ledger signs one after at most 256 entries.
const maxUnsigned = 300

// countSigned returns how many of the chains have a checkpoint that is signed with each of the keys. A chain without its first entry counts
// too: retention must not make a key that of a node with older copies.
func countSigned(ctx context.Context, store fleet.Store, chains []fleet.Chain, keys []string) (map[string]int, error) {
	known := newSigners(keys)
	count := map[string]int{}
	for _, chain := range chains {
		key, err := signerOf(ctx, store, chain, known)
		if err != nil {
			return nil, err
		}
		if key != "" {
			count[key]++
		}
	}
	return count, nil
}

// signerOf returns which of the keys has signed the first checkpoint of a chain that any of them has signed, or "".
func signerOf(ctx context.Context, store fleet.Store, chain fleet.Chain, known signers) (string, error) {
	read := 0
	for stored, err := range store.Lines(ctx, chain, 0) {
		if err != nil {
			return "", err
		}
		if read++; read > maxUnsigned {
			break
		}
		line, err := ledger.ParseLine(stored.Line)
		if err != nil || !line.In(chain.Name) {
			break // damage, which the verification finds
		}
		if key := known.signer(&line, chain.Name); key != "" {
			return key, nil
		}
	}
	return "", nil
}

// signers are keys by the name and the hash that signatures contain. It implements [note.Verifiers].
type signers map[signerID]signer

type signerID struct {
	name string
	hash uint32
}

type signer struct {
	line     string
	verifier note.Verifier
}

func newSigners(keys []string) signers {
	known := signers{}
	for _, key := range keys {
		if v, err := note.NewVerifier(key); err == nil {
			known[signerID{v.Name(), v.KeyHash()}] = signer{key, v}
		}
	}
	return known
}

// Verifier implements [note.Verifiers].
func (k signers) Verifier(name string, hash uint32) (note.Verifier, error) {
	if s, found := k[signerID{name, hash}]; found {
		return s.verifier, nil
	}
	return nil, &note.UnknownVerifierError{Name: name, KeyHash: hash}
}

// signer returns the key that has signed the checkpoint in an entry of a chain, or "".
func (k signers) signer(line *ledger.Line, chain string) string {
	if line.Kind != ledger.KindCheckpoint {
		return ""
	}
	var entry struct {
		Data struct {
			Note string `json:"note"`
		} `json:"data"`
	}
	if json.Unmarshal(line.Raw(), &entry) != nil {
		return ""
	}
	opened, err := note.Open([]byte(entry.Data.Note), k)
	if err != nil || !strings.HasPrefix(opened.Text, "candor-ledger/"+chain+"\n") {
		return ""
	}
	return k[signerID{opened.Sigs[0].Name, opened.Sigs[0].Hash}].line
}
