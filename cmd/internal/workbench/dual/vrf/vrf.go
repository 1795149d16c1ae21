// Package vrf evaluates the verifiable random function of RFC 9381 with the suite ECVRF-EDWARDS25519-SHA512-ELL2.
package vrf

import (
	"encoding/hex"
	"errors"

	"github.com/oasisprotocol/curve25519-voi/primitives/ed25519"
	"github.com/oasisprotocol/curve25519-voi/primitives/ed25519/extra/ecvrf"
)

// Suite is the name of the suite in RFC 9381.
const Suite = "ECVRF-EDWARDS25519-SHA512-ELL2"

// ErrKey is returned for a private key that is not 32 bytes in hex. It does not repeat the key.
var ErrKey = errors.New("the private key must be 64 hexadecimal digits")

// Output is the result of an evaluation, in hex. Proof proves to a holder of PublicKey that Beta belongs to the input.
type Output struct {
	Suite     string `json:"suite"`
	PublicKey string `json:"public_key"`
	Beta      string `json:"output"` // 64 bytes
	Proof     string `json:"proof"`  // 80 bytes
}

// Eval evaluates the function for an input.
func Eval(privateKey string, alpha []byte) (Output, error) {
	seed, err := hex.DecodeString(privateKey)
	if err != nil || len(seed) != ed25519.SeedSize {
		return Output{}, ErrKey
	}
	key := ed25519.NewKeyFromSeed(seed)
	proof := ecvrf.Prove(key, alpha)
	public, _ := key.Public().(ed25519.PublicKey) // by its contract
	ok, beta := ecvrf.Verify(public, proof, alpha)
	if !ok {
		return Output{}, errors.New("the proof does not verify")
	}
	return Output{Suite, hex.EncodeToString(public), hex.EncodeToString(beta), hex.EncodeToString(proof)}, nil
}

// Verify returns the output that a proof proves for an input; ok is false if the proof is not valid. All texts are hex.
func Verify(publicKey, proof string, alpha []byte) (beta string, ok bool) {
	public, err := hex.DecodeString(publicKey)
	if err != nil || len(public) != ed25519.PublicKeySize {
		return "", false
	}
	pi, err := hex.DecodeString(proof)
	if err != nil || len(pi) != ecvrf.ProofSize {
		return "", false
	}
	ok, raw := ecvrf.Verify(public, pi, alpha)
	return hex.EncodeToString(raw), ok
}
