package wire_test

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/candor-mcp/candor/wire"
)

func TestWordMarksAgreeWithTheBytes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(6, 0))
	for n := range 256 * 256 {
		var word [8]byte
		for i := range word {
			word[i] = byte(rnd.IntN(256))
			if n%2 == 0 {
				word[i] = byte(' ' + rnd.IntN(64))
			}
		}
		word[rnd.IntN(8)] = byte(n)
		word[rnd.IntN(8)] = byte(n >> 8)
		checkWord(t, word)
	}
}

func checkWord(t *testing.T, word [8]byte) {
	t.Helper()
	var exact uint64
	lines := 8
	for i := 7; i >= 0; i-- {
		if !wire.IsPlain(word[i]) {
			exact |= 0x80 << (8 * i)
		}
		if word[i] == '\r' || word[i] == '\n' {
			lines = i
		}
	}
	x := binary.LittleEndian.Uint64(word[:])
	if got := wire.Unplain(x); got != exact {
		t.Fatalf("%q: marks %x, want %x", word, got, exact)
	}
	if got := wire.Suspect(x); bits.TrailingZeros64(got) != bits.TrailingZeros64(exact) {
		t.Fatalf("%q: suspects %x, want %x first", word, got, exact)
	}
	const ones = 0x0101010101010101
	if got := bits.TrailingZeros64(wire.Either(x, '\r'*ones, '\n'*ones)) >> 3; got != lines {
		t.Fatalf("%q: first line end at %d, want %d", word, got, lines)
	}
}
