package wire

import (
	"encoding/binary"
	"math/bits"
)

// The functions below test eight bytes at a time and set the top bit of each match.
const (
	ones  = 0x0101010101010101
	tops  = 0x80 * ones
	quote = '"' * ones
	slash = '\\' * ones
)

// unplain marks exactly the control characters, '"', '\\' and bytes of 0x80 and above: all
// that a string scan must handle. The additions work on seven bits and never carry into the
// next byte. x^2 swaps '"' with ' ', so that one addition finds both '"' and all below 0x20.
func unplain(x uint64) uint64 {
	low := x &^ tops
	plain := ((low ^ 2*ones) + 0x5f*ones) & ((low ^ slash) + 0x7f*ones)
	return (^plain | x) & tops
}

// suspect is not zero if and only if unplain is not. It costs less, but only its lowest mark is
// exact: a borrow may mark bytes after it.
func suspect(x uint64) uint64 {
	return (((x ^ 2*ones) - '!'*ones) | ((x ^ slash) - ones) | x) & tops
}

// either marks the bytes that equal one of two, each given in all eight places. A borrow may mark
// others after the first one: only the lowest mark is exact.
func either(x, p, q uint64) uint64 {
	p, q = x^p, x^q
	return (((p - ones) &^ p) | ((q - ones) &^ q)) & tops
}

// stops marks '"' and '\\' alone: enough to leave a string that is already known to be valid.
func stops(x uint64) uint64 { return either(x, quote, slash) }

func first(mask uint64) int { return bits.TrailingZeros64(mask) >> 3 }

func load(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }

// longRun is the number of plain bytes after which many more are likely.
const longRun = 64

// plainBlocks skips blocks of 32 plain bytes from i on.
func plainBlocks(b []byte, i int) int {
	rest := b[i:]
	for len(rest) >= 32 {
		m0, m1 := suspect(load(rest, 0)), suspect(load(rest, 8))
		m2, m3 := suspect(load(rest, 16)), suspect(load(rest, 24))
		if m0|m1|m2|m3 != 0 {
			break
		}
		rest = rest[32:]
	}
	return len(b) - len(rest)
}

// firstOf is called with at least one mask that is not zero.
func firstOf(m0, m1, m2, m3 uint64) int {
	switch {
	case m0 != 0:
		return first(m0)
	case m1 != 0:
		return 8 + first(m1)
	case m2 != 0:
		return 16 + first(m2)
	default:
		return 24 + first(m3)
	}
}

func isPlain(c byte) bool { return c >= ' ' && c < 0x80 && c != '"' && c != '\\' }

// stringEnd returns the index after the closing quote of the string that opens at i. The string
// has been scanned before; for an unterminated one it returns len(b).
func stringEnd(b []byte, i int) int {
	for i++; i < len(b); {
		i = stopAt(b, i)
		if i >= len(b) || b[i] == '"' {
			break
		}
		i += 2
	}
	return min(i+1, len(b))
}

func stopAt(b []byte, i int) int {
	for i+32 <= len(b) {
		w := b[i : i+32]
		m0, m1 := stops(load(w, 0)), stops(load(w, 8))
		m2, m3 := stops(load(w, 16)), stops(load(w, 24))
		if m0|m1|m2|m3 == 0 {
			i += 32
			continue
		}
		return i + firstOf(m0, m1, m2, m3)
	}
	for i < len(b) && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}
