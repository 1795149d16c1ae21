package redact

// scanner scans a text once. Rules read s, never the output, and either
// cut a span or keep it; each rule reads a bounded number of bytes that it does not cut, or
// remembers how far it has read, so a pass takes linear time.
type scanner struct {
	s         string
	i         int    // index of the current byte
	done      int    // s[:done] has been copied or cut
	out       []byte // nil until the first cut
	keepPaths bool

	shapesOnly bool
	pathsOnly  bool

	noJWT  int // no web token begins before this index
	noPath int // no path begins before this index
	noWeak int // no unquoted value after a weak name begins before this index
}

// run applies the rules at every word and every trigger byte.
func (x *scanner) run() {
	for x.i < len(x.s) {
		switch k := classes[x.s[x.i]]; {
		case k&alnum != 0:
			if !mayStart(x.s, x.i) || !x.word() {
				x.i = alnum.run(x.s, x.i, all)
			}
		case k&trigger == 0 || !x.trigger():
			x.i++
		}
	}
}

// cut replaces s[from:to] and continues after it.
func (x *scanner) cut(from, to int, with string) {
	from = max(from, x.done)
	if x.out == nil {
		x.out = make([]byte, 0, len(x.s)+len(with))
	}
	x.out = append(x.out, x.s[x.done:from]...)
	x.out = append(x.out, with...)
	x.done, x.i = to, to
}

// word applies the rules that begin at a word.
func (x *scanner) word() bool {
	return !x.pathsOnly && (x.known() || !x.shapesOnly && (x.scheme() || x.noun() || x.identifiedBy()))
}

// known cuts a secret that is recognised by its shape.
func (x *scanner) known() bool { return x.shape() || x.jwt() || x.discord() }

// trigger applies the rules that begin at the byte x.i. It reports whether x.i has moved.
func (x *scanner) trigger() bool {
	i := x.i
	if x.shapesOnly {
		return x.shapeTrigger(i)
	}
	switch c := x.s[i]; {
	case c == '[':
		return x.skipPlaceholder()
	case c == '/':
		return x.path(i)
	case c == '~':
		return x.home(i)
	case x.pathsOnly && c != ':' && c != '\\' && c != '%':
		return false
	}
	switch x.s[i] {
	case '-':
		return x.pem(i) || x.flag(i) || x.commandFlag(i)
	case '@':
		return x.dsn(i)
	case fullWidthLead:
		return fullWidth(x.s, i) && x.pair(i, i+len("："), ':')
	case '=', ':':
		return x.separator(i, i+1, x.s[i])
	case ',':
		return x.tuple(i)
	case '>':
		return x.arrow(i) || x.element(i)
	default:
		return x.escape(i)
	}
}

// shapeTrigger is like trigger for shapes only.
func (x *scanner) shapeTrigger(i int) bool {
	switch x.s[i] {
	case '[':
		return x.skipPlaceholder()
	case '-':
		return x.pem(i)
	case ':':
		return x.url(i, i+1) || x.telegram(i, i+1)
	case '=':
		return x.parameter(i, i+1)
	}
	c, n := unitAt(x.s, i)
	if n == 1 {
		return false
	}
	if c == ':' && (x.url(i, i+n) || x.telegram(i, i+n)) {
		return true
	}
	if c == '=' && x.parameter(i, i+n) {
		return true
	}
	return x.stepOver(i, n)
}

// parameter cuts the value of a URL's parameter with the equals sign s[from:to]: a URL used as an identifier is still a URL.
func (x *scanner) parameter(from, to int) bool {
	return nameBefore(x.s, from).query && x.pair(from, to, '=')
}

// stepOver continues after the escape of n bytes at i, where a word begins. Text that looks like an escape may not be one, as in
// %dapi…: a secret that begins within it is cut.
func (x *scanner) stepOver(i, n int) bool {
	for x.i = i + 1; x.i < i+n; x.i++ {
		if mayStart(x.s, x.i) && x.known() {
			return true
		}
	}
	return true
}

// separator applies the rules for a colon or equals sign at s[from:to], in any encoding.
func (x *scanner) separator(from, to int, c byte) bool {
	if c == ':' && (x.url(from, to) || !x.pathsOnly && x.telegram(from, to) || x.drive(from, to)) {
		return true
	}
	return !x.pathsOnly && x.pair(from, to, c)
}

// escape handles a backslash or a percent sign: an escaped byte is treated like the byte itself.
func (x *scanner) escape(i int) bool {
	if x.s[i] == '\\' && x.unc(i) {
		return true
	}
	c, n := unitAt(x.s, i)
	if n == 1 {
		return false
	}
	switch c {
	case '/':
		if x.path(i) {
			return true
		}
	case '=', ':':
		if x.separator(i, i+n, c) {
			return true
		}
	}
	if x.s[i] == '%' {
		return x.stepOver(i, n)
	}
	x.i = i + n
	return true
}
