package contract

import (
	"bytes"
	"strings"

	"github.com/candor-mcp/candor"
)

// readAnswer finds the response of a service behind the tool that could not be read, which is a fault of the service or the
// network. Text that the caller sent to be parsed is the caller's fault.
func readAnswer(h *heard) finding {
	switch {
	case !h.isTool():
		return finding{}
	case h.OfAnswer:
		return strongly(candor.CodeUpstreamBadResponse, "the words find fault with the answer of a service behind the tool")
	case h.elsewhere:
		return fairly(candor.CodeUpstreamBadResponse, "a validator complains about a value of another type than the arguments have")
	case h.Page && !h.sentMarkup():
		return strongly(candor.CodeUpstreamBadResponse, "an HTML page in the place of an answer")
	case inText(h.text, unreadable):
		return fairly(candor.CodeUpstreamBadResponse, "the words say that an answer could not be read")
	case isMarkup(h.Text) && !h.sentMarkup():
		return fairly(candor.CodeUpstreamBadResponse, "markup in the place of JSON")
	case len(h.Issues) > 0 || inText(h.text, argumentWords) || !inText(h.text, brokenJSON):
		return finding{}
	case strings.Contains(h.Text, "cannot unmarshal") && h.schema.known() && h.schema.fit() != fitYes:
		return fairly(candor.CodeInvalidArguments, "a value that could not be decoded, and arguments that deviate from the schema")
	case h.quotesArgument() || h.schema.fit() == fitNo:
		return fairly(candor.CodeInvalidArguments, "JSON that could not be parsed, and an argument is quoted")
	default:
		return fairly(candor.CodeUpstreamBadResponse, "JSON that could not be parsed and that the caller did not send")
	}
}

// unreadable phrases describe a response that could not be read.
var unreadable = newPhrasebook(`
	invalid|malformed|unexpected|unparseable|unreadable json|html? response|reply|html
	non json
	failed|unable|could|cannot|error not? to? parse|parsing|decode|decoding|read|reading … response|html|reply
	response|reply … not valid? json
	response|reply is|was|body? empty|malformed|invalid|unexpected|undefined
	empty response|reply
	expected json but|got|received
	html|xml|text instead of json
	no * returned|received from|by|in
	expected … response but|got|received
	response|reply validation|schema failed|error|mismatch
`)

// isMarkup reports whether text is the message of a parser that stopped at the first character of markup.
func isMarkup(text string) bool {
	return strings.Contains(text, "token '<'") || strings.Contains(text, "token <") || strings.Contains(text, "character '<'")
}

// brokenJSON phrases describe JSON that could not be parsed, whether the server or the caller sent it.
var brokenJSON = newPhrasebook(`
	unexpected token
	is|not not? valid json
	invalid|malformed|unexpected json
	unexpected end of json
	unexpected non? whitespace character
	failed|unable|could|cannot|error not? to? parse|parsing|decode … json
	expecting value: line
	expected property name
	bad control character in
	invalid character … looking for
	json: cannot unmarshal
`)

// sentMarkup reports whether an argument contains markup.
func (h *heard) sentMarkup() bool {
	raw := bytes.ToLower(h.ask.args.Raw()[:min(len(h.ask.args.Raw()), maxPayload)])
	return bytes.Contains(raw, []byte("<html")) || bytes.Contains(raw, []byte("<!doctype")) || bytes.Contains(raw, []byte("<body"))
}

// snippet is the number of bytes that a runtime quotes at least of a text that it could not parse.
const snippet = 10

// quotesArgument reports whether the message quotes the beginning of an argument, as runtimes do for text that is not JSON.
func (h *heard) quotesArgument() bool {
	for _, value := range h.values {
		for _, quote := range []string{`"`, "'", "`", ": "} {
			if strings.Contains(h.Text, quote+value[:min(len(value), snippet)]) {
				return true
			}
		}
	}
	return false
}
