package contract

import (
	"strconv"
	"strings"

	"github.com/candor-mcp/candor"
)

// lastResort returns the code for a failure without usable evidence.
func lastResort(v Verdict) candor.Code {
	switch v {
	case VerdictProtocol:
		return candor.CodeInternalError
	case VerdictMasked:
		return candor.CodeMaskedFailure
	case VerdictMalformed:
		return candor.CodeMalformedMessage
	case VerdictStray:
		return candor.CodeStrayAnswer
	case VerdictLost:
		return candor.CodeUpstreamGone
	case VerdictClean, VerdictTool:
		return candor.CodeUnknownToolFailure
	default:
		return candor.CodeUnknownToolFailure
	}
}

// readCode finds a registered code among the symbols. The innermost symbol wins, because callers add the outer ones. A vague
// symbol, such as INTERNAL_ERROR, counts only without a status or an errno.
func readCode(h *answerText) Evidence {
	for i := len(h.Symbols) - 1; i >= 0; i-- {
		c, ok := candor.LookupSymbol(h.Symbols[i])
		if ok && !vague(c) {
			return found(c, strengthSaid, "the server's own code "+h.Symbols[i])
		}
	}
	// Other systems use numbers from 1000 on, too: in a text, or beside an HTTP status, the number is not ours.
	if h.Numbered && h.Number >= 1000 && h.verdict == VerdictProtocol && h.Status == 0 {
		if c := candor.Code(h.Number); c.Valid() {
			return found(c, strengthSaid, "the server's own number "+strconv.FormatInt(h.Number, 10))
		}
	}
	if len(h.Symbols) > 0 && h.Status == 0 && h.Errno == "" {
		last := h.Symbols[len(h.Symbols)-1]
		if c, ok := candor.LookupSymbol(last); ok {
			return found(c, strengthSaid, "the server's own code "+last)
		}
	}
	return Evidence{}
}

// vague reports whether a code names a failure without its kind.
func vague(c candor.Code) bool {
	switch c.Symbol() {
	case "INTERNAL_ERROR", "UNKNOWN_TOOL_FAILURE", "HANDLER_ERROR", "UNCODED_ERROR", "MASKED_FAILURE":
		return true
	default:
		return false
	}
}

// readMissing distinguishes an unknown tool, resource, prompt and method; servers use the same numbers for all of them.
func readMissing(h *answerText) Evidence {
	switch {
	case h.UnknownTool || h.method == "tools/call" && inText(h.text, &tables().UnknownTool):
		return h.missingTool()
	case h.Numbered && h.method != "tools/call" && inText(h.text, &tables().TooEarly):
		return strongly(candor.CodeNotInitialized, "a protocol error that says it is too early")
	case h.Numbered && strings.HasSuffix(h.method, "/list") && (h.Number == -32602 || inText(h.text, &tables().BadCursor)):
		return strongly(candor.CodeInvalidCursor, "a protocol error for a list")
	case h.Numbered && h.method != "" && h.method != "tools/call" && !h.OfRequest && inText(h.text, &tables().UnknownMethod):
		return strongly(candor.CodeMethodNotFound, "a protocol error that names the method")
	case h.missesNamed("resources/read"):
		return strongly(candor.CodeResourceNotFound, "a protocol error for resources/read")
	case h.missesNamed("prompts/get"):
		return strongly(candor.CodePromptNotFound, "a protocol error for prompts/get")
	case h.Numbered && h.Number == -32002:
		return strongly(candor.CodeResourceNotFound, "the number -32002")
	default:
		return Evidence{}
	}
}

// missesNamed reports whether the failure is a protocol error for the given method that says that the named thing does not exist.
func (h *answerText) missesNamed(method string) bool {
	return h.method == method && h.Numbered && h.Number != -32601 && !h.OfRequest && inText(h.text, &tables().NotThere)
}

// missingTool returns the evidence for words that say that a tool does not exist. If the called tool is known to exist, the words
// mean another tool unless they name the called one.
func (h *answerText) missingTool() Evidence {
	const why = "the words say that the tool is unknown"
	if h.schema.known() && h.Tool != h.call.tool && !strings.Contains(h.Text, h.call.tool) {
		return weakly(candor.CodeToolNotFound, why+", but the server lists the tool that was called")
	}
	return strongly(candor.CodeToolNotFound, why)
}

// numbers maps the protocol's error numbers that have one meaning only.
var numbers = map[int64]candor.Code{
	-32700: candor.CodeParseError,
	-32601: candor.CodeMethodNotFound,
	-32020: candor.CodeHeaderMismatch,
	-32021: candor.CodeCapabilityRequired,
	-32022: candor.CodeProtocolVersionUnsupported,
	-32042: candor.CodePreconditionFailed, // retired: the user had to visit a URL first
}

func readNumber(h *answerText) Evidence {
	if c, ok := numbers[h.Number]; ok && h.Numbered {
		return strongly(c, "the number "+strconv.FormatInt(h.Number, 10))
	}
	return Evidence{}
}

// readVagueNumber reads the numbers that servers use for any failure. It runs last.
func readVagueNumber(h *answerText) Evidence {
	c := h.vagueNumber()
	why := "the number " + strconv.FormatInt(h.Number, 10)
	switch {
	case !h.Numbered || !c.Valid():
		return Evidence{}
	case h.Number == -32600 && h.method == "tools/call" && !h.OfRequest:
		return weakly(c, why+", but the request has the form of one")
	default:
		return fairly(c, why)
	}
}

func (h *answerText) vagueNumber() candor.Code {
	switch {
	case h.Number == -32602 && h.method == "tools/call" && !h.OfRequest:
		return candor.CodeInvalidArguments
	case h.Number == -32602:
		return candor.CodeInvalidRequestParams
	case h.Number == -32600:
		return candor.CodeInvalidRequest
	case h.Number == -32001:
		return candor.CodeTimeout
	case h.Number == -32603 || h.Number == -32000:
		return candor.CodeInternalError
	case h.Number >= 400 && h.Number <= 599:
		return statusCode(int(h.Number))
	default:
		return 0
	}
}

// readOutput finds a validator's complaint about the tool's own result.
func readOutput(h *answerText) Evidence {
	if h.OfOutput {
		return strongly(candor.CodeOutputInvalid, "a validator complains about the tool's own result")
	}
	return Evidence{}
}

// readSymbol reads error symbols of other systems by their parts: rate_limit_exceeded, AuthenticationError, invalid_request_error.
func readSymbol(h *answerText) Evidence {
	f := h.symbolEvidence()
	unset := f.Code == candor.CodeInvalidArguments && strings.IndexByte(h.text, echoWord) < 0 && inText(h.text, &tables().Unset)
	if f.Code == candor.CodeInternalError || unset {
		return Evidence{} // less specific than the text; see readVagueSymbol
	}
	return f
}

// readVagueSymbol reads a symbol that only says that something failed.
func readVagueSymbol(h *answerText) Evidence { return h.symbolEvidence() }

func (h *answerText) symbolEvidence() Evidence {
	for i := len(h.Symbols) - 1; i >= 0; i-- {
		words := strings.Join(splitName(h.Symbols[i]), " ")
		if c := inSymbols(words); c.Valid() {
			return fairly(h.refused(c), "the code word "+h.Symbols[i])
		}
	}
	return h.snakeEvidence()
}

// snakeEvidence reads a lower-case symbol at the end of a sentence, as in "An API error occurred: channel_not_found". Names of
// arguments are not symbols.
func (h *answerText) snakeEvidence() Evidence {
	text := strings.TrimRight(h.text, " .\n")
	word := text[strings.LastIndexAny(text, " \n\"'(")+1:]
	if len(h.Issues) > 0 || !strings.Contains(word, "_") || strings.ToLower(word) != word || h.schema.has(word) || !strings.HasSuffix(strings.TrimSpace(text[:len(text)-len(word)]), ":") {
		return Evidence{}
	}
	if c := inSymbols(strings.Join(splitName(word), " ")); c.Valid() {
		return fairly(h.refused(c), "the code word "+word)
	}
	return Evidence{}
}

// refused maps a failed sign-in to the party that must sign in. Outside of tool calls that is always the caller.
func (h *answerText) refused(c candor.Code) candor.Code {
	if c == candor.CodeUpstreamUnauthenticated && !h.isTool() {
		return candor.CodeUnauthenticated
	}
	return c
}

// readStatus reads the HTTP status of the response that the tool got. Some services use one status for several failures; for
// those, the text may decide.
func readStatus(h *answerText) Evidence {
	if h.Status < 400 || h.Status > 599 {
		return Evidence{}
	}
	why := "HTTP status " + strconv.Itoa(h.Status)
	if ambiguous[h.Status] {
		if c, words := h.limitWords(); c.Valid() {
			return strongly(c, why+" and the words “"+words+"”")
		}
	}
	return strongly(statusCode(h.Status), why)
}

// ambiguous are the statuses that services also use for calls over a limit or with a bad key.
var ambiguous = map[int]bool{400: true, 403: true, 429: true}

// limitWords returns the code for text about a limit or a refused key, which is more specific than an ambiguous status.
func (h *answerText) limitWords() (code candor.Code, words string) {
	m, words := h.meaningOf(h.text)
	switch {
	case m == nil:
		return 0, ""
	case m.Code == candor.CodeRateLimited:
		return candor.CodeUpstreamRateLimited, words
	case m.Code == candor.CodeQuotaExceeded, m.Code == candor.CodeUpstreamUnauthenticated && h.Status == 400:
		return m.Code, words
	default:
		return 0, ""
	}
}

// statusCode returns the code of an HTTP status. A status without a code of its own is mapped by its first digit.
func statusCode(status int) candor.Code {
	if c, ok := tables().Status[status]; ok {
		return c
	}
	if status >= 500 {
		return candor.CodeUpstreamError
	}
	return candor.CodeUpstreamRejected
}

// readErrno reads a system error together with the operation that failed.
func readErrno(h *answerText) Evidence {
	if h.Errno == "" {
		return Evidence{}
	}
	why := "the system error " + h.Errno
	switch {
	case h.Errno == "EINVAL":
		return weakly(candor.CodeInvalidArguments, why+", which any system call may return")
	case h.Errno == "ENOENT" && inText(h.text, &tables().Starting):
		return strongly(candor.CodeDependencyMissing, why+" of starting a program")
	case (h.Errno == "ENOENT" || h.Errno == "EACCES") && inText(h.text, &tables().Dialling):
		return strongly(candor.CodeUpstreamUnreachable, why+" of connecting")
	}
	if c, ok := tables().Errno[h.Errno]; ok {
		if isOfFile(c) && h.ofOwnFile() {
			return weakly(c, why+" of a file that the caller did not name")
		}
		return strongly(c, why)
	}
	for _, head := range []string{"ECONN", "EHOST", "ENET", "EAI", "ENOTFOUND", "EPIPE", "EPROTO", "ESOCKET", "CERT", "ENOTCONN"} {
		if strings.HasPrefix(h.Errno, head) {
			return strongly(candor.CodeUpstreamUnreachable, why)
		}
	}
	return Evidence{}
}

// readFields blames the caller for failing fields, in the arguments of a tool or in the request around them.
func readFields(h *answerText) Evidence {
	if len(h.Issues) == 0 {
		return Evidence{}
	}
	why := "the failing field " + h.Issues[0].Path
	if h.OfRequest || !h.isTool() {
		return strongly(candor.CodeInvalidRequestParams, why)
	}
	return strongly(candor.CodeInvalidArguments, why)
}

// readElsewhere finds a rejection of a field that is no argument, for arguments that fit the schema: a service behind the tool rejected the
// request that the tool made.
func readElsewhere(h *answerText) Evidence {
	if !h.others || h.verdict == VerdictMasked || h.OfRequest || !h.isTool() || h.schema.fit() != fitYes {
		return Evidence{}
	}
	switch readWords(h).Code {
	case 0, candor.CodePermissionDenied, candor.CodeUnsupported, candor.CodeNotFound: // as a field is not allowed, not supported or unknown
	default:
		return Evidence{}
	}
	return fairly(candor.CodeUpstreamRejected, "the words find fault with a field that is not an argument")
}

// readConnection reads the words of common libraries for a lost connection.
func readConnection(h *answerText) Evidence {
	if h.Disconnected {
		return fairly(candor.CodeUpstreamUnreachable, "words for a lost connection")
	}
	return Evidence{}
}

// readException reads the name of an exception. It looks up known names first and then the parts of the name, as in SocketError.
func readException(h *answerText) Evidence {
	if h.Exception == "" {
		return Evidence{}
	}
	why := "the exception " + h.Exception
	if c, ok := tables().Exception[h.Exception]; ok {
		switch {
		case c == candor.CodeInvalidArguments && h.schema.fit() == fitYes:
			return weakly(c, why+", but the arguments fit the tool's schema")
		case isOfFile(c) && h.ofOwnFile():
			return weakly(c, why+" of a file that the caller did not name")
		}
		return fairly(c, why)
	}
	if c := inSymbols(strings.Join(splitName(h.Exception), " ")); c.Valid() && c != candor.CodeInvalidArguments && c != candor.CodeInternalError {
		return fairly(h.refused(c), why)
	}
	return Evidence{}
}
