package contract

import (
	"bytes"

	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/wire"
)

// refuses reports whether the text is the tool's refusal of the call, for any tool: it begins with an error label,
// followed by a validator's list or by words about the call, the connection to a service, or the service's response.
func (v *textView) refuses(hidden []byte) bool {
	if !tables().Labels.begins(&v.first) {
		return false
	}
	if list := bytes.IndexAny(hidden[:min(len(hidden), labelBytes)], "[{"); list >= 0 && isIssueList(hidden[list:]) {
		return true
	}
	return v.short() && !v.repeatsLabel() && (labelledCode.Get().Match(v.text) || tables().CallWords.within(&v.first, predicateWords))
}

// labelledCode is a label with an error code in brackets, as in "Error [RECORD_NOT_FOUND]:".
var labelledCode = lazyregexp.New(`^(?i:error|exception) ?[\[(][A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+[\])]:`)

// labelBytes is the number of bytes in which an issue list must begin after an error label.
const labelBytes = 64

// isIssueList reports whether text looks like a validator's list: items with a path and a code or a message.
func isIssueList(text []byte) bool {
	return bytes.Contains(text, []byte(`"path"`)) && (bytes.Contains(text, []byte(`"code"`)) || bytes.Contains(text, []byte(`"message"`)))
}

// repeatsLabel reports whether the second line begins with the same word or with another severity. A list of errors is a report.
func (v *textView) repeatsLabel() bool {
	_, rest, _ := bytes.Cut(v.text, []byte("\n"))
	var second line
	second.read(rest, false)
	return second.n > 0 && v.first.n > 0 && (bytes.Equal(second.word(0), v.first.word(0)) || tables().Severities.begins(&second))
}

// reportsStatus reports whether the text is an HTTP response with a status of 400 or more and a labelled second line: "Status
// code: 401", "Body: …". It is false if the call has a URL argument, because the status may be the requested data.
func (v *textView) reportsStatus() bool {
	l := &v.first
	if l.n > statusLine || v.lines < 2 || !tables().BadStatusLine.begins(l) || v.call.given(tables().PageKeys) || v.call.source().borrowed() {
		return false
	}
	_, rest, _ := bytes.Cut(v.text, []byte("\n"))
	var second line
	second.read(rest, false)
	return tables().AnswerLabels.begins(&second)
}

// statusLine is the maximum number of words in a line that only states a status.
const statusLine = 7

// pageTitle finds the title of an HTML page.
var pageTitle = lazyregexp.New(`(?is)^\s*<(?:!doctype html|html).*?<title[^>]*>([^<]*)<`)

// pageHead is the number of bytes in which the title of a page is searched.
const pageHead = 2048

// isErrorPage reports whether the text is an HTML page with an HTTP error in its title, from a tool that was not asked for a
// page. It allocates nothing for answers that are not pages.
func isErrorPage(text wire.Value, request *wire.Message) bool {
	inside := text.Raw()[1 : len(text.Raw())-1]
	if c := firstByte(inside); c != '<' && c != '\\' || len(inside) > maxPayload { // some encoders write < as an escape
		return false
	}
	plain, _ := text.StrBytes()
	title := pageTitle.Get().FindSubmatch(plain[:min(len(plain), pageHead)])
	if title == nil {
		return false
	}
	var l line
	l.read(title[1], false)
	if !tables().ErrorTitles.within(&l, lineWords) && !(l.n == 1 && tables().BadStatusLine.begins(&l)) {
		return false
	}
	call := callFactsOf(request)
	from := call.source()
	return !from.borrowed() && from != sourcePage && !call.given(tables().PageKeys)
}
