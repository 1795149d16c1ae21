package foreign

import (
	"strings"

	"github.com/candor-mcp/candor/internal/phrase"
)

// nameOf returns the argument that a token names. strict rejects bare words that look like prose; strong allows vague ones.
func (r *reader) nameOf(t token, strict, strong bool) (string, bool) {
	if t.kind == kindMark || t.kind == kindURL || t.kind == kindNumber || !isPath(t.text) {
		return "", false
	}
	if strings.HasPrefix(t.text, "$") {
		return "", false // a word of the validator, such as $first
	}
	if key, ok := r.args.spelling(t.text); ok && (strong || !t.head || !tables().Typed[t.low]) {
		return key, !(t.kind == kindWord && tables().Never[t.low] && !strong)
	}
	if t.kind == kindQuoted {
		return t.text, !typeWords[t.low] && !r.args.sent(t.text) // a value from the call is quoted as a value
	}
	if tables().Never[t.low] || isSymbol(t.text) || t.spaceless() { // NAME_LIKE_THIS is a code or an environment variable
		return "", false
	}
	if looksDeclared(t.text) {
		return t.text, true
	}
	if strict || !strong && (tables().Vague[t.low] && !t.head || t.head && tables().Typed[t.low]) {
		return "", false
	}
	return lowerHead(t), true
}

// typeWords are never names even in quotes.
var typeWords = phrase.SetOf("string", "object", "undefined", "null", "none", "true", "false", "boolean", "array", "integer", "[object object]",
	"nan", "arguments", "args", "params")

// lowerHead returns a capitalised first word in lower case: "Directory is required" is about directory.
func lowerHead(t token) string {
	if len(t.text) > 1 && isUpper(t.text[0]) && strings.ToLower(t.text[1:]) == t.text[1:] {
		return t.low
	}
	return t.text
}

// looksDeclared distinguishes identifiers from prose: snake_case, camelCase, a.b, x[0], name2.
func looksDeclared(s string) bool {
	if strings.ContainsAny(s, "_[") || s[0] == '$' && len(s) > 1 {
		return true
	}
	for i := 1; i < len(s); i++ {
		if isUpper(s[i]) && isLower(s[i-1]) && isLower(s[0]) {
			return true
		}
		if s[i] == '.' && isIndexOrName(s[i+1:]) && isLower(s[0]) && !strings.Contains(s, ".com") {
			return true
		}
	}
	return false
}

func isIndexOrName(s string) bool { return s != "" && (isLower(s[0]) || isDigit(s[0])) }

// isPath reports whether s can be the path of an argument: a name, or names joined by dots and brackets.
func isPath(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for i, c := range s {
		ok := isWordRune(c) || i > 0 && strings.ContainsRune(".-[]", c) || c == '/' && s[0] == '/'
		if !ok || i == 0 && (isDigit(byte(c&0x7f)) && c < 0x80) {
			return false
		}
	}
	return true
}
