package redact

import (
	"slices"
	"strings"
)

const opening = "[redacted:"

// Kinds of secrets that are recognised by name or position. The kinds recognised by shape are in shapes.
const (
	kindPassword   = "password"
	kindSecret     = "secret"
	kindToken      = "token"
	kindKey        = "key"
	kindAuth       = "authorization"
	kindCookie     = "cookie"
	kindConnection = "connection-string"
	kindCredential = "credential"
	kindUserinfo   = "url-credentials"
	kindSignature  = "signature"
	kindPEM        = "private-key"
	kindJWT        = "jwt"
	kindDiscord    = "discord-token"
	kindTelegram   = "telegram-token"
	kindAirtable   = "airtable-token"
	kindText       = "text"
)

var kinds = buildKinds()

// Kinds returns all kinds that a placeholder may contain, sorted. The caller owns the slice.
func Kinds() []string { return slices.Clone(kinds) }

func buildKinds() []string {
	list := []string{
		kindPassword, kindSecret, kindToken, kindKey, kindAuth, kindCookie, kindConnection, kindCredential,
		kindUserinfo, kindSignature, kindPEM, kindJWT, kindDiscord, kindTelegram, kindAirtable, kindText,
	}
	for _, sh := range shapes {
		list = append(list, sh.kind)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func placeholder(kind string) string { return opening + kind + "]" }

// placeholderEnd returns the end of the placeholder that begins at i, or i if there is none. Only
// the closed set of kinds counts: a peer cannot disguise a secret as a placeholder.
func placeholderEnd(s string, i int) int {
	if !strings.HasPrefix(s[i:], opening) {
		return i
	}
	from := i + len(opening)
	end := strings.IndexByte(s[from:min(len(s), from+32)], ']')
	if end < 0 {
		return i
	}
	if _, ok := slices.BinarySearch(kinds, s[from:from+end]); !ok {
		return i
	}
	return from + end + 1
}

func (x *scanner) skipPlaceholder() bool {
	end := placeholderEnd(x.s, x.i)
	if end == x.i {
		return false
	}
	x.i = end
	return true
}
