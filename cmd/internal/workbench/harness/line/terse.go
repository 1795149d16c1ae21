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
	details, err := wire.ParseValue([]byte(e.Details().String()), wire.Limits{})
	if err != nil || details.Type() != wire.TypeObject {
		return e
	}
	beside := map[string]any{"value": truncate.Text(terse(e.Details(), details), maxTerse)}
	var names []string
	for member, value := range details.Members() {
		if name, _ := member.Str(); name != "message" {
			names, beside[name] = append(names, name), json.RawMessage(value.Raw())
		}
	}
	beside["beside"] = names
	return e.With(candor.WithDetails(beside))
}

// terse returns the text for structured details: the message of each issue, else the message, else all members.
func terse(d candor.Details, members wire.Value) string {
	var parts []string
	for _, issue := range d.Issues() {
		parts = append(parts, issue.Path+": "+issue.Message)
	}
	if message, ok := members.Path("message").Str(); ok && len(parts) == 0 {
		return message
	}
	for member, value := range members.Members() {
		if name, _ := member.Str(); len(d.Issues()) == 0 {
			parts = append(parts, name+": "+plain(value))
		}
	}
	return strings.Join(parts, "; ")
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
