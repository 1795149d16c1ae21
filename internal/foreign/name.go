package foreign

import "strings"

// never are words that are not read as the name of an argument, even after "parameter", unless the request has an argument of that
// name.
var never = set("the", "a", "an", "this", "that", "these", "those", "it", "its", "is", "are", "was", "were", "be", "been",
	"to", "of", "in", "on", "at", "for", "from", "with", "by", "as", "and", "or", "not", "no", "none", "any", "all", "some",
	"one", "both", "either", "neither", "you", "your", "we", "our", "they", "i", "he", "she", "please", "must", "should",
	"can", "cannot", "could", "may", "might", "will", "would", "shall", "has", "have", "had", "do", "does", "did",
	"required", "require", "requires", "missing", "invalid", "valid", "provided", "provide", "specified", "given",
	"expected", "received", "got", "want", "found", "unknown", "unexpected", "unsupported", "undefined", "null", "nil",
	"nan", "true", "false", "string", "strings", "number", "numbers", "integer", "integers", "int", "float", "boolean",
	"bool", "array", "arrays", "object", "objects", "dict", "dictionary", "record", "tuple", "function",
	"error", "errors", "failed", "failure", "exception", "warning", "when", "if", "then", "else", "because", "but", "only",
	"at-least", "least", "more", "less", "than", "there", "here", "what", "which", "who", "how", "why", "where", "also",
	"validation", "schema", "json", "syntax", "parse", "call", "calling", "called", "tool", "tools", "server", "client",
	"request", "requests", "response", "api", "http", "https", "url-encoded", "mcp", "rpc", "json-rpc",
	"parameter", "parameters", "param", "params", "argument", "arguments", "arg", "args", "property", "properties",
	"undefined.", "positional", "keyword", "optional", "additional", "extra", "allowed", "supported", "available", "see",
	"check", "make", "sure", "ensure", "use", "using", "try", "again", "each", "every", "other", "another", "such", "same",
	"least one", "at", "be", "into", "types", "e.g", "i.e", "etc", "authentication", "authorization", "login",
	"permission", "permissions", "access", "approval", "confirmation", "configuration", "connection", "subscription",
	"upgrade", "restart", "credentials", "installation", "setup", "action required", "attention", "value_error",
	"assertion", "characters", "character", "digits", "seconds", "minutes", "ms",
	"struct", "slice", "interface", "enum", "constant", "literal", "union", "details", "operation failed",
	"constraint", "rule", "rules", "unable", "could not", "was", "so", "just", "too", "very", "first", "second", "last",
	"payment", "premium", "higher", "lower", "next", "new", "now", "yet", "still", "already", "currently", "s", "variables", "variable", "environment", "env")

// vague are words that name an argument only if the sentence allows no other reading.
var vague = set("value", "values", "key", "keys", "field", "fields", "input", "inputs", "data", "option", "options",
	"name", "names", "id", "ids", "token", "file", "result", "results", "message", "resource", "item", "user", "username",
	"password", "service", "database", "table", "version", "state", "status", "code", "format", "content", "output", "count",
	"project", "account", "session", "account", "path", "line", "column", "position", "length", "size", "range", "limit",
	"text", "page", "document", "documents", "date", "time", "process", "command", "feature", "model", "system", "host",
	"port", "network", "method", "action", "type", "list", "map", "root", "target", "source", "origin", "index", "entity", "items", "elements", "bytes", "query", "body", "header", "title")

// typed are the vague words for a type at the beginning of a validator's sentence: "Number must be less than 5".
var typed = set("string", "number", "array", "date", "set", "map", "object", "bigint", "value", "file", "list", "text", "element", "elements", "items", "bytes")

// nameOf returns the argument that a token names. strict rejects bare words that look like prose; strong allows vague ones.
func (r *reader) nameOf(t token, strict, strong bool) (string, bool) {
	if t.kind == kindMark || t.kind == kindURL || t.kind == kindNumber || !isPath(t.text) {
		return "", false
	}
	if strings.HasPrefix(t.text, "$") {
		return "", false // a word of the validator, such as $first
	}
	if key, ok := r.args.spelling(t.text); ok && (strong || !t.head || !typed[t.low]) {
		return key, !(t.kind == kindWord && never[t.low] && !strong)
	}
	if t.kind == kindQuoted {
		return t.text, !typeWords[t.low] && !r.args.sent(t.text) // a value from the call is quoted as a value
	}
	if t.inset && t.text == t.low && !jargon[t.low] {
		return t.text, !strict
	}
	if never[t.low] || isSymbol(t.text) || t.spaceless() { // NAME_LIKE_THIS is a code or an environment variable
		return "", false
	}
	if looksDeclared(t.text) {
		return t.text, true
	}
	if strict || !strong && (vague[t.low] && !t.head || t.head && typed[t.low]) {
		return "", false
	}
	return lowerHead(t), true
}

// jargon are Latin words that are common in texts of other scripts.
var jargon = set("api", "http", "https", "json", "mcp", "rpc", "error", "null", "undefined", "none", "true", "false", "string", "number", "integer", "boolean", "array", "object", "url", "uri", "tool", "schema",
	"int", "float", "bool", "and", "or", "not", "is", "the", "html", "xml", "sql", "server", "client", "s", "ms")

// typeWords are never names even in quotes.
var typeWords = set("string", "object", "undefined", "null", "none", "true", "false", "boolean", "array", "integer", "[object object]",
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
