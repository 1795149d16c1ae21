// Package argerror builds errors that explain to a caller how to correct a call: which argument, which name, which values are valid.
package argerror

import (
	"strconv"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/internal/schema"
	"github.com/candor-mcp/candor/internal/similar"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// Arguments returns the error for the arguments of a tool that do not match its schema, or nil. by is the party that checked.
func Arguments(s *schema.Schema, arguments []byte, by candor.Party) *candor.Error {
	return Report(s.Explain(arguments), by)
}

// Report returns the error for a report about the arguments of a tool, or nil if the report is OK. Arguments that were not checked
// are TOO_LARGE.
func Report(report schema.Report, by candor.Party) *candor.Error {
	if report.OK() {
		return nil
	}
	if report.Unchecked {
		return candor.New(candor.CodeTooLarge, "The arguments are too large or too complex to be checked.", candor.WithOrigin(by, false),
			candor.WithIssues(report.Issues...))
	}
	details := map[string]any{}
	if !report.Template.IsZero() {
		details["correctTemplate"] = report.Template
	}
	if report.More > 0 {
		details["moreIssues"] = report.More
	}
	return candor.New(candor.CodeInvalidArguments, "", candor.WithOrigin(by, false),
		candor.WithDetails(details), candor.WithIssues(report.Issues...))
}

// Flaw returns the error for bytes that are not a message. It never quotes them.
func Flaw(flaw wire.Malformation, by candor.Party) *candor.Error {
	return candor.New(flawCode(flaw.Flaw), "", candor.WithOrigin(by, false),
		candor.WithDetails(map[string]any{"flaw": flaw.Flaw.String(), "offset": flaw.Offset, "reason": flaw.Flaw.Reason()}))
}

func flawCode(f wireflaw.Flaw) candor.Code {
	switch f {
	case wireflaw.TooLarge:
		return candor.CodeMessageTooLarge
	case wireflaw.TooDeep:
		return candor.CodeMessageTooDeep
	case wireflaw.Batch:
		return candor.CodeBatchUnsupported
	case wireflaw.NotJSON, wireflaw.Truncated, wireflaw.TrailingData, wireflaw.BOM, wireflaw.ControlCharacter, wireflaw.BadUTF8:
		return candor.CodeParseError
	default:
		return candor.CodeInvalidRequest
	}
}

// AnswerID returns the id for the answer to a malformed message. It is nil if the message could not be parsed or is itself a
// response: its id refers to one of our requests.
func AnswerID(m *wire.Message, code candor.Code) wire.ID {
	answers := m.Method() == nil && (m.Result().Present() || m.Error().Present())
	if code == candor.CodeParseError || answers || m.ID().IsNull() {
		return nil
	}
	return m.ID()
}

const (
	maxToolName  = 80  // bytes of a name that a message quotes
	maxNamed     = 10  // tools that are listed if none has a similar name
	maxNamedText = 400 // bytes of their names
)

// UnknownTool returns the error for a call of a tool that does not exist. Its message names that tool, and its suggestion similar ones.
func UnknownTool(name string, known []string, by candor.Party) *candor.Error {
	return WithToolNames(candor.New(candor.CodeToolNotFound, noTool(name), candor.WithOrigin(by, false), candor.WithTool(name)), name, known)
}

// WithToolNames returns e, an error about an unknown tool, with the name in its message and with the names of similar tools.
func WithToolNames(e *candor.Error, name string, known []string) *candor.Error {
	if clean := redact.Text(name); !strings.Contains(e.Message(), clean[:min(len(clean), maxToolName)]) {
		e = e.With(candor.WithMessage(noTool(name)))
	}
	names := similar.Names(name, known)
	if hint := toolHint(names, known); hint != "" {
		e = e.With(candor.WithSuggestion(hint))
	}
	if len(names) > 0 {
		e = e.With(candor.WithDetails(e.Details().With("didYouMean", names)))
	}
	return e
}

// noTool quotes the name that a caller chose, redacted and shortened.
func noTool(name string) string {
	return "No tool is named " + strconv.Quote(candor.Public(redact.Text(name), maxToolName)) + "."
}

// toolHint names the similar tools, or all of them if they are few; otherwise it returns "".
func toolHint(names, known []string) string {
	switch {
	case len(names) > 0:
		return "Did you mean " + similar.Quote(names) + "?"
	case len(known) == 0 || len(known) > maxNamed:
		return ""
	case len(known) == 1:
		return "The only tool is " + similar.Quote(known) + "."
	}
	if all := similar.Quote(known); len(all) <= maxNamedText {
		return "The tools are " + all + "."
	}
	return ""
}
