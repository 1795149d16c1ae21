package redact

import "strings"

// url handles scheme://authority at a colon s[from:to]: it cuts user information and treats file URLs
// as paths. Parameters are handled as pairs.
func (x *scanner) url(from, to int) bool {
	s := x.s
	if x.collapsedURL(from, to) {
		return true
	}
	slashes := to
	for range 2 {
		if slashes >= len(s) {
			return false
		}
		c, n := unitAt(s, slashes)
		if c != '/' {
			return false
		}
		slashes += n
	}
	start := schemeStart(s, from)
	if start == from {
		return false
	}
	if foldPrefix(s[start:from], "file") && from-start == 4 && !x.keepPaths {
		return x.fileURL(start, slashes)
	}
	x.i = slashes
	if at := userinfoEnd(s, slashes); at > slashes {
		x.userinfo(slashes, at)
	}
	return true
}

// collapsedURL cuts the user information of a URL in which two slashes became one, as happens when it is cleaned as a
// path: https:/user:password@host. The colon is s[from:to].
func (x *scanner) collapsedURL(from, to int) bool {
	s := x.s
	if to+1 >= len(s) || s[to] != '/' && s[to] != '\\' || s[to+1] == '/' || s[to+1] == '\\' || schemeStart(s, from)+2 > from {
		return false
	}
	at := userinfoEnd(s, to+1)
	if at == to+1 || strings.IndexByte(s[to+1:at], ':') < 0 {
		return false
	}
	x.userinfo(to+1, at)
	return true
}

// schemeStart returns where the scheme that ends at i begins.
func schemeStart(s string, i int) int {
	from := (alnum | plus | dash | dot).back(s, i, nameLimit)
	for from < i && !(upper | lower).in(s[from]) {
		from++
	}
	return behindEscape(s, from, i)
}

// userinfoEnd returns the index of the @ that ends user information beginning at i, or i. A
// password may contain a raw slash or question mark: if the text before the first slash cannot be
// a host, because its port is not a number, the search for the @ continues a little further.
func userinfoEnd(s string, i int) int {
	at, port := i, -1
	end := i
	for ; end < len(s); end++ {
		c := s[end]
		if space.in(c) || quote.in(c) || strings.IndexByte("<>,;()[]{}|", c) >= 0 && placeholderEnd(s, end) == end {
			break
		}
		if c == '%' {
			if u, _ := unitAt(s, end); u == '@' {
				at = end
			} else if u == '/' || u == ' ' {
				break
			} else if u == ':' {
				port = end + 2
			}
		}
		if c == '@' {
			at = end
		} else if c == ':' && port < 0 {
			port = end
		} else if c == '/' || c == '?' || c == '#' || c == '\\' {
			if at > i || port < 0 || end-i > valueLimit || hostPort(s[port+1:end]) {
				break
			}
			return lateAt(s, i, end)
		}
	}
	return at
}

// hostPort reports whether p can be a port.
func hostPort(p string) bool {
	return digit.run(p, 0, all) == len(p) || strings.HasPrefix(p, "$") || strings.HasPrefix(p, "{") || strings.HasPrefix(p, "<")
}

// lateAt searches for the @ after a raw slash in a password.
func lateAt(s string, i, end int) int {
	for j := end; j < min(len(s), end+128); j++ {
		if c := s[j]; c == '@' {
			return j
		} else if space.in(c) || quote.in(c) {
			break
		}
	}
	return i
}

// harmlessUsers are user names that give no access without a key.
var harmlessUsers = set("git", "hg", "svn", "user", "root", "postgres", "anonymous", "admin", "sa", "ubuntu", "guest")

// userinfo cuts s[from:at].
func (x *scanner) userinfo(from, at int) {
	info := x.s[from:at]
	if harmlessUsers[info] || placeholderStart(x.s, from, at) >= 0 {
		x.i = at
		return
	}
	x.cut(from, at, placeholder(kindUserinfo))
}
