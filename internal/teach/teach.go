// Package teach builds the errors that tell a caller how to mend a call: which argument, which name, what would pass.
package teach

import (
	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/schema"
)

// Arguments returns what is wrong with the arguments of a tool, or nil. By says who looked.
func Arguments(s *schema.Schema, arguments []byte, by candor.Party) *candor.Error {
	return Report(s.Explain(arguments), by)
}

// Report returns the error for what was found wrong with the arguments of a tool, or nil if nothing was.
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
