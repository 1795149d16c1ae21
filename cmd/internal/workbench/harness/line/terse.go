package line

import (
	"encoding/json"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/truncate"
	"github.com/candor-mcp/candor/wire"
)

// maxTerse limits the text of details that were structured.
const maxTerse = 500

// Terse returns the error as the rpc dialect of the harness writes it: with details that are always a text, as the taxonomy requires. The
// members of structured details are beside it in data.
func Terse(e *candor.Error) *candor.Error {
	text := e.Details().String()
	if !strings.HasPrefix(text, "{") || strings.Contains(text, `"beside":[`) {
		return e
	}
	details, err := wire.ParseValue([]byte(text), wire.Limits{})
	if err != nil {
		return e
	}
	beside := map[string]any{"value": truncate.Text(terse(details), maxTerse)}
	var names []string
	for member, value := range details.Members() {
		if name, _ := member.Str(); name != "message" {
			names, beside[name] = append(names, name), json.RawMessage(value.Raw())
		}
	}
	if names == nil {
		return e.With(candor.WithDetails(beside["value"]))
	}
	beside["beside"] = names
	return e.With(candor.WithDetails(beside))
}

// terse returns the text for structured details: the message of each issue, else the message or reason, else all members.
func terse(details wire.Value) string {
	var parts []string
	for issue := range details.Path("issues").Elements() {
		parts = append(parts, plain(issue.Path("path"))+": "+plain(issue.Path("message")))
	}
	for _, name := range []string{"message", "reason"} {
		if text, ok := details.Path(name).Str(); ok && len(parts) == 0 {
			return text
		}
	}
	if len(parts) == 0 {
		for member, value := range details.Members() {
			parts = append(parts, plain(member)+": "+plain(value))
		}
	}
	return strings.Join(parts, "; ")
}

// terseIssues is terse for issues.
func terseIssues(issues []candor.Issue) string {
	var b strings.Builder
	for i := range issues {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(issues[i].Path + ": " + issues[i].Message)
	}
	return truncate.Text(b.String(), maxTerse)
}

// plain returns a value as text: a string without quotes, a list separated by commas.
func plain(v wire.Value) string {
	if text, ok := v.Str(); ok {
		return text
	}
	if v.Type() != wire.TypeArray {
		return string(v.Raw())
	}
	var all []string
	for one := range v.Elements() {
		all = append(all, plain(one))
	}
	return strings.Join(all, ", ")
}
