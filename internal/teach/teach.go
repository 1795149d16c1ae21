// Package teach builds errors that explain to a caller how to correct a call: which argument, which name, which values are valid.
package teach

import (
	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/schema"
)

// Arguments returns the error for the arguments of a tool that do not match its schema, or nil. by is the party that checked.
func Arguments(s *schema.Schema, arguments []byte, by candor.Party) *candor.Error {
	return Report(s.Explain(arguments), by)
}

// Report returns the error for a report about the arguments of a tool, or nil if the report is OK.
func Report(report schema.Report, by candor.Party) *candor.Error {
	if report.OK() {
		return nil
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
