package foreign

import "strings"

// adviceLeads begin a line of advice.
var adviceLeads = []string{"suggestion:", "suggestions:", "hint:", "tip:", "possible solutions:", "possible solution:", "recommendation:", "how to fix:", "to fix this:", "fix:", "next steps:", "next step:",
	"resolution:", "recovery:", "troubleshooting:", "💡", "help:", "solution:", "try:", "建议：", "建议:", "提示：", "提示:"}

// splitAdvice records advice in separate lines after the sentence and returns the text before it. A text that is only advice is
// returned whole.
func (r *reader) splitAdvice(s string) string {
	for at := 0; at < len(s); {
		end := strings.IndexByte(s[at:], '\n')
		if end < 0 {
			end = len(s) - at
		}
		if lead, ok := adviceLead(s[at : at+end]); ok {
			advice := strings.TrimSpace(s[at+lead:])
			keep(&r.said.Suggestion, advice)
			r.validationNames(advice)
			if at == 0 {
				return s
			}
			return strings.TrimSpace(s[:at])
		}
		at += end + 1
	}
	return s
}

// adviceLead returns the length of the heading of a line of advice.
func adviceLead(line string) (int, bool) {
	trimmed := strings.TrimLeft(line, " *-#>")
	low := lowerASCII(trimmed)
	for _, lead := range adviceLeads {
		if strings.HasPrefix(low, lead) {
			return len(line) - len(trimmed) + len(lead), true
		}
	}
	return 0, false
}

// validationNames reads the names in "Provide a, b and c", which some servers write only in their advice.
func (r *reader) validationNames(advice string) {
	for line := range strings.SplitSeq(advice, "\n") {
		line = strings.TrimLeft(line, "-*• ")
		if rest, ok := strings.CutPrefix(line, "Provide "); ok {
			r.provide(rest)
		}
	}
}

func (r *reader) provide(rest string) {
	names, ok := r.match(itemsOf("a|an|the|valid|both|either? valid? IDENTS"), tokens(rest), 0)
	if !ok {
		return
	}
	for _, name := range names {
		r.named(name, "required", "Provide "+firstSentence(rest))
	}
}

// requestLeads precede the id of a request in the peer's log.
var requestLeads = []string{"request id", "request_id", "requestid", "request-id", "correlation id", "correlation_id", "correlationid", "trace id", "trace_id", "traceid", "incident id", "error id", "reference id", "x-request-id", "activity id"}

// requestOf finds the peer's reference: "(request id: req_123)".
func (r *reader) requestOf(s string) {
	low := lowerASCII(s)
	for _, lead := range requestLeads {
		rest, ok := after(s, low, lead)
		if !ok {
			continue
		}
		end := 0
		for end < len(rest) && (isLetter(rest[end]) || isDigit(rest[end]) || strings.IndexByte("-_:.", rest[end]) >= 0) {
			end++
		}
		id := strings.TrimRight(rest[:end], ".:-_")
		if len(id) >= 6 && len(id) <= 128 && strings.ContainsAny(id, "0123456789") {
			keep(&r.said.RequestID, id)
			return
		}
	}
}
