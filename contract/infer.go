package contract

import (
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect/foreign"
)

// inference is the code that a peer's words amount to, and whether the peer named it itself.
type inference struct {
	code candor.Code
	said bool // the peer named this code; otherwise it was worked out
}

// infer turns what was said into a registered code. It is total. The order goes from what machines wrote for machines to what
// people wrote for people: a registered symbol, the number, the HTTP status, the errno, the failing fields, known phrases.
func infer(s *foreign.Said, v Verdict, method string) inference {
	if c, ok := namedCode(s); ok {
		return inference{code: c, said: true}
	}
	for _, step := range []func(*foreign.Said, string) candor.Code{
		missingThing, byNumber, bySymbol, byStatus, byErrno, byIssues, byPhrase, byException, byPlainNumber,
	} {
		if c := step(s, method); c.Valid() {
			return inference{code: c}
		}
	}
	return inference{code: lastResort(v)}
}

// lastResort is the code for a failure that says nothing.
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

// namedCode finds a registered code among the symbols, the innermost first: outer ones were added on the way. Symbols that say
// nothing, such as INTERNAL_ERROR in front of a status, only count if there is nothing better.
func namedCode(s *foreign.Said) (candor.Code, bool) {
	for i := len(s.Symbols) - 1; i >= 0; i-- {
		c, ok := candor.LookupSymbol(s.Symbols[i])
		if ok && !vague(c) {
			return c, true
		}
	}
	if s.Numbered && s.Number >= 1000 {
		return candor.LookupNumber(int(s.Number))
	}
	if len(s.Symbols) > 0 && s.Status == 0 && s.Errno == "" {
		return candor.LookupSymbol(s.Symbols[len(s.Symbols)-1])
	}
	return candor.Code{}, false
}

// vague codes name a failure without telling what it is.
func vague(c candor.Code) bool {
	switch c.Symbol() {
	case "INTERNAL_ERROR", "UNKNOWN_TOOL_FAILURE", "HANDLER_ERROR", "UNCODED_ERROR", "MASKED_FAILURE":
		return true
	default:
		return false
	}
}

// missingThing tells the unknown tool, resource, prompt and method apart; servers use the same numbers for all of them.
func missingThing(s *foreign.Said, method string) candor.Code {
	if s.UnknownTool {
		return candor.CodeToolNotFound
	}
	switch {
	case s.Numbered && method != "tools/call" && inText(s.Text, tooEarly):
		return candor.CodeNotInitialized
	case s.Numbered && strings.HasSuffix(method, "/list") && (s.Number == -32602 || inText(s.Text, badCursor)):
		return candor.CodeInvalidCursor
	case s.Numbered && method != "" && method != "tools/call" && !s.OfRequest && inText(s.Text, unknownMethod):
		return candor.CodeMethodNotFound
	case method == "tools/call" && inText(s.Text, unknownTool):
		return candor.CodeToolNotFound
	case method == "resources/read" && s.Numbered && s.Number != -32601 && !s.OfRequest && inText(s.Text, notThere):
		return candor.CodeResourceNotFound
	case method == "prompts/get" && s.Numbered && s.Number != -32601 && !s.OfRequest && inText(s.Text, notThere):
		return candor.CodePromptNotFound
	case s.Numbered && s.Number == -32002:
		return candor.CodeResourceNotFound
	default:
		return candor.Code{}
	}
}

// numbers maps the numbers of the protocol that mean one thing only.
var numbers = map[int64]candor.Code{
	-32700: candor.CodeParseError,
	-32601: candor.CodeMethodNotFound,
	-32020: candor.CodeHeaderMismatch,
	-32021: candor.CodeCapabilityRequired,
	-32022: candor.CodeProtocolVersionUnsupported,
	-32042: candor.CodePreconditionFailed, // retired: the user had to visit a URL first
}

func byNumber(s *foreign.Said, _ string) candor.Code {
	if !s.Numbered {
		return candor.Code{}
	}
	return numbers[s.Number]
}

// byPlainNumber reads the numbers that servers use for anything, once nothing else told more.
func byPlainNumber(s *foreign.Said, method string) candor.Code {
	switch {
	case !s.Numbered:
		return candor.Code{}
	case s.Number == -32602 && method == "tools/call" && !s.OfRequest:
		return candor.CodeInvalidArguments
	case s.Number == -32602:
		return candor.CodeInvalidRequestParams
	case s.Number == -32600:
		return candor.CodeInvalidRequest
	case s.Number == -32001:
		return candor.CodeTimeout
	case s.Number == -32603 || s.Number == -32000:
		return candor.CodeInternalError
	case s.Number >= 400 && s.Number <= 599:
		return statusCode(int(s.Number))
	default:
		return candor.Code{}
	}
}

// bySymbol reads code words of other systems by their parts: rate_limit_exceeded, AuthenticationError, invalid_request_error.
func bySymbol(s *foreign.Said, _ string) candor.Code {
	for i := len(s.Symbols) - 1; i >= 0; i-- {
		words := strings.Join(splitName(s.Symbols[i]), " ")
		if c := inWords(words, symbolLexicon); c.Valid() {
			return c
		}
	}
	return candor.Code{}
}

func byStatus(s *foreign.Said, _ string) candor.Code {
	if s.Status >= 400 && s.Status <= 599 {
		return statusCode(s.Status)
	}
	return candor.Code{}
}

// statuses maps HTTP statuses that have a code of their own; the rest go by their hundred.
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
	"ENOENT": candor.CodeKaizaFileNotFound, "ENOTDIR": candor.CodeKaizaInvalidPath, "EISDIR": candor.CodeKaizaInvalidPath,
	"ENAMETOOLONG": candor.CodeKaizaInvalidPath, "ELOOP": candor.CodeKaizaInvalidPath, "EEXIST": candor.CodeKaizaFileAlreadyExists,
	"EACCES": candor.CodePermissionDenied, "EPERM": candor.CodePermissionDenied, "EROFS": candor.CodePermissionDenied,
	"ENOSPC": candor.CodeDiskFull, "EDQUOT": candor.CodeDiskFull, "EMFILE": candor.CodeUnavailable, "ENFILE": candor.CodeUnavailable,
	"EBUSY": candor.CodeUnavailable, "EAGAIN": candor.CodeUnavailable, "ENOMEM": candor.CodeUnavailable, "EIO": candor.CodeDataCorrupt,
	"ETIMEDOUT": candor.CodeUpstreamTimeout, "ESOCKETTIMEDOUT": candor.CodeUpstreamTimeout, "ECONNABORTED": candor.CodeUpstreamTimeout,
	"EADDRINUSE": candor.CodeConflict, "ENOTEMPTY": candor.CodeConflict, "EINVAL": candor.CodeInvalidArguments,
}

// byErrno maps system errors; all those of the network that are not listed mean that nobody answered.
func byErrno(s *foreign.Said, _ string) candor.Code {
	if c, ok := errnos[s.Errno]; ok {
		return c
	}
	for _, head := range []string{"ECONN", "EHOST", "ENET", "EAI", "ENOTFOUND", "EPIPE", "EPROTO", "ESOCKET", "CERT"} {
		if strings.HasPrefix(s.Errno, head) {
			return candor.CodeUpstreamUnreachable
		}
	}
	return candor.Code{}
}

// byIssues: failing fields are the caller's to mend, in the arguments of a tool or in the request around them.
func byIssues(s *foreign.Said, method string) candor.Code {
	switch {
	case len(s.Issues) == 0:
		return candor.Code{}
	case s.OfRequest || method != "" && method != "tools/call":
		return candor.CodeInvalidRequestParams
	default:
		return candor.CodeInvalidArguments
	}
}

func byException(s *foreign.Said, _ string) candor.Code {
	if s.Disconnected {
		return candor.CodeUpstreamUnreachable
	}
	if c, ok := exceptions[s.Exception]; ok {
		return c
	}
	return candor.Code{}
}

var exceptions = map[string]candor.Code{
	"FileNotFoundError": candor.CodeKaizaFileNotFound, "FileExistsError": candor.CodeKaizaFileAlreadyExists,
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
