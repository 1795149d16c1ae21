package teach

import (
	"strconv"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/near"
	"github.com/candor-mcp/candor/internal/redact"
)

const (
	maxToolName  = 80  // bytes of a name that a message quotes
	maxNamed     = 10  // tools that are listed if none has a similar name
	maxNamedText = 400 // bytes of their names
)

// UnknownTool returns the error for a call of a tool that does not exist. Its message names that tool and similar ones, because
// most clients show their model only the message of a JSON-RPC error.
func UnknownTool(name string, known []string, by candor.Party) *candor.Error {
	return WithToolNames(candor.New(candor.CodeToolNotFound, unknownToolMessage(name, known), candor.WithOrigin(by, false), candor.WithTool(name)), name, known)
}

// WithToolNames returns e, an error about an unknown tool, with the names of similar tools.
func WithToolNames(e *candor.Error, name string, known []string) *candor.Error {
	names := near.Names(name, known)
	if hint := toolHint(names, known); hint != "" {
		e = e.With(candor.WithSuggestion(hint + " tools/list names every tool."))
	}
	if len(names) > 0 {
		e = e.With(candor.WithDetails(e.Details().With("didYouMean", names)))
	}
	return e
}

// UnknownToolMessage completes a server's message about an unknown tool: with the name, if the message lacks it, and with the names
// of similar tools.
func UnknownToolMessage(said, name string, known []string) string {
	said = strings.TrimSpace(said)
	if clean := redact.Text(name); said == "" || !strings.Contains(said, clean[:min(len(clean), maxToolName)]) {
		return strings.TrimSpace(sentence(said) + " " + unknownToolMessage(name, known))
	}
	hint := toolHint(near.Names(name, known), known)
	if hint == "" || strings.Contains(said, hint) {
		return said
	}
	return sentence(said) + " " + hint
}

// sentence returns said with a final full stop, unless it is empty or already ends a sentence.
func sentence(said string) string {
	if said == "" || strings.HasSuffix(said, ".") || strings.HasSuffix(said, "!") || strings.HasSuffix(said, "?") {
		return said
	}
	return said + "."
}

func unknownToolMessage(name string, known []string) string {
	message := "No tool is named " + quoteName(name) + "."
	if hint := toolHint(near.Names(name, known), known); hint != "" {
		message += " " + hint
	}
	return message
}

// quoteName quotes a name that a caller chose, redacted and shortened.
func quoteName(name string) string {
	return strconv.Quote(candor.Public(redact.Text(name), maxToolName))
}

// toolHint names the similar tools, or all of them if they are few; otherwise it returns "".
func toolHint(names, known []string) string {
	switch {
	case len(names) > 0:
		return "Did you mean " + near.Quote(names) + "?"
	case len(known) == 0 || len(known) > maxNamed:
		return ""
	}
	if all := near.Quote(known); len(all) <= maxNamedText {
		return "The tools are " + all + "."
	}
	return ""
}
