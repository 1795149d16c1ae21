package zoo

import (
	"strings"

	"github.com/candor-mcp/candor/internal/probe"
)

// The cases that show a defect.
var (
	missingCases = []string{probe.CaseNonexistent}
	inputCases   = []string{probe.CaseMissingRequired, probe.CaseMissingOne, probe.CaseWrongType, probe.CaseBadEnum, probe.CaseOutOfRange, probe.CaseExtraProperty,
		probe.CaseArgsArray, probe.CaseArgsString, probe.CaseArgsNull, probe.CaseArgsAbsent, probe.CaseEmptyText, probe.CaseTooLong}
	failingCases = append([]string{probe.CaseNonexistent}, inputCases...)
)

// says returns a function that answers with a success with this text.
func says(text string) func(*call) answer {
	return func(c *call) answer { return one(c.success(text)) }
}

// masked are failures that look like successes.
func masked() []implementation {
	page := defect("html-page", "an error page as a result", "A missing record is a success whose text is the HTML page of a proxy.", "EC001")
	page.Also = []string{"EC010"}
	old := defect("legacy-result", "a failure where no client looks", "A missing record is a result with toolResult.isError, which was a draft.", "EC002")
	old.Also = []string{"EC010", "EC039"}
	both := defect("two-patterns", "two error formats in one tool",
		"Wrong arguments are reported with isError, missing records with ok:false inside a success.", "EC003")
	both.Also = []string{"EC002"}

	return []implementation{
		{Defect: defect("masked-text", "a failure as the text of a success", "A missing record is a success whose text begins with Error.", "EC001"),
			on: whenMissing, show: says("Error: NOT_FOUND: there is no record with this name")},
		{Defect: defect("masked-sentence", "a failure as a sentence in a success", "A missing record is a success whose text says that it failed.", "EC001"),
			on: whenMissing, show: says("NOT_FOUND: failed to read the record")},
		{Defect: defect("masked-input", "wrong arguments reported in a success", "Wrong arguments are answered with a success whose text begins with Error.", "EC001"),
			on: whenInput, show: func(c *call) answer {
				return one(c.success("Error: INVALID_ARGUMENTS: the arguments do not fit: " + c.wrongNames()))
			}},
		{Defect: defect("masked-flag", "ok:false in a success", "A missing record is a success whose JSON says ok:false.", "EC002"),
			on: whenMissing, show: says(`{"ok":false,"error":{"code":"NOT_FOUND","message":"there is no record with this name"}}`)},
		{Defect: defect("masked-nested", "ok:false inside ok:true", "A missing record is a success that says ok:true, with ok:false in its data.", "EC002"),
			on: whenMissing, show: says(`{"ok":true,"data":{"ok":false,"error":{"code":"ERR_NOT_FOUND","message":"there is no record with this name"}}}`)},
		{Defect: defect("masked-status", "an HTTP status in a success", "A missing record is a success whose JSON has status_code 503.", "EC002"),
			on: whenMissing, show: says(`{"status_code":503,"message":"Service Unavailable"}`)},
		{Defect: defect("masked-word", "a status word in a success", "A missing record is a success whose JSON says that its status is error.", "EC002"),
			on: whenMissing, show: says(`{"status":"error","code":"NOT_FOUND","message":"there is no record with this name"}`)},
		{Defect: defect("masked-type", "a result of the type error in a success", "A missing record is a success whose JSON has a result of the type error.", "EC002"),
			on: whenMissing, show: says(`{"result":{"type":"error","code":"NOT_FOUND","message":"there is no record with this name"}}`)},
		{Defect: defect("masked-list", "a list of errors in a success", "A missing record is a success whose JSON has errors and no data.", "EC002"),
			on: whenMissing, show: says(`{"data":null,"errors":[{"code":"NOT_FOUND","message":"there is no record with this name"}]}`)},
		{Defect: defect("masked-items", "every item failed in a success", "A missing record is a success whose JSON lists nothing but failed items.", "EC002"),
			on: whenMissing, show: says(`[{"success":false,"error":{"code":"NOT_FOUND","message":"there is no record with this name"}}]`)},
		{Defect: both, on: whenFailing, show: func(c *call) answer {
			if c.state == whenInput {
				return one(c.failure(dualError("INVALID_PARAMS", c.wrongNames(), c.dualDetails())))
			}
			return one(c.success(dualError("ERR_NOT_FOUND", "there is no record with this name", "")))
		}},
		{Defect: defect("silent-success", "the tool ignores wrong arguments", "Wrong arguments are accepted, and a record is returned.", "EC023"),
			on: whenInput, show: says(`{"name":"alpha","lines":3}`)},
		{Defect: defect("swallowed", "an empty success", "Wrong arguments are answered with a success without any content.", "EC023"),
			on: whenInput, show: func(c *call) answer { return one(c.result(`{"content":[]}`)) }},
		{Defect: page,
			on: whenMissing, show: says("<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1><hr>nginx</body></html>")},
		{Defect: old,
			on: whenMissing, show: func(c *call) answer {
				return one(c.result(`{"toolResult":{"content":[` + block("NOT_FOUND: there is no record with this name") + `],"isError":true},"content":[]}`))
			}},
		{Defect: defect("flag-as-text", "isError that is not a boolean", `A missing record is reported correctly, except that isError is the text "true".`, "EC039"),
			on: whenMissing, show: func(c *call) answer { return one(edited(c.candorFailure(c.err), `"true"`, "result", "isError")) }},
	}
}

// wrongNames returns the names of the wrong arguments.
func (c *call) wrongNames() string {
	var said []string
	for _, issue := range c.err.Details().Issues() {
		said = append(said, strings.TrimPrefix(issue.Path+" ", "/")+issue.Message)
	}
	return strings.Join(said, "; ")
}

// dualDetails returns the wrong arguments as details of [dualError].
func (c *call) dualDetails() string {
	var said []string
	for _, issue := range c.err.Details().Issues() {
		said = append(said, `{"path":`+quote(strings.TrimPrefix(issue.Path, "/"))+`,"message":`+quote(issue.Message)+`}`)
	}
	return `{"issues":[` + strings.Join(said, ",") + `]}`
}

// dualError returns an error as the dual-envelope documents write it.
func dualError(code, message, details string) string {
	out := `{"ok":false,"error":{"code":` + quote(code) + `,"message":` + quote(message)
	if details != "" {
		out += `,"details":` + details
	}
	return out + `}}`
}
