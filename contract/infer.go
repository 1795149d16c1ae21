package contract

import (
	"slices"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
)

// inference is the code of a failure, and whether the peer named it.
type inference struct {
	code candor.Code
	said bool // the peer named this code; otherwise it was inferred
}

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
func readCode(h *heard) finding {
	for i := len(h.Symbols) - 1; i >= 0; i-- {
		c, ok := candor.LookupSymbol(h.Symbols[i])
		if ok && !vague(c) {
			return finding{c, strengthSaid, "the server's own code " + h.Symbols[i]}
		}
	}
	// Other systems use numbers from 1000 on, too: in a text, or beside an HTTP status, the number is not ours.
	if h.Numbered && h.Number >= 1000 && h.verdict == VerdictProtocol && h.Status == 0 {
		if c, ok := candor.LookupNumber(int(h.Number)); ok {
			return finding{c, strengthSaid, "the server's own number " + strconv.FormatInt(h.Number, 10)}
		}
	}
	if len(h.Symbols) > 0 && h.Status == 0 && h.Errno == "" {
		last := h.Symbols[len(h.Symbols)-1]
		if c, ok := candor.LookupSymbol(last); ok {
			return finding{c, strengthSaid, "the server's own code " + last}
		}
	}
	return finding{}
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
func readMissing(h *heard) finding {
	switch {
	case h.UnknownTool || h.method == "tools/call" && inText(h.text, unknownTool):
		return h.missingTool()
	case h.Numbered && h.method != "tools/call" && inText(h.text, tooEarly):
		return strongly(candor.CodeNotInitialized, "a protocol error that says it is too early")
	case h.Numbered && strings.HasSuffix(h.method, "/list") && (h.Number == -32602 || inText(h.text, badCursor)):
		return strongly(candor.CodeInvalidCursor, "a protocol error for a list")
	case h.Numbered && h.method != "" && h.method != "tools/call" && !h.OfRequest && inText(h.text, unknownMethod):
		return strongly(candor.CodeMethodNotFound, "a protocol error that names the method")
	case h.missesNamed("resources/read"):
		return strongly(candor.CodeResourceNotFound, "a protocol error for resources/read")
	case h.missesNamed("prompts/get"):
		return strongly(candor.CodePromptNotFound, "a protocol error for prompts/get")
	case h.Numbered && h.Number == -32002:
		return strongly(candor.CodeResourceNotFound, "the number -32002")
	default:
		return finding{}
	}
}

// missesNamed reports whether the failure is a protocol error for the given method that says that the named thing does not exist.
func (h *heard) missesNamed(method string) bool {
	return h.method == method && h.Numbered && h.Number != -32601 && !h.OfRequest && inText(h.text, notThere)
}

// missingTool returns the finding for words that say that a tool does not exist. If the called tool is known to exist, the words
// mean another tool unless they name the called one.
func (h *heard) missingTool() finding {
	const why = "the words say that the tool is unknown"
	if h.schema.known() && h.Tool != h.ask.tool && !strings.Contains(h.Text, h.ask.tool) {
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

func readNumber(h *heard) finding {
	if c, ok := numbers[h.Number]; ok && h.Numbered {
		return strongly(c, "the number "+strconv.FormatInt(h.Number, 10))
	}
	return finding{}
}

// readVagueNumber reads the numbers that servers use for any failure. It runs last.
func readVagueNumber(h *heard) finding {
	c := h.vagueNumber()
	why := "the number " + strconv.FormatInt(h.Number, 10)
	switch {
	case !h.Numbered || !c.Valid():
		return finding{}
	case h.Number == -32600 && h.method == "tools/call" && !h.OfRequest:
		return weakly(c, why+", but the request has the form of one")
	default:
		return fairly(c, why)
	}
}

func (h *heard) vagueNumber() candor.Code {
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
		return candor.Code{}
	}
}

// readOutput finds a validator's complaint about the tool's own result.
func readOutput(h *heard) finding {
	if h.OfOutput {
		return strongly(candor.CodeOutputInvalid, "a validator complains about the tool's own result")
	}
	return finding{}
}

// readSymbol reads error symbols of other systems by their parts: rate_limit_exceeded, AuthenticationError, invalid_request_error.
func readSymbol(h *heard) finding {
	f := h.symbolFinding()
	if f.code == candor.CodeInternalError {
		return finding{} // less specific than the text; see readVagueSymbol
	}
	return f
}

// readVagueSymbol reads a symbol that only says that something failed.
func readVagueSymbol(h *heard) finding { return h.symbolFinding() }

func (h *heard) symbolFinding() finding {
	for i := len(h.Symbols) - 1; i >= 0; i-- {
		words := strings.Join(splitName(h.Symbols[i]), " ")
		if c := inWords(words, symbolLexicon); c.Valid() {
			return fairly(h.refused(c), "the code word "+h.Symbols[i])
		}
	}
	return h.snakeFinding()
}

// snakeFinding reads a lower-case symbol at the end of a sentence, as in "An API error occurred: channel_not_found". Names of
// arguments are not symbols.
func (h *heard) snakeFinding() finding {
	text := strings.TrimRight(h.text, " .\n")
	word := text[strings.LastIndexAny(text, " \n\"'(")+1:]
	if len(h.Issues) > 0 || !strings.Contains(word, "_") || strings.ToLower(word) != word || h.schema.has(word) || !strings.HasSuffix(strings.TrimSpace(text[:len(text)-len(word)]), ":") {
		return finding{}
	}
	if c := inWords(strings.Join(splitName(word), " "), symbolLexicon); c.Valid() {
		return fairly(h.refused(c), "the code word "+word)
	}
	return finding{}
}

// refused maps a failed sign-in to the party that must sign in. Outside of tool calls that is always the caller.
func (h *heard) refused(c candor.Code) candor.Code {
	if c == candor.CodeUpstreamUnauthenticated && !h.isTool() {
		return candor.CodeUnauthenticated
	}
	return c
}

// readStatus reads the HTTP status of the response that the tool got. Some services use one status for several failures; for
// those, the text may decide.
func readStatus(h *heard) finding {
	if h.Status < 400 || h.Status > 599 {
		return finding{}
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
func (h *heard) limitWords() (code candor.Code, words string) {
	m, words := h.meaningOf(h.text)
	switch {
	case m == nil:
		return candor.Code{}, ""
	case m.code == candor.CodeRateLimited:
		return candor.CodeUpstreamRateLimited, words
	case m.code == candor.CodeQuotaExceeded, m.code == candor.CodeUpstreamUnauthenticated && h.Status == 400:
		return m.code, words
	default:
		return candor.Code{}, ""
	}
}

// statuses maps HTTP statuses to codes. Other statuses are mapped by their first digit.
var statuses = map[int]candor.Code{
	401: candor.CodeUpstreamUnauthenticated, 402: candor.CodePaymentRequired, 403: candor.CodeUpstreamForbidden,
	404: candor.CodeUpstreamNotFound, 408: candor.CodeUpstreamTimeout, 409: candor.CodeUpstreamConflict, 410: candor.CodeUpstreamNotFound,
	412: candor.CodeUpstreamConflict, 413: candor.CodeTooLarge, 415: candor.CodeUnsupported, 423: candor.CodeUpstreamConflict,
	425: candor.CodeUpstreamUnavailable, 429: candor.CodeUpstreamRateLimited, 431: candor.CodeTooLarge, 451: candor.CodeUpstreamForbidden,
	501: candor.CodeUnsupported, 502: candor.CodeUpstreamUnavailable, 503: candor.CodeUpstreamUnavailable,
	504: candor.CodeUpstreamTimeout, 507: candor.CodeDiskFull, 529: candor.CodeUpstreamUnavailable,
}

func statusCode(status int) candor.Code {
	if c, ok := statuses[status]; ok {
		return c
	}
	if status >= 500 {
		return candor.CodeUpstreamError
	}
	return candor.CodeUpstreamRejected
}

var errnos = map[string]candor.Code{
	"ENOENT": kaiza.FileNotFound, "ENOTDIR": kaiza.InvalidPath, "EISDIR": kaiza.InvalidPath,
	"ENAMETOOLONG": kaiza.InvalidPath, "ELOOP": kaiza.InvalidPath, "EEXIST": kaiza.FileAlreadyExists,
	"EACCES": candor.CodePermissionDenied, "EPERM": candor.CodePermissionDenied, "EROFS": candor.CodePermissionDenied,
	"ENOSPC": candor.CodeDiskFull, "EDQUOT": candor.CodeDiskFull, "EMFILE": candor.CodeUnavailable, "ENFILE": candor.CodeUnavailable,
	"EBUSY": candor.CodeUnavailable, "EAGAIN": candor.CodeUnavailable, "ENOMEM": candor.CodeUnavailable, "EIO": candor.CodeDataCorrupt,
	"ETIMEDOUT": candor.CodeUpstreamTimeout, "ESOCKETTIMEDOUT": candor.CodeUpstreamTimeout, "ECONNABORTED": candor.CodeUpstreamTimeout,
	"EADDRINUSE": candor.CodeConflict, "ENOTEMPTY": candor.CodeConflict,
}

// readErrno reads a system error together with the operation that failed.
func readErrno(h *heard) finding {
	if shellMisses(h.Text) {
		return strongly(candor.CodeDependencyMissing, "a shell did not find a program")
	}
	if h.Errno == "" {
		return finding{}
	}
	why := "the system error " + h.Errno
	switch {
	case h.Errno == "EINVAL":
		return weakly(candor.CodeInvalidArguments, why+", which any system call may return")
	case h.Errno == "ENOENT" || h.Errno == "EACCES" || h.Errno == "ENOTDIR":
		if c, verb := h.attempted(); c.Valid() {
			return strongly(c, why+" of "+verb)
		}
	}
	if c, ok := errnos[h.Errno]; ok {
		return strongly(c, why)
	}
	for _, head := range []string{"ECONN", "EHOST", "ENET", "EAI", "ENOTFOUND", "EPIPE", "EPROTO", "ESOCKET", "CERT", "ENOTCONN"} {
		if strings.HasPrefix(h.Errno, head) {
			return strongly(candor.CodeUpstreamUnreachable, why)
		}
	}
	return finding{}
}

// shellMisses reports whether a shell did not find a program, as in "/bin/sh: 1: jq: not found".
func shellMisses(text string) bool {
	_, after, found := strings.Cut(text, "/sh: ")
	line, _, _ := strings.Cut(after, "\n")
	return found && strings.HasSuffix(strings.TrimSpace(line), ": not found")
}

// attempted returns the code for a path error by the operation beside it: starting a program, or connecting to a socket. The zero
// Code means a file.
func (h *heard) attempted() (code candor.Code, verb string) {
	switch {
	case inText(h.text, starting) || h.missesProgram():
		if h.Errno == "EACCES" {
			return candor.CodePermissionDenied, "starting a program"
		}
		return candor.CodeDependencyMissing, "starting a program"
	case inText(h.text, dialling):
		return candor.CodeUpstreamUnreachable, "connecting"
	default:
		return candor.Code{}, ""
	}
}

// starting phrases describe starting a program.
var starting = newPhrasebook(`
	spawn|spawnsync|execve|execvp|posix_spawn|fork|createprocess|popen|subprocess
	exec: … file|executable
	shared object|libraries|library
	error|failed|unable|cannot to? executing|launching|launch|execute|exec|spawn
`)

// dialling phrases describe opening a connection.
var dialling = newPhrasebook(`
	connect|dial
	dialing|connecting
`)

// missesProgram recognises "[Errno 2] No such file or directory: 'ffmpeg'": a name without a directory or an extension that is not
// in the call.
func (h *heard) missesProgram() bool {
	_, name, ok := strings.Cut(h.Text, "o such file or directory: ")
	name = strings.Trim(strings.TrimSpace(name), "'\"")
	return ok && h.Errno == "ENOENT" && h.ask.known && name != "" && !strings.ContainsAny(name, `/\. `+"\n") && !slices.Contains(h.values, name)
}

// readFields blames the caller for failing fields, in the arguments of a tool or in the request around them.
func readFields(h *heard) finding {
	if len(h.Issues) == 0 {
		return finding{}
	}
	why := "the failing field " + h.Issues[0].Path
	if h.OfRequest || !h.isTool() {
		return strongly(candor.CodeInvalidRequestParams, why)
	}
	return strongly(candor.CodeInvalidArguments, why)
}

// readConnection reads the words of common libraries for a lost connection.
func readConnection(h *heard) finding {
	if h.Disconnected {
		return fairly(candor.CodeUpstreamUnreachable, "words for a lost connection")
	}
	return finding{}
}

// readException reads the name of an exception. It looks up known names first and then the parts of the name, as in SocketError.
func readException(h *heard) finding {
	if h.Exception == "" {
		return finding{}
	}
	why := "the exception " + h.Exception
	if c, ok := exceptions[h.Exception]; ok {
		if c == candor.CodeInvalidArguments && h.schema.fit() == fitYes {
			return weakly(c, why+", but the arguments fit the tool's schema")
		}
		return fairly(c, why)
	}
	if c := inWords(strings.Join(splitName(h.Exception), " "), symbolLexicon); c.Valid() && c != candor.CodeInvalidArguments && c != candor.CodeInternalError {
		return fairly(h.refused(c), why)
	}
	return finding{}
}

var exceptions = map[string]candor.Code{
	"FileNotFoundError": kaiza.FileNotFound, "FileExistsError": kaiza.FileAlreadyExists,
	"PermissionError": candor.CodePermissionDenied, "TimeoutError": candor.CodeTimeout, "AbortError": candor.CodeCancelled,
	"ConnectionError": candor.CodeUpstreamUnreachable, "ConnectError": candor.CodeUpstreamUnreachable,
	"ConnectionRefusedError": candor.CodeUpstreamUnreachable, "ConnectionResetError": candor.CodeUpstreamUnreachable,
	"ReadTimeout": candor.CodeUpstreamTimeout, "ConnectTimeout": candor.CodeUpstreamTimeout,
	"JSONDecodeError": candor.CodeUpstreamBadResponse, "ValidationError": candor.CodeInvalidArguments, "ZodError": candor.CodeInvalidArguments,
	"ModuleNotFoundError": candor.CodeDependencyMissing, "ImportError": candor.CodeDependencyMissing,
	"NotImplementedError": candor.CodeUnsupported, "MemoryError": candor.CodeUnavailable,
	"TypeError": candor.CodeInternalError, "ReferenceError": candor.CodeInternalError, "AttributeError": candor.CodeInternalError,
	"KeyError": candor.CodeInternalError, "IndexError": candor.CodeInternalError, "NullPointerException": candor.CodeInternalError,
	"AssertionError": candor.CodeInternalError, "RangeError": candor.CodeInternalError,
}
