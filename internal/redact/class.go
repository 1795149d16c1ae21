package redact

// class is a set of properties of an ASCII byte as bits, so that an alphabet is a mask and one table
// serves all tests of bytes.
type class uint16

const (
	upper class = 1 << iota
	lower
	digit
	hexAlpha // a–f
	dash
	under
	dot
	slash
	plus // + and =
	colon
	space
	quote   // " ' `
	trigger // a byte at which a rule may begin

	alnum  = upper | lower | digit
	word   = alnum | under
	token  = word | dash // base64url
	dotted = token | dot
	b64    = alnum | plus | slash
	hex    = digit | hexAlpha
	ident  = word | dash | dot
)

// fullWidthLead is the first byte of ： and ＝ in UTF-8.
const fullWidthLead = 0xEF

var classes = buildClasses()

func buildClasses() (t [256]class) {
	for c := '0'; c <= '9'; c++ {
		t[c] = digit
	}
	for c := 'a'; c <= 'z'; c++ {
		t[c] = lower
		t[c-'a'+'A'] = upper
	}
	for c := 'a'; c <= 'f'; c++ {
		t[c] |= hexAlpha
	}
	t['-'], t['_'], t['.'], t['/'], t['+'], t['='], t[':'] = dash, under, dot, slash, plus, plus, colon
	for _, c := range " \t\n\r" {
		t[c] = space
	}
	for _, c := range "\"'`" {
		t[c] = quote
	}
	for _, c := range "/:=\\%-~[>,@" {
		t[c] |= trigger
	}
	t[fullWidthLead] |= trigger
	return t
}

// in reports whether c belongs to the alphabet.
func (k class) in(c byte) bool { return classes[c]&k != 0 }

// run returns the end of the run of bytes of the alphabet that begins at i, at most i+limit.
func (k class) run(s string, i, limit int) int {
	end := min(len(s), i+limit)
	for i < end && classes[s[i]]&k != 0 {
		i++
	}
	return i
}

// back returns the beginning of the run of bytes of the alphabet that ends at i, at least i-limit.
func (k class) back(s string, i, limit int) int {
	end := max(0, i-limit)
	for i > end && classes[s[i-1]]&k != 0 {
		i--
	}
	return i
}

// all means no limit.
const all = 1 << 40

func lowerByte(c byte) byte {
	if upper.in(c) {
		return c + 'a' - 'A'
	}
	return c
}

// foldPrefix reports whether s begins with the lower-case prefix, ignoring case.
func foldPrefix(s, prefix string) bool {
	if len(s) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if lowerByte(s[i]) != prefix[i] {
			return false
		}
	}
	return true
}
