package schema

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/redact"
)

// secrecy says whether a value that a schema states may be a secret. Some servers put a key of theirs into a default,
// an example or an enum. The names on the path to the value decide.
type secrecy uint8

const (
	open     secrecy = iota
	possible         // a name may mean a secret: the value is one if it looks like one
	named            // a name means a secret
)

// below returns the secrecy of a value with that name, or with that name on its path.
func (s secrecy) below(name string) secrecy {
	switch {
	case redact.Key(name), redact.Short(name):
		return named
	case redact.MayHold(name), redact.Key(strings.TrimSuffix(name, "s")):
		return max(s, possible)
	default:
		return s
	}
}

// hides reports whether a value must not be shown.
func (s secrecy) hides(v any) bool {
	switch v := v.(type) {
	case string:
		return s == named && v != "" && !redact.Harmless(v) || s == possible && redact.Opaque(v)
	case json.Number:
		return s == named
	case []any:
		return slices.ContainsFunc(v, s.hides)
	case map[string]any:
		for name, member := range v {
			if s.below(name).hides(member) {
				return true
			}
		}
	}
	return false
}

// hidesIn reports whether a piece of a schema states a value that must not be shown.
func (s secrecy) hidesIn(piece any) bool {
	switch piece := piece.(type) {
	case []any:
		return slices.ContainsFunc(piece, s.hidesIn)
	case map[string]any:
		for keyword, v := range piece {
			switch keyword {
			case "const", "enum", "default", "example", "examples":
				if s.hides(v) {
					return true
				}
			case "pattern", "description":
				if text, ok := v.(string); ok && s > open && slices.ContainsFunc(strings.Fields(text), isOpaque) {
					return true
				}
			default:
				if s.below(keyword).hidesIn(v) {
					return true
				}
			}
		}
	}
	return false
}

// isOpaque reports whether a word of a text or a pattern looks like a secret.
func isOpaque(word string) bool { return redact.Opaque(strings.Trim(word, "^$.,:;()'\"`")) }

// hideSecrets removes the values from an issue that its path marks as secrets.
func (s secrecy) hideSecrets(issue *candor.Issue) {
	if !s.hidesIn(issue.Expected) {
		return
	}
	issue.Expected = nil
	switch issue.Rule {
	case "enum", "const", "pattern":
		issue.Message, issue.Hint = "must be a value that the schema lists", ""
	case "required", "type":
		issue.Hint = ""
	}
}
