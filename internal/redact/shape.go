package redact

import "strings"

// shape describes secrets that begin with a known prefix.
type shape struct {
	prefix, kind string
	set          class // the alphabet of the tail
	min          int   // minimum length of a complete tail in bytes
	max          int   // maximum length of the tail in bytes; 0 for no limit
	weak         bool  // ordinary words may have the prefix: the tail needs digits
	keep         bool  // the prefix is not part of the secret and is kept
}

// randomLimit bounds how much of a tail is tested for randomness.
const randomLimit = 64

// weakCut is the minimum length of a truncated tail after a weak prefix.
const weakCut = 8

var shapesByFirst = buildShapesByFirst()

func buildShapesByFirst() (t [256][]*shape) {
	for i := range shapes {
		sh := &shapes[i]
		t[sh.prefix[0]] = append(t[sh.prefix[0]], sh)
	}
	return t
}

// shape cuts a secret of a known shape at x.i.
func (x *scanner) shape() bool {
	for _, sh := range shapesByFirst[x.s[x.i]] {
		if !strings.HasPrefix(x.s[x.i:], sh.prefix) {
			continue
		}
		if end, ok := sh.match(x, x.i); ok {
			from := x.i
			if sh.keep {
				from += len(sh.prefix)
			}
			x.cut(from, end, placeholder(sh.kind))
			return true
		}
	}
	return x.airtable()
}

func (sh *shape) match(x *scanner, i int) (end int, ok bool) {
	s := x.s
	from := i + len(sh.prefix)
	if sh.weak && !random(s[from:sh.set.run(s, from, randomLimit)]) {
		return 0, false
	}
	limit := all
	if sh.max > 0 {
		limit = sh.max + 1
	}
	end = sh.set.run(s, from, limit)
	if dot&sh.set != 0 {
		end = trimDots(s, from, end)
	}
	tail := s[from:end]
	if sh.max > 0 && (len(tail) > sh.max || end < len(s) && alnum.in(s[end])) {
		return 0, false
	}
	least := sh.min
	if x.truncated(end) {
		least = 1
		if sh.weak {
			least = weakCut
		}
	}
	if len(tail) < min(least, sh.min) {
		return 0, false
	}
	return end, true
}

// truncated is like [truncated] for the text of the scanner.
func (x *scanner) truncated(end int) bool {
	return truncated(x.s, end) && (!x.shapesOnly || end < len(x.s))
}

// truncated reports whether the text was truncated at end.
func truncated(s string, end int) bool {
	rest := s[end:]
	return rest == "" || strings.HasPrefix(rest, "…") || strings.HasPrefix(rest, "...")
}

// trimDots removes trailing full stops from a span.
func trimDots(s string, from, to int) int {
	for to > from && s[to-1] == '.' {
		to--
	}
	return to
}

// random reports whether a tail is not a word: it has a digit or changes case within.
func random(s string) bool {
	if hasDigit(s) {
		return true
	}
	flips := 0
	for i := 1; i < len(s); i++ {
		if upper.in(s[i]) != upper.in(s[i-1]) {
			flips++
		}
	}
	return flips > 1
}

func hasDigit(s string) bool {
	for i := range len(s) {
		if digit.in(s[i]) {
			return true
		}
	}
	return false
}

// triples is a set of three consecutive bytes, of which five bits count: those that both cases of a letter share.
type triples [1 << 15 / 64]uint64

func (t *triples) index(s string) (n uint) {
	return uint(s[0]&31)<<10 | uint(s[1]&31)<<5 | uint(s[2]&31)
}

func (t *triples) add(s string) { n := t.index(s); t[n/64] |= 1 << (n % 64) }

func (t *triples) has(s string) bool { n := t.index(s); return t[n/64]&(1<<(n%64)) != 0 }

// otherStarts are the beginnings of secrets that scanner.word may cut and that are not in shapes or nouns.
var otherStarts = []string{"eyJ", "ewo", "pat", identified}

// starts holds the first three bytes of everything that scanner.word may cut, except for Discord tokens.
var starts = buildStarts()

func buildStarts() *triples {
	t := new(triples)
	for _, sh := range shapes {
		if len(sh.prefix) > 2 {
			t.add(sh.prefix)
			continue
		}
		for c := range 256 { // the tail, which is never empty, has the third byte
			if sh.set.in(byte(c)) {
				t.add(sh.prefix + string([]byte{byte(c)}))
			}
		}
	}
	for _, w := range otherStarts {
		t.add(w)
	}
	for w := range nouns {
		t.add(w)
	}
	for _, sc := range freeSchemes {
		t.add(sc.word)
	}
	return t
}

// mayStart reports whether [scanner.word] may cut something that begins at i. It is fast, and wrong only if it reports true.
func mayStart(s string, i int) bool {
	return i+2 < len(s) && (starts.has(s[i:]) || s[i] >= 'M' && s[i] <= 'O')
}
