package view

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/candor-mcp/candor/internal/notekey"
)

// OperatorKey signs and verifies the checkpoints over a fleet.
type OperatorKey struct {
	Name     string
	Public   string // verifier line
	verifier note.Verifier
	signer   note.Signer // nil for a public key
}

// ReadOperatorKey reads a private or public key from a file.
func ReadOperatorKey(name string) (*OperatorKey, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	line := strings.TrimSpace(string(text))
	k := &OperatorKey{Name: name, Public: line}
	if strings.HasPrefix(line, "PRIVATE+KEY+") {
		if k.signer, err = note.NewSigner(line); err == nil {
			k.Public, err = notekey.Verifier(line)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: not the key of an operator", name) // the library's error could reveal it
		}
	}
	if k.verifier, err = note.NewVerifier(k.Public); err != nil {
		return nil, fmt.Errorf("%s: not the key of an operator", name)
	}
	return k, nil
}

// CreateOperatorKey reads the key in a file, or creates it if the file does not exist. The public key is written beside it.
func CreateOperatorKey(name string) (*OperatorKey, error) {
	k, err := ReadOperatorKey(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return k, err
	}
	secret, public, err := note.GenerateKey(rand.Reader, keyName)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) { // another process was faster
		return ReadOperatorKey(name)
	}
	if err != nil {
		return nil, err
	}
	_, err = file.WriteString(secret + "\n")
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.WriteFile(name+".pub", []byte(public+"\n"), 0o644) //nolint:gosec // a public key
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(name))
	}
	return ReadOperatorKey(name)
}
