package filestore

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/internal/durable"
)

// keepKey stores the public key that the first entry of a chain names, so that the node's folder can be verified like a ledger. A key that
// it replaces is kept in keys/old. An entry without a valid key is no error: a store decides nothing.
func keepKey(root *os.Root, chain fleet.Chain, first []byte) error {
	var entry struct {
		Data struct {
			Key string `json:"key"`
		} `json:"data"`
	}
	if json.Unmarshal(first, &entry) != nil {
		return nil
	}
	key := entry.Data.Key
	if _, err := note.NewVerifier(key); err != nil || strings.ContainsAny(key, "\r\n") {
		return nil
	}
	dir := chain.Node + "/keys"
	if err := root.MkdirAll(dir+"/old", 0o700); err != nil {
		return err
	}
	current, err := root.ReadFile(dir + "/signer.pub")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	old := strings.TrimSpace(string(current))
	if old == key {
		return nil
	}
	if old != "" {
		if err := durable.WriteFile(root, dir+"/old/"+keyFile(old), []byte(old+"\n"), 0o644); err != nil {
			return err
		}
	}
	return errors.Join(durable.WriteFile(root, dir+"/signer.pub", []byte(key+"\n"), 0o644), durable.SyncDir(root, chain.Node))
}

// keyFile returns the name of the file of an old key: the hash in the middle of its line, as package ledger names it.
func keyFile(key string) string {
	if verifier, err := note.NewVerifier(key); err == nil {
		return hex8(verifier.KeyHash()) + ".pub"
	}
	return "unknown.pub"
}

func hex8(n uint32) string {
	const digits = "0123456789abcdef"
	text := make([]byte, 8)
	for i := range text {
		text[i] = digits[n>>(28-4*i)&15]
	}
	return string(text)
}

// keepNotes adds the checkpoints among lines that are durable to the chain's file of checkpoints. The file is not synced: a checkpoint that
// a power cut takes from it is still in its entry.
func keepNotes(root *os.Root, chain fleet.Chain, lines [][]byte) error {
	var blocks []byte
	for _, line := range lines {
		if !bytes.Contains(line, []byte(`"kind":"checkpoint"`)) {
			continue
		}
		var entry struct {
			Data struct {
				Note string `json:"note"`
			} `json:"data"`
		}
		if json.Unmarshal(line, &entry) == nil && strings.HasPrefix(entry.Data.Note, "candor-ledger/"+chain.Name+"\n") {
			blocks = append(blocks, entry.Data.Note+"---\n"...)
		}
	}
	if len(blocks) == 0 {
		return nil
	}
	f, err := root.OpenFile(folder(chain)+"/checkpoints", os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(blocks)
	return errors.Join(err, f.Close())
}
