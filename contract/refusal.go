package contract

import (
	"bytes"

	"github.com/candor-mcp/candor/wire"
)

// refuses reports whether the text is the tool's refusal of the call, whatever the tool is about: it begins with an error label,
// followed by a validator's list or by words about the call, the connection to a service, or the service's response.
func (v *textView) refuses(hidden []byte) bool {
	if !labels.begins(&v.first) {
		return false
	}
	if list := bytes.IndexAny(hidden[:min(len(hidden), labelBytes)], "[{"); list >= 0 && isIssueList(hidden[list:]) {
		return true
	}
	return v.short() && !v.repeatsLabel() && callWords.within(&v.first, predicateWords)
}

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
	return second.n > 0 && v.first.n > 0 && (bytes.Equal(second.word(0), v.first.word(0)) || severities.begins(&second))
}

var severities = newPhrasebook(`
	error|warning|info|hint|notice:
`)

// labels are phrases that begin a text that is only an error message.
var labels = newPhrasebook(`
	error|exception:
	an? error|exception occurred|happened:
	*error|*exception:
	request|call|operation|execution|query|api|tool failed:
	mcp error
`)

// callWords are phrases about the call, the connection to a service, or the service's response.
var callWords = newPhrasebook(`
	invalid|missing|unknown arguments|argument|parameters|parameter|params
	arguments|parameters for
	for|in|of tool
	request|fetch failed
	status code? 400|401|402|403|404|405|408|409|410|413|415|422|429|500|501|502|503|504
	http error? 400|401|402|403|404|405|408|409|410|413|415|422|429|500|501|502|503|504
	api key|token
	network error
	timed out
	rate limit|limited
	too many requests
	unauthorized|forbidden
	econnrefused|enotfound|etimedout|econnreset|enoent|eacces|eai_again
	not configured
`)

// reportsStatus reports whether the text is an HTTP response with a status of 400 or more and a labelled second line: "Status
// code: 401", "Body: …". It is false if the call has a URL argument, because the status may be the requested data.
func (v *textView) reportsStatus() bool {
	l := &v.first
	if l.n > statusLine || v.lines < 2 || !badStatusLine.begins(l) || v.ask.given(pageKeys) || v.ask.source().borrowed() {
		return false
	}
	_, rest, _ := bytes.Cut(v.text, []byte("\n"))
	var second line
	second.read(rest, false)
	return answerLabels.begins(&second)
}

// statusLine is the maximum number of words in a line that only states a status.
const statusLine = 7

var badStatusLine = newPhrasebook(`
	http? status? code? 400|401|402|403|404|405|406|408|409|410|412|413|415|422|423|425|429|500|501|502|503|504|529
`)

var answerLabels = newPhrasebook(`
	body|response|message|error|data|headers|reason|details|detail:
`)

// isErrorPage reports whether the text is an HTML page whose title states an HTTP error, from a tool that was not asked for a
// page. It reads only the beginning and allocates nothing for answers that are not pages.
func isErrorPage(text wire.Value, request *wire.Message) bool {
	head := pageIn(text)
	if !hasFold(head, "<!doctype html") && !hasFold(head, "<html") {
		return false
	}
	i := indexFold(head, "<title")
	if i < 0 {
		return false
	}
	_, title, ok := bytes.Cut(head[i:], []byte(">"))
	end := bytes.IndexByte(title, '<')
	if !ok || end < 0 {
		return false
	}
	var l line
	l.read(title[:end], true)
	if !errorTitles.within(&l, lineWords) && !(l.n == 1 && badStatusLine.begins(&l)) {
		return false
	}
	a := askOf(request)
	switch a.source() {
	case sourcePage, sourceFile, sourceShell:
		return false
	case sourceOwn, sourceExec, sourceSearch, sourceJudge:
		return !a.given(pageKeys)
	default:
		return false
	}
}

// pageIn returns the beginning of a text that starts with a tag, or nil for any other. Some encoders write < as an escape.
func pageIn(text wire.Value) []byte {
	inside := text.Raw()[1 : len(text.Raw())-1]
	for len(inside) > 1 && (inside[0] == ' ' || inside[0] == '\\' && (inside[1] == 'n' || inside[1] == 'r' || inside[1] == 't')) {
		inside = inside[1:]
		if inside[0] == 'n' || inside[0] == 'r' || inside[0] == 't' {
			inside = inside[1:]
		}
	}
	switch {
	case len(inside) > maxPayload || len(inside) == 0:
		return nil
	case inside[0] == '<':
		return inside[:min(len(inside), pageHead)]
	case hasFold(inside, `\u003c`):
		plain, _ := text.StrBytes()
		plain = bytes.TrimSpace(plain)
		return plain[:min(len(plain), pageHead)]
	default:
		return nil
	}
}

// pageHead is the number of bytes in which the title of a page is searched.
const pageHead = 2048

// indexFold is like bytes.Index for a lower-case want, and ignores case in s except for the first byte.
func indexFold(s []byte, want string) int {
	for i := 0; i+len(want) <= len(s); i++ {
		if s[i] == want[0] && hasFold(s[i:], want) {
			return i
		}
	}
	return -1
}

var errorTitles = newPhrasebook(`
	400|401|402|403|404|405|408|409|410|413|415|422|429|500|501|502|503|504 bad|unauthorized|payment|forbidden|not|method|request|conflict|gone|payload|unsupported|unprocessable|too|internal|service|gateway|error|server
	error|http|status 400|401|402|403|404|405|408|409|410|413|415|422|429|500|501|502|503|504
	internal server error
	bad gateway
	service|temporarily unavailable
	gateway timeout
`)
