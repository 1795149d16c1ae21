// Package notekey derives public keys from the private keys of signed notes.
package notekey

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// Verifier returns the verifier line of a signer line, which holds the seed of an Ed25519 key. The error does not contain the key.
func Verifier(secret string) (string, error) {
	parts := strings.SplitN(secret, "+", 5) // PRIVATE+KEY+name+hash+key
	if len(parts) != 5 {
		return "", errors.New("malformed signing key")
	}
	raw, err := base64.StdEncoding.DecodeString(parts[4])
	if err != nil || len(raw) != 1+ed25519.SeedSize {
		return "", errors.New("malformed signing key")
	}
	private := ed25519.NewKeyFromSeed(raw[1:])
	return note.NewEd25519VerifierKey(parts[2], ed25519.PublicKey(private[ed25519.SeedSize:]))
}
