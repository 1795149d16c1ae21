package redact

import "strings"

// jwtHeads are the beginnings of web token headers, {"alg": {"typ": and similar, in base64. They
// distinguish a token that was truncated in its first segment from other base64 of JSON, such as a cursor.
var jwtHeads = []string{"eyJhbGci", "eyJ0eXAi", "eyJraWQi", "eyJlbmMi", "eyJjdHki", "eyJ4NXQ", "eyJqa3Ui", "eyJ6aXAi"}

// jwt cuts a JSON web token: base64url segments joined by dots, the first of which decodes to
// JSON. "eyJ" is the encoding of {" and "ewo" that of a brace and a newline.
func (x *scanner) jwt() bool {
	s, i := x.s, x.i
	if i < x.noJWT || !strings.HasPrefix(s[i:], "eyJ") && !strings.HasPrefix(s[i:], "ewo") {
		return false
	}
	end := token.run(s, i, all)
	first := end
	segments := 1
	for end+1 < len(s) && s[end] == '.' && token.in(s[end+1]) {
		end = token.run(s, end+1, all)
		segments++
	}
	if segments >= 3 || segments == 2 && (strings.HasPrefix(s[first+1:], "eyJ") || x.truncated(end)) ||
		x.truncated(first) && hasJWTHead(s[i:]) || first < len(s) && s[first] == '.' && hasJWTHead(s[i:]) {
		x.cut(i, end, placeholder(kindJWT))
		return true
	}
	x.noJWT = first
	return false
}

func hasJWTHead(s string) bool {
	for _, h := range jwtHeads {
		if strings.HasPrefix(s, h) {
			return true
		}
	}
	return false
}

const (
	discordID  = 23 // minimum length of the user id of a Discord token
	telegramID = 8  // minimum length of the user id of a Telegram token
)

// discord cuts a bot token: a user id in base64 (which begins with M, N or O because the id is
// a number), a timestamp of six characters, a signature.
func (x *scanner) discord() bool {
	s, i := x.s, x.i
	if c := s[i]; c < 'M' || c > 'O' {
		return false
	}
	id := token.run(s, i, 30)
	if id-i < discordID || id >= len(s) || s[id] != '.' || !hasDigit(s[i:id]) {
		return false
	}
	stamp := token.run(s, id+1, 8)
	if stamp-id-1 != 6 && !x.truncated(stamp) {
		return false
	}
	end := stamp
	if end+1 < len(s) && s[end] == '.' && token.in(s[end+1]) {
		end = token.run(s, stamp+1, 80)
	}
	if end-stamp < 20 && !x.truncated(end) {
		return false
	}
	x.cut(i, end, placeholder(kindDiscord))
	return true
}

// airtable cuts a personal access token: "pat", 14 letters and digits, a dot, 64 hex digits.
func (x *scanner) airtable() bool {
	s, i := x.s, x.i
	if !strings.HasPrefix(s[i:], "pat") {
		return false
	}
	id := alnum.run(s, i+3, 15)
	if id-i != 17 || !hasDigit(s[i:id]) || id == len(s) || s[id] != '.' {
		return false
	}
	end := hex.run(s, id+1, 80)
	if end-id < 33 && !x.truncated(end) {
		return false
	}
	x.cut(i, end, placeholder(kindAirtable))
	return true
}

// telegram cuts a bot token: eight to ten digits, a colon, 35 characters. The colon is at from.
func (x *scanner) telegram(from, to int) bool {
	s := x.s
	start := digit.back(s, from, 12)
	if n := from - start; n < telegramID || n > 11 || start < x.done {
		return false
	}
	end := token.run(s, to, 64)
	tail := s[to:end]
	if len(tail) < 30 && !(len(tail) >= weakCut && strings.HasPrefix(tail, "AA") && x.truncated(end)) {
		return false
	}
	x.cut(start, end, placeholder(kindTelegram))
	return true
}
