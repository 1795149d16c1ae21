package redact

import (
	"encoding/base64"
	"strings"
)

// nouns are words of a sentence that a secret may follow: "the token … was rejected".
// least is the minimum length of an opaque value after the noun.
var nouns = map[string]struct {
	kind  string
	least int
}{
	"password": {kindPassword, 6}, "passwd": {kindPassword, 6}, "passphrase": {kindPassword, 6}, "secret": {kindSecret, 8},
	"token": {kindToken, 8}, "key": {kindKey, 8}, "apikey": {kindKey, 8}, "credential": {kindCredential, 8},
	"credentials": {kindCredential, 8}, "jwt": {kindToken, 8}, "bearer": {kindAuth, 8},
}

// nounLimit is the length of the longest noun plus one.
const nounLimit = 12

// fillers are words that may occur between the noun and the value.
var fillers = set("provided", "is", "was", "of", "value", "given", "with", "used", "supplied", "specified", "string", "received",
	"found", "got", "using", "sent", "header", "named", "id", "invalid", "rejected", "failed", "for", "starting", "ending", "prefix", "the")

// fillerSteps bounds the fillers and separators between the noun and the value.
const fillerSteps = 4

// bareKey is the minimum length of an opaque value after a "key" without an owner.
const bareKey = 20

// noun cuts the value before or after a noun at x.i.
func (x *scanner) noun() bool {
	s, i := x.s, x.i
	end := (upper | lower).run(s, i, nounLimit)
	var buf [nounLimit]byte
	n, ok := nouns[string(lowerTo(buf[:], s[i:end]))]
	if !ok || end < len(s) && (alnum|under|dash).in(s[end]) {
		return false
	}
	if inARN(s, i) {
		return false
	}
	least := n.least
	switch owner := ownerBefore(s, i); {
	case n.kind == kindToken && tokenOthers[owner]:
		return false
	case n.kind == kindKey && end-i == len("key") && !keyOwners[owner]:
		if least = bareKey; keyOthers[owner] {
			return false
		}
	case x.before(i, n.kind):
		return true
	}
	return x.behind(end, n.kind, least)
}

// behind cuts the value after a noun that ends at end.
func (x *scanner) behind(end int, kind string, least int) bool {
	s := x.s
	if end == len(s) || strings.IndexByte(" \t:=", s[end]) < 0 {
		return false
	}
	from := skipFillers(s, end)
	if from < x.noWeak {
		return false
	}
	v := valueAt(s, from, valueLimit)
	if v.from >= v.to || v.to-v.from >= valueLimit-gap {
		x.inVain(v)
		return false
	}
	if kind == kindPassword && !v.quoted && !nameBefore(s, end).query {
		v.to = ampersands(s, v)
	}
	if placeholderStart(s, v.from, v.to) >= 0 {
		x.i = v.to
		return true
	}
	text := s[v.from:v.to]
	named := kind == kindPassword && v.quoted && !v.open && (strings.IndexByte(text, ' ') < 0 || saidToBe(s, from) && !anyProse(text))
	if harmless(text) || !named && !opaque(text, least) {
		x.inVain(v)
		return false
	}
	x.cut(v.from, v.to, placeholder(kind))
	return true
}

// saidToBe reports whether the word before a value introduces it: "the passphrase is '…'".
func saidToBe(s string, from int) bool {
	end := space.back(s, from, gap)
	w := s[lower.back(s, end, nounLimit):end]
	return w == "is" || w == "was"
}

// anyProse reports whether v contains one of proseWords or harmlessWords.
func anyProse(v string) bool {
	for w := range strings.FieldsSeq(v) {
		if w = strings.ToLower(w); proseWords[w] || harmlessWords[w] {
			return true
		}
	}
	return false
}

// links are words between a value and the noun after it: "… is not a valid API key", "parsing … as token".
var links = set("is", "not", "a", "an", "as", "valid", "invalid", "api", "access", "the", "auth", "bearer", "refresh", "correct", "known", "private")

// linkSteps bounds the number of links.
const linkSteps = 6

// before cuts the value before a noun at i. "is", "not" or "as" must link them.
func (x *scanner) before(i int, kind string) bool {
	s := x.s
	linked := false
	j := i
	for range linkSteps {
		if j == 0 || s[j-1] != ' ' {
			return false
		}
		from := (upper | lower).back(s, j-1, nounLimit)
		w := strings.ToLower(s[from : j-1])
		if !links[w] {
			j--
			break
		}
		linked = linked || w == "is" || w == "not" || w == "as"
		j = from
	}
	if !linked || j == 0 {
		return false
	}
	if quote.in(s[j-1]) {
		j--
	}
	from := (dotted | plus).back(s, j, 2*nameLimit)
	if from < x.done || !opaque(s[from:j], weakCut+1) {
		return false
	}
	x.cut(from, j, placeholder(kind))
	x.i = i + 1
	return true
}

// skipFillers skips from the end of a noun to its possible value.
func skipFillers(s string, i int) int {
	for range fillerSteps {
		i = skipBlank(s, i)
		if i < len(s) && (s[i] == ':' || s[i] == '=' || s[i] == '(') {
			i++
			continue
		}
		end := lower.run(s, i, nounLimit)
		if end == i || end >= len(s) || alnum.in(s[end]) || !fillers[s[i:end]] {
			break
		}
		i = end
	}
	return i
}

// ownerBefore returns the word before the one at i, in lower case, if one blank, dash or
// underscore joins them.
func ownerBefore(s string, i int) string {
	if i == 0 || strings.IndexByte(" -_", s[i-1]) < 0 {
		return ""
	}
	from := (upper | lower).back(s, i-1, nounLimit)
	return strings.ToLower(s[from : i-1])
}

func lowerTo(buf []byte, s string) []byte {
	n := min(len(buf), len(s))
	for i := range n {
		buf[i] = lowerByte(s[i])
	}
	return buf[:n]
}

// scheme cuts the value after "Bearer" and "Basic" without a header name.
func (x *scanner) scheme() bool {
	s, i := x.s, x.i
	for _, sc := range freeSchemes {
		if !foldPrefix(s[i:], sc.word) {
			continue
		}
		from := blankAfter(s, i+len(sc.word))
		if from < 0 {
			return false
		}
		if end := placeholderEnd(s, from); end > from {
			x.i = end
			return true
		}
		end := bearerSet.run(s, from, all)
		end = trimDots(s, from, end)
		if end > from && sc.holds(s[from:end], truncated(s, end)) {
			x.cut(from, end, placeholder(kindAuth))
			return true
		}
		return false
	}
	return false
}

const bearerSet = dotted | plus | slash

var freeSchemes = []struct {
	word  string
	holds func(v string, cut bool) bool
}{{"bearer", bearerHolds}, {"basic", basicHolds}}

// blankAfter returns the index after one blank, plain or encoded, or -1.
func blankAfter(s string, i int) int {
	switch {
	case strings.HasPrefix(s[i:], "%20"):
		return i + 3
	case i < len(s) && (s[i] == ' ' || s[i] == '+'):
		return skipBlank(s, i+1)
	}
	return -1
}

func bearerHolds(v string, _ bool) bool {
	return len(v) > valueLimit || !harmless(v) && (opaque(v, 8) || len(v) >= 24 && strings.IndexByte(v, '=') < 0)
}

// basicHolds reports whether v is base64 of user:password, or a prefix of it.
func basicHolds(v string, cut bool) bool {
	if len(v) > valueLimit {
		return true
	}
	if len(v) < 6 {
		return false
	}
	raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(v, "=")[:len(strings.TrimRight(v, "="))/4*4])
	if err != nil {
		return false
	}
	return strings.IndexByte(string(raw), ':') >= 0 || cut && opaque(v, weakCut)
}
