// Package ref makes correlation ids.
package ref

import (
	"encoding/hex"
	"math/rand/v2"
)

// New returns 80 random bits in hex: long enough to be unique, short enough to read out.
func New() string {
	var raw [10]byte
	a, b := rand.Uint64(), rand.Uint32() //nolint:gosec // seeded by the system, and no secret: it only must not repeat
	for i := range 8 {
		raw[i] = byte(a >> (8 * i))
	}
	raw[8], raw[9] = byte(b), byte(b>>8)
	var text [20]byte
	hex.Encode(text[:], raw[:])
	return string(text[:])
}
