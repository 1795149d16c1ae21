package redact

import "strings"

const (
	pemBegin = "-----BEGIN "
	pemEnd   = "-----END "
	// pemLabel bounds the label between the dashes.
	pemLabel = 64
	// pemBody is the minimum length of base64 for a key; less is text about keys.
	pemBody = 16
)

// pem cuts a private key block, with real or escaped line ends, complete or truncated.
func (x *scanner) pem(i int) bool {
	s := x.s
	if !strings.HasPrefix(s[i:], pemBegin) {
		return false
	}
	label := i + len(pemBegin)
	n := strings.Index(s[label:min(len(s), label+pemLabel)], "-----")
	if n < 0 || !strings.Contains(s[label:label+n], "PRIVATE KEY") {
		return false
	}
	body := label + n + len("-----")
	end := pemBodyEnd(s, body)
	if !strings.HasPrefix(s[end:], pemEnd) {
		if end = pemCut(s, body); end == body {
			return false
		}
	}
	x.cut(i, pemTail(s, end), placeholder(kindPEM))
	return true
}

// pemBodyEnd skips everything that a complete block may contain: base64, header lines of old formats, white
// space and escapes. It stops at the next dashes, so that a sequence of opening lines takes linear time.
func pemBodyEnd(s string, i int) int {
	for i < len(s) && !strings.HasPrefix(s[i:], "-----") {
		if c := s[i]; !(b64 | space | colon | dash).in(c) && c != '\\' && c != ',' && c != '%' {
			break
		}
		i++
	}
	return i
}

// pemCut skips lines of base64 in a block that has no closing line.
func pemCut(s string, body int) int {
	end := body
	for i := body; i < len(s); {
		if c, n := unitAt(s, i); c == ' ' || c == '\n' || c == '\t' {
			i += n
			continue
		}
		line := b64.run(s, i, all)
		if line-i < pemBody && !truncated(s, line) || line == i {
			break
		}
		i, end = line, line
	}
	return end
}

// pemTail skips the closing line.
func pemTail(s string, i int) int {
	if !strings.HasPrefix(s[i:], pemEnd) {
		return i
	}
	label := i + len(pemEnd)
	if n := strings.Index(s[label:min(len(s), label+pemLabel)], "-----"); n >= 0 {
		return label + n + len("-----")
	}
	return label
}
