package redact

import "strings"

// schemes are the words before an authorization value.
var schemes = map[string]bool{
	"bearer": true, "basic": true, "token": true, "digest": true, "bot": true, "apikey": true, "api-key": true,
	"negotiate": true, "ntlm": true, "hawk": true, "ssws": true, "geniekey": true, "aws4-hmac-sha256": true,
	"hmac": true, "key": true, "signature": true, "jwt": true, "dpop": true, "sso-key": true, "bearer:": true,
	"sharedkey": true, "sharedaccesssignature": true, "splunk": true, "klaviyo-api-key": true, "discogs": true,
}

// lineSchemes have several values, up to the end of the line.
var lineSchemes = set("digest", "hawk", "aws4-hmac-sha256", "signature", "hmac", "sharedaccesssignature")

// headerValue extends an unquoted value where the grammar of the header allows blanks.
func (x *scanner) headerValue(m meaning, v value) value {
	if v.quoted || v.from >= v.to || m.kind != kindAuth && m.kind != kindCookie {
		return v
	}
	s := x.s
	if m.kind == kindCookie {
		if strings.IndexByte(s[v.from:v.to], '=') > 0 {
			v.to = lineEnd(s, v.to)
		}
		return v
	}
	scheme := strings.ToLower(s[v.from:min(v.to, v.from+24)])
	if !schemes[scheme] {
		return v
	}
	if lineSchemes[scheme] {
		v.to = max(v.to, parametersEnd(s, v.to))
		return v
	}
	next := skipBlank(s, v.to)
	if strings.HasPrefix(s[v.to:], "%20") {
		next = v.to + 3
	}
	if next == v.to || next >= len(s) {
		return v
	}
	if end := bareEnd(s, next); end > next && !harmless(s[next:end]) {
		v.to = end
	}
	return v
}

// parametersEnd is like lineEnd for a list of name="value": a quote after an equals sign begins a value and does not end the line.
func parametersEnd(s string, i int) int {
	for {
		i = lineEnd(s, i)
		if i == len(s) || i == 0 || s[i-1] != '=' {
			return i
		}
		c, n := unitAt(s, i)
		if !quote.in(c) {
			return i
		}
		v := quotedAt(s, i, n)
		if v.open {
			return v.to
		}
		i = v.to + n
	}
}

// lineEnd returns where a header line ends: at a line end, real or escaped, or a quote.
func lineEnd(s string, i int) int {
	for i < len(s) && s[i] != '\n' && !quote.in(s[i]) {
		if s[i] == '\\' {
			if c, n := unitAt(s, i); n > 1 && (c == ' ' || quote.in(c)) {
				break
			}
		}
		i++
	}
	return i
}
