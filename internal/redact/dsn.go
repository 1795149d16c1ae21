package redact

import "strings"

// Connection strings without a scheme: user:password@tcp(host:3306)/db for Go's MySQL driver, user:password@host:port
// for proxies, user/password@//host for Oracle's clients.

// dsnLimit bounds how much of a connection string is read before its @.
const dsnLimit = 160

// dsn cuts the password before the @ at i.
func (x *scanner) dsn(i int) bool {
	s := x.s
	if i < 3 || i+2 >= len(s) || space.in(s[i-1]) || space.in(s[i+1]) {
		return false
	}
	from := dsnStart(s, i)
	user, separator := from, byte(0)
	for ; user < i; user++ {
		if c := s[user]; c == ':' || c == '/' {
			separator = c
			break
		}
	}
	if user == from || user+1 >= i || user < x.done || ident.run(s, from, all) < user || !dsnHost(s, from, i, separator) {
		return false
	}
	x.cut(user+1, i, placeholder(kindPassword))
	return true
}

// dsnStart returns where the word that ends at i begins.
func dsnStart(s string, i int) int {
	from := i
	for from > 0 && i-from < dsnLimit && !(space | quote).in(s[from-1]) && strings.IndexByte("<>,;()[]{}|=", s[from-1]) < 0 {
		from--
	}
	return from
}

// notUsers are words before a colon that are not user names.
var notUsers = set("mailto", "email", "from", "to", "cc", "bcc", "npm", "jsr", "pkg", "http", "https", "file", "git", "ssh", "sip", "sips", "xmpp", "acct")

// dsnHost reports whether the text after the @ at i is the address of a connection string with credentials that begin at from.
func dsnHost(s string, from, i int, separator byte) bool {
	rest := s[i+1 : min(len(s), i+1+dsnLimit)]
	if separator == '/' {
		return strings.HasPrefix(rest, "//") || portFollows(rest) && strings.IndexByte(s[from:i], '.') < 0 || commandBefore(s, from, "sqlplus")
	}
	if separator != ':' || strings.Contains(s[from:i], "://") {
		return false
	}
	for _, network := range []string{"tcp(", "tcp6(", "unix(", "udp(", "cloudsql(", "("} {
		if strings.HasPrefix(rest, network) {
			return true
		}
	}
	name, _, _ := strings.Cut(s[from:i], ":")
	return portFollows(rest) && !notUsers[strings.ToLower(name)]
}

// portFollows reports whether rest begins with host:port.
func portFollows(rest string) bool {
	host := (alnum | dash | dot).run(rest, 0, all)
	if host == 0 || host+1 >= len(rest) || rest[host] != ':' {
		return false
	}
	end := digit.run(rest, host+1, 6)
	return end > host+1 && (end == len(rest) || !alnum.in(rest[end]))
}
