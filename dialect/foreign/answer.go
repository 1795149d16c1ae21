package foreign

import "strings"

// reading are the beginnings of words for making sense of an answer, and unfit those for an answer of which that failed.
var (
	reading  = []string{"pars", "decod", "deserializ", "deserialis", "unmarshal", "validat", "interpret"}
	unfit    = set("unexpected", "invalid", "malformed", "unparseable", "unparsable", "unreadable", "corrupt", "non-json")
	answered = set("response", "responses", "reply", "api_response")
)

// isAnswerComplaint reports a sentence that finds fault with the answer of a service behind the tool: "Failed to parse API response: …",
// "Unexpected response format". What such a sentence goes on to list are fields of that answer. Only the words in front of the first colon
// count, because what follows may quote anything.
func isAnswerComplaint(s string) bool {
	head := clip(s, maxComplaint)
	if i := strings.IndexAny(head, ":\n{["); i >= 0 {
		head = head[:i]
	}
	read, answer, at := -1, -1, 0
	for word := range strings.FieldsFuncSeq(strings.ToLower(head), func(c rune) bool { return strings.ContainsRune(" ,.;()'\"`", c) }) {
		switch {
		case answered[word]:
			answer = at
		case unfit[word] || hasAnyPrefix(word, reading):
			read = at
		case word == "request" || word == "arguments" || word == "parameters":
			return false
		}
		at++
	}
	return read >= 0 && answer >= 0
}

// maxComplaint is how far into a text its first words reach.
const maxComplaint = 120

func hasAnyPrefix(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}
