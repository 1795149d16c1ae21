package view

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/note"
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
			k.Public, err = publicOf(line)
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
	secret, public, err := newKey()
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

// newKey returns a new signer line and its verifier line.
func newKey() (secret, public string, err error) { return note.GenerateKey(rand.Reader, keyName) }

// publicOf returns the verifier line of a signer line, which holds the seed of an Ed25519 key.
func publicOf(secret string) (string, error) {
	parts := strings.SplitN(secret, "+", 5) // PRIVATE+KEY+name+hash+key
	if len(parts) != 5 {
		return "", errors.New("malformed")
	}
	raw, err := base64.StdEncoding.DecodeString(parts[4])
	if err != nil || len(raw) != 1+ed25519.SeedSize {
		return "", errors.New("malformed")
	}
	private := ed25519.NewKeyFromSeed(raw[1:])
	return note.NewEd25519VerifierKey(parts[2], ed25519.PublicKey(private[ed25519.SeedSize:]))
}
