package policy

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/internal/redact"
)

// groupNames are the built-in groups, in the order in which they judge.
var groupNames = []string{"secrets", "conflict-markers", "rust"}

// groups are the rules of each.
var groups = map[string][]rule{
	"secrets": {{
		id: "NO_SECRETS", find: secrets, message: "The line holds what has the form of a secret.",
		suggestion: "Take the secret out and read it from the environment or a secret store; if it was real, have it revoked.",
	}},
	"conflict-markers": {{
		id: "NO_CONFLICT_MARKERS", find: each(lazyregexp.New(`(?m)^(?:<{7}|>{7}|\|{7})(?: |\r?$)`)), message: "The line is the mark of a merge conflict.",
		suggestion: "Settle the conflict and remove its marks.",
	}},
	"rust": {
		inRust("RUST_NO_UNWRAP", `unwrap`, `(?:\.|::)\s*(?:r#)?unwrap\b`, "unwrap panics.", "Handle the other case with match, ? or unwrap_or_else."),
		inRust("RUST_NO_EXPECT", `expect`, `(?:\.|::)\s*(?:r#)?expect\b`, "expect panics.", "Handle the other case with match or ?."),
		inRust("RUST_NO_PANIC", `panic`, `\bpanic\s*!`, "panic! ends the thread.", "Return an error."),
		inRust("RUST_NO_TODO", `todo`, `\btodo\s*!`, "todo! panics.", "Write the code, or return an error."),
		inRust("RUST_NO_UNIMPLEMENTED", `unimplemented`, `\bunimplemented\s*!`, "unimplemented! panics.", "Write the code, or return an error."),
		inRust("RUST_NO_UNREACHABLE", `unreachable`, `\bunreachable\s*!`, "unreachable! panics.", "Return an error, or make the case impossible by its type."),
		inRust("RUST_NO_UNSAFE", `unsafe`, `\bunsafe\b`, "unsafe code is not allowed.", "Use safe code, or a crate that wraps it."),
		inRust("RUST_NO_ALLOW", `allow|expect`, `#\s*!?\s*\[\s*(?:(?:r#)?cfg_attr\s*\([^\]]*,\s*)?(?:r#)?(?:allow|expect)\s*\(`, "A lint may not be silenced.", "Mend what the lint complains of."),
	},
}

// inRust is a rule for the code of Rust files: not for comments and texts, and not for tests, which may panic. The pattern is held
// against the code with blanks for all else, so that only then can it be told whether it matches: a comment may stand in its middle.
func inRust(id, word, pattern, message, suggestion string) rule {
	mentioned, find := lazyregexp.New(word), each(lazyregexp.New(pattern))
	return rule{
		id: id, files: []string{"**/*.rs"}, exempt: []string{"**/tests/**"}, rust: true, message: message, suggestion: suggestion,
		find: func(text []byte) []int {
			if !mentioned.Match(text) { // nearly always, and cheaper
				return nil
			}
			return find(rustCode(text))
		},
	}
}

// each finds every match of a pattern.
func each(pattern *lazyregexp.Regexp) func([]byte) []int {
	return func(text []byte) []int {
		var out []int
		for _, m := range pattern.Get().FindAllIndex(text, -1) {
			out = append(out, m[0])
		}
		return out
	}
}

// linewise finds every line in which a pattern matches.
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

// secrets finds the lines with something that has the shape of a secret. A private key goes over several: its first line of data is
// taken for it, because all keys have the same first line.
func secrets(text []byte) []int {
	if !secret(string(text)) { // nearly always
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
		out = []int{0} // it goes over several lines
	}
	return out
}

func secret(text string) bool {
	shown := redact.Policy{KeepPaths: true, ShapesOnly: true}.Text(text)
	return strings.Count(shown, "[redacted:") > strings.Count(text, "[redacted:")
}
