package contract

import (
	"bytes"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/foreign"
	"github.com/candor-mcp/candor/internal/lazyregexp"
)

// readAnswer finds the response of a service of the tool that could not be read, which is a fault of the service or the
// network. Text that the caller sent to be parsed is the caller's fault.
func readAnswer(h *answerText) Evidence {
	switch {
	case !h.isTool():
		return Evidence{}
	case h.OfAnswer:
		return strongly(candor.CodeUpstreamBadResponse, "the words find fault with the answer of a service behind the tool")
	case h.elsewhere:
		return fairly(candor.CodeUpstreamBadResponse, "a validator complains about a value of another type than the arguments have")
	case h.Page && !h.sentMarkup():
		return strongly(candor.CodeUpstreamBadResponse, "an HTML page in the place of an answer")
	case inText(h.text, &tables().Unreadable), ofResponse.MatchString(h.Text) && h.schema.fit() != fitNo:
		return fairly(candor.CodeUpstreamBadResponse, "the words say that an answer could not be read")
	case isMarkup(h.Text) && !h.sentMarkup():
		return fairly(candor.CodeUpstreamBadResponse, "markup in the place of JSON")
	case len(h.Issues) > 0 || inText(h.text, &tables().ArgumentWords) || !inText(h.text, &tables().BrokenJSON):
		return Evidence{}
	case strings.Contains(h.Text, "cannot unmarshal") && h.schema.known() && h.schema.fit() != fitYes:
		return fairly(candor.CodeInvalidArguments, "a value that could not be decoded, and arguments that deviate from the schema")
	case h.quotesArgument() || h.schema.fit() == fitNo:
		return fairly(candor.CodeInvalidArguments, "JSON that could not be parsed, and an argument is quoted")
	default:
		return fairly(candor.CodeUpstreamBadResponse, "JSON that could not be parsed and that the caller did not send")
	}
}

// isMarkup reports whether text is the message of a parser that stopped at the first character of markup.
func isMarkup(text string) bool {
	return strings.Contains(text, "token '<'") || strings.Contains(text, "token <") || strings.Contains(text, "character '<'")
}

// sentMarkup reports whether an argument contains markup.
func (h *answerText) sentMarkup() bool {
	raw := bytes.ToLower(h.call.args.Raw()[:min(len(h.call.args.Raw()), maxPayload)])
	return bytes.Contains(raw, []byte("<html")) || bytes.Contains(raw, []byte("<!doctype")) || bytes.Contains(raw, []byte("<body"))
}

// quotedPart matches a quotation in a message, such as the word at which a parser stopped.
var quotedPart = lazyregexp.New("[\"'`“]([^\"'`“”\n]{2,})[\"'`”]")

// quotesPart reports whether the message quotes a part of an argument.
func (h *answerText) quotesPart() bool {
	for _, quote := range quotedPart.Get().FindAllStringSubmatch(h.Text, 4) {
		for _, value := range h.values {
			if i := strings.Index(value, quote[1]); i >= 0 && foreign.StandsAlone(value, i, i+len(quote[1])) {
				return true
			}
		}
	}
	return false
}

// ofResponse matches the text of a runtime that failed on a part of a response.
var ofResponse = lazyregexp.New(`(?i)\b(?:response|resp|reply)\b[\w.?\[\]]* is (?:not |undefined|null)`)

// snippet is the number of bytes that a runtime quotes at least of a text that it could not parse.
const snippet = 10

// quotesArgument reports whether the message quotes the beginning of an argument, as runtimes do for text that is not JSON.
func (h *answerText) quotesArgument() bool {
	for _, value := range h.values {
		for _, quote := range []string{`"`, "'", "`", ": "} {
			if strings.Contains(h.Text, quote+value[:min(len(value), snippet)]) {
				return true
			}
		}
	}
	return false
}
