package redact

// The prefilter. Most words and punctuation of a text are not part of a secret, and the rules take long to find that
// out. The tests here are fast and conservative: they may accept positions at which no rule matches, but must never skip a
// position at which [scanner.word] or [scanner.trigger] would do anything, even if it is only to skip more bytes.
// FuzzPrefilter compares them with the rules alone.

// next returns the first position at or after i at which a rule may match: the first byte of a word, or a
// trigger byte. i itself counts as the first byte of a word, whatever precedes it.
func next(s string, i int) int {
	for i < len(s) {
		switch k := classes[s[i]]; {
		case k&alnum != 0: // a Discord token begins with M, N or O, all others with known bytes
			if i+2 < len(s) && (beginnings.has(s[i], s[i+1], s[i+2]) || s[i]-'M' <= 'O'-'M') && mayBegin(s, i) {
				return i
			}
			i = alnum.run(s, i+1, all)
		case k&trigger == 0:
			i++
		case s[i] == '\\' && i+1 < len(s) && quote.in(s[i+1]): // an escaped quote: no rule begins here or within it
			i += 2
		case mayTrigger(s, i):
			return i
		default:
			i++
		}
	}
	return i
}

// mayBegin reports whether a rule may match the word at i, at which next has stopped.
func mayBegin(s string, i int) bool {
	return starts.has(s, i) && (beginnings.has(s[i], s[i+1], s[i+2]) || token.run(s, i, discordID)-i == discordID)
}

// mayTrigger reports whether a rule may begin at the trigger byte at i.
func mayTrigger(s string, i int) bool {
	switch s[i] {
	case '[': // a placeholder
		return i+1 < len(s) && s[i+1] == opening[1]
	case '/':
		return mayBePath(s, i)
	case '-':
		return mayBeFlag(s, i)
	case '%': // an escape, as below
		return i+1 < len(s) && hex.in(lowerByte(s[i+1]))
	case ':':
		return mayBeColon(s, i) || mayBeNamed(s, i)
	case '=':
		return mayBeNamed(s, i)
	case ',': // 'name', 'value'
		return i > 0 && quote.in(s[i-1]) && mayBeNamed(s, i)
	case '@':
		return mayBeDSN(s, i)
	case fullWidthLead:
		return fullWidth(s, i)
	case '>': // name => value, name -> value, <name>value
		return mayBeNamed(s, i) || i > 0 && (s[i-1] == '=' || s[i-1] == '-') && mayBeNamed(s, i-1)
	}
	return true // an escape is skipped as a whole, so that no word begins within it; ~ is rare
}

// mayBeFlag reports whether the dash at i may begin --name, -u name:password, -ppassword or -----BEGIN.
func mayBeFlag(s string, i int) bool {
	if i+1 == len(s) {
		return false
	}
	free := i == 0 || (space | quote).in(s[i-1])
	switch s[i+1] {
	case 'u', 'p', 'a', 'w', 'U', 'A':
		return free
	case '-':
		return free || i+5 < len(s) && s[i+5] == pemBegin[5]
	}
	return false
}

// mayBeColon reports whether the colon at i may belong to a form without a name: scheme://, a drive, or the middle of a
// Telegram token.
func mayBeColon(s string, i int) bool {
	if i == 0 || i+1 == len(s) || !(alnum | plus | dash | dot).in(s[i-1]) {
		return false
	}
	switch s[i+1] {
	case '/', '\\', '%':
		return true
	}
	return digit.back(s, i, telegramID) == i-telegramID
}

// mayBePath reports whether an absolute path may begin with the slash at i: not after a byte that pathBoundary refuses,
// unless that byte may be the end of an escape.
func mayBePath(s string, i int) bool {
	if i == 0 {
		return true
	}
	c := s[i-1]
	if !(alnum | dash | under | dot | slash).in(c) {
		return true
	}
	if !escapeEnd(c) {
		return false
	}
	for n := 2; n <= 6 && n <= i; n++ {
		if b := s[i-n]; b == '\\' || b == '%' {
			return true
		}
	}
	return false
}

// escapeEnd reports whether c may be the last letter or digit of an escape.
func escapeEnd(c byte) bool {
	return hex.in(lowerByte(c)) || c == 'n' || c == 'r' || c == 't'
}

// wordsLimit is the length from which a name may have more words than nameWords holds, so that its last word does not decide.
const wordsLimit = 3 * nameLimit / 4

// mayBeNamed reports whether the text that ends at i may be a name with a meaning: whether it ends like a word with a
// meaning. White space, brackets, quotes and the endings that [nameWords] drops from a name are skipped.
func mayBeNamed(s string, i int) bool {
	j := i
	for j > 0 && (s[j-1] == ' ' || s[j-1] == ']' || s[j-1] == '[') {
		j--
	}
	if j == 0 {
		return false
	}
	if c := s[j-1]; c == ';' { // &quot;
		return true
	} else if quote.in(c) {
		for j--; j > 0 && s[j-1] == '\\'; j-- {
		}
	}
	end := (digit | dash | under | dot).back(s, j, nameLimit)
	if end < 4 {
		return end > 0
	}
	if !(upper | lower).in(s[end-1]) {
		return s[end-1] == '%' || s[end-1] >= 0x80 // %22, or a word of another language
	}
	return mayMean(s, end) || s[end-2] == '\\' || ident.back(s, j, wordsLimit) == j-wordsLimit
}

// mayMean reports whether the letters that end at end may be the end of a word that gives a name its meaning. There must be
// at least four bytes.
func mayMean(s string, end int) bool {
	a, b, c, d := s[end-4], s[end-3], s[end-2], s[end-1]
	if headEnds.has(a, b, c, d) || shortEnds.has(b, c, d) {
		return true
	}
	if lowerByte(c) == 'i' && lowerByte(d) == 'd' && ((digit | dash | under | dot).in(b) || lowerByte(b) == 't' || lowerByte(b) == 'y') {
		return true // secret_id, keyId
	}
	if (!(upper | lower).in(b) || upper.in(c)) && isTwoLetterHead(c, d) {
		return true
	}
	if !tailEnds.has(a, b, c, d) {
		return false
	}
	start := lower.back(s, end, nameLimit)
	return start > 0 && ident.in(s[start-1]) // alone, such a word is an ordinary name
}

// isTwoLetterHead reports whether two letters are one of heads, ignoring case.
func isTwoLetterHead(c, d byte) bool {
	_, ok := heads[string([]byte{lowerByte(c), lowerByte(d)})]
	return ok
}

// triples is a set of three consecutive bytes, of which five bits count: those are the same for both cases of a letter.
type triples [1 << 15 / 64]uint64

func (t *triples) has(a, b, c byte) bool {
	n := uint(a&31)<<10 | uint(b&31)<<5 | uint(c&31)
	return t[n/64]&(1<<(n%64)) != 0
}

func (t *triples) add(a, b, c byte) {
	n := uint(a&31)<<10 | uint(b&31)<<5 | uint(c&31)
	t[n/64] |= 1 << (n % 64)
}

// beginnings holds the first three bytes of everything that scanner.word may cut, except for Discord tokens.
var beginnings = buildBeginnings()

func buildBeginnings() *triples {
	t := new(triples)
	for _, sh := range shapes {
		p := sh.prefix
		if len(p) > 2 {
			t.add(p[0], p[1], p[2])
			continue
		}
		for c := range 256 { // the tail, which is never empty, has the third byte
			if sh.set.in(byte(c)) {
				t.add(p[0], p[1], byte(c))
			}
		}
	}
	for _, w := range otherStarts {
		t.add(w[0], w[1], w[2])
	}
	for w := range nouns {
		t.add(w[0], w[1], w[2])
	}
	t.add(identified[0], identified[1], identified[2])
	for _, sc := range freeSchemes {
		t.add(sc.word[0], sc.word[1], sc.word[2])
	}
	return t
}

// quads is a set of four consecutive letters, ignoring case. It may have false positives.
type quads [1 << 12 / 64]uint64

func quad(a, b, c, d byte) uint32 {
	fold := (uint32(a) | uint32(b)<<8 | uint32(c)<<16 | uint32(d)<<24) | 0x20202020
	return fold * 0x9E3779B1 >> 20
}

func (q *quads) has(a, b, c, d byte) bool {
	n := quad(a, b, c, d)
	return q[n/64]&(1<<(n%64)) != 0
}

// The endings of the words that meaningOf and siblingName know: of words with a meaning as the last word of a name, and of words
// for which the word before them decides.
var headEnds, tailEnds, shortEnds = buildEnds()

func buildEnds() (headEnds, tailEnds *quads, shortEnds *triples) {
	headEnds, tailEnds, shortEnds = new(quads), new(quads), new(triples)
	add := func(q *quads, w string) {
		n := len(w)
		if n == 2 {
			return // see isTwoLetterHead
		}
		if n == 3 {
			shortEnds.add(w[0], w[1], w[2])
			return
		}
		h := quad(w[n-4], w[n-3], w[n-2], w[n-1])
		q[h/64] |= 1 << (h % 64)
	}
	for w := range heads {
		add(headEnds, w)
	}
	for w := range siblings {
		add(headEnds, w)
	}
	for _, f := range fused {
		add(headEnds, f.ending)
	}
	for _, w := range foreignWords {
		add(headEnds, w)
	}
	for _, w := range []string{"tokens", "string", "str", "uri"} { // see nameWords.other
		add(headEnds, w)
	}
	for w := range tails {
		add(tailEnds, w)
	}
	return headEnds, tailEnds, shortEnds
}
