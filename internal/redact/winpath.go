package redact

import "strings"

// drive shortens C:\dir\name, in plain or escaped form. The colon is s[from:to].
func (x *scanner) drive(from, to int) bool {
	s := x.s
	if x.keepPaths || from == 0 || to >= len(s) || !(upper | lower).in(s[from-1]) || s[to] != '\\' && s[to] != '/' {
		return false
	}
	start := from - 1
	if start < x.done || start > 0 && !driveBoundary(s, start) {
		return false
	}
	p := readWindows(s, to)
	if p.count == 0 || s[to] == '/' && p.count < 2 && !fileName(s[p.last:p.end], 3) {
		return false
	}
	p.user = p.count == 2 && strings.EqualFold(p.first, "Users")
	x.shorten(start, p)
	return true
}

func driveBoundary(s string, i int) bool {
	c, _ := unitBefore(s, i)
	return c >= 0x80 || !(alnum|dash|under|dot).in(c) && c != '\\' && (c != '/' || strings.HasSuffix(s[:i], ":///"))
}

// unc shortens \\host\share\name.
func (x *scanner) unc(i int) bool {
	s := x.s
	if x.keepPaths || !strings.HasPrefix(s[i:], `\\`) || i > 0 && !(space|quote).in(s[i-1]) && strings.IndexByte("(=[<", s[i-1]) < 0 {
		return false
	}
	p := readWindows(s, i)
	if p.count < 2 || len(p.first) < 2 {
		return false
	}
	if c, n := unitAt(s, i); n > 1 && c != ' ' { // an escaped quote, not a host
		return false
	}
	x.shorten(i, p)
	return true
}

// readWindows reads elements between backslashes or slashes. Text with escaped line ends
// looks the same ("Plan B:\nfirst\nsecond"), so elements that all begin like an escape are not a path.
func readWindows(s string, i int) pathSpan {
	p := pathSpan{start: i, end: i}
	stop, blanks := pathStop(s, i)
	genuine := false
	for j := i; j < stop && (s[j] == '\\' || s[j] == '/'); {
		sep := j
		for j < stop && (s[j] == '\\' || s[j] == '/') && j-sep < escapes {
			j++
		}
		from := j
		j = elementEnd(s, from, stop, blanks, `\`)
		if j == from {
			break
		}
		p.last, p.end = from, j
		p.count++
		if p.count == 1 {
			p.first = s[from:j]
		}
		genuine = genuine || strings.IndexByte("nrt", s[from]) < 0 || s[sep] == '/' || foldPrefix(s[from:j], "temp") || foldPrefix(s[from:j], "tmp")
	}
	if !genuine {
		return pathSpan{}
	}
	p.end = trimDots(s, p.last, p.end)
	return p
}

// home shortens ~/dir/name and ~user/dir/name.
func (x *scanner) home(i int) bool {
	s := x.s
	if x.keepPaths || i > 0 && !pathBoundary(s, i) {
		return false
	}
	from := ident.run(s, i+1, 32)
	if from >= len(s) || s[from] != '/' || digit.in(s[i+1]) {
		return false
	}
	p := readPath(s, from)
	if p.count == 0 {
		return false
	}
	p.user = false
	x.shorten(i, p)
	return true
}

// fileURL shortens file:///dir/name and file://host/dir/name. The scheme begins at start, the
// authority at from.
func (x *scanner) fileURL(start, from int) bool {
	s := x.s
	x.i = from
	end := (alnum | dash | dot).run(s, from, nameLimit)
	if end >= len(s) {
		return true
	}
	if c, _ := unitAt(s, end); c != '/' && c != '\\' {
		return true
	}
	p := readPath(s, end)
	if end+2 < len(s) && s[end] == '/' && (upper | lower).in(s[end+1]) && s[end+2] == ':' {
		p = readWindows(s, end+3)
	}
	if p.count > 0 {
		x.shorten(start, p)
	}
	return true
}
