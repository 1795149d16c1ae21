package policy

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/internal/redact"
)

// groupNames lists the built-in groups in the order in which they are checked.
var groupNames = []string{"secrets", "conflict-markers", "rust"}

// groups holds the rules of each built-in group.
var groups = map[string][]rule{
	"secrets": {{
		id: "NO_SECRETS", find: secrets, message: "The line contains text that looks like a secret.",
		suggestion: "Take the secret out and read it from the environment or a secret store; if it was real, have it revoked.",
	}},
	"conflict-markers": {{
		id: "NO_CONFLICT_MARKERS", find: each(lazyregexp.New(`(?m)^(?:<{7}|>{7}|\|{7})(?: |\r?$)`)), message: "The line is the mark of a merge conflict.",
		suggestion: "Resolve the conflict and remove its marks.",
	}},
	"rust": {
		inRust("RUST_NO_UNWRAP", `unwrap`, `(?:\.|::)\s*(?:r#)?unwrap\b`, "unwrap panics.", "Handle the other case with match, ? or unwrap_or_else."),
		inRust("RUST_NO_EXPECT", `expect`, `(?:\.|::)\s*(?:r#)?expect\b`, "expect panics.", "Handle the other case with match or ?."),
		inRust("RUST_NO_PANIC", `panic`, `\bpanic\s*!`, "panic! ends the thread.", "Return an error."),
		inRust("RUST_NO_TODO", `todo`, `\btodo\s*!`, "todo! panics.", "Write the code, or return an error."),
		inRust("RUST_NO_UNIMPLEMENTED", `unimplemented`, `\bunimplemented\s*!`, "unimplemented! panics.", "Write the code, or return an error."),
		inRust("RUST_NO_UNREACHABLE", `unreachable`, `\bunreachable\s*!`, "unreachable! panics.", "Return an error, or make the case impossible by its type."),
		inRust("RUST_NO_UNSAFE", `unsafe`, `\bunsafe\b`, "unsafe code is not allowed.", "Use safe code, or a crate that wraps it."),
		inRust("RUST_NO_ALLOW", `allow|expect`, `#\s*!?\s*\[\s*(?:(?:r#)?cfg_attr\s*\([^\]]*,\s*)?(?:r#)?(?:allow|expect)\s*\(`, "A lint may not be silenced.", "Fix what the lint reports."),
	},
}

// inRust returns a rule for the code of Rust files. It ignores comments, literals, and tests, which may panic. The
// pattern is matched against the code with comments and literals blanked, because a comment may split a match.
func inRust(id, word, pattern, message, suggestion string) rule {
	mentioned, find := lazyregexp.New(word), each(lazyregexp.New(pattern))
	return rule{
		id: id, files: []string{"**/*.rs"}, exempt: []string{"**/tests/**"}, rust: true, message: message, suggestion: suggestion,
		find: func(text []byte) []int {
			if !mentioned.Match(text) { // the common case, and cheaper
				return nil
			}
			return find(rustCode(text))
		},
	}
}

// each returns a function that finds every match of a pattern.
func each(pattern *lazyregexp.Regexp) func([]byte) []int {
	return func(text []byte) []int {
		var out []int
		for _, m := range pattern.Get().FindAllIndex(text, -1) {
			out = append(out, m[0])
		}
		return out
	}
}

// linewise returns a function that finds every line in which a pattern matches.
func linewise(pattern *regexp.Regexp) func([]byte) []int {
	return func(text []byte) []int {
		var out []int
		at := 0
		for line := range bytes.Lines(text) {
			if pattern.Match(bytes.TrimRight(line, "\r\n")) {
				out = append(out, at)
			}
			at += len(line)
		}
		return out
	}
}

// secrets finds the lines that look like they contain a secret. A private key spans several lines; the line after its
// header is reported too, because all keys have the same header.
func secrets(text []byte) []int {
	if !secret(string(text)) { // the common case
		return nil
	}
	var out []int
	at, inKey := 0, false
	for line := range bytes.Lines(text) {
		if inKey || secret(string(line)) {
			out = append(out, at)
		}
		inKey = bytes.Contains(line, []byte("-----BEGIN ")) && bytes.Contains(line, []byte("PRIVATE KEY"))
		at += len(line)
	}
	if out == nil {
		out = []int{0} // the secret spans several lines
	}
	return out
}

func secret(text string) bool {
	shown := redact.Policy{KeepPaths: true, ShapesOnly: true}.Text(text)
	return strings.Count(shown, "[redacted:") > strings.Count(text, "[redacted:")
}
