package foreign

import (
	"strconv"
	"strings"
)

// errnos are the names of system errors that runtimes print.
var errnos = set("ENOENT", "EACCES", "EPERM", "EEXIST", "ENOTDIR", "EISDIR", "ENOTEMPTY", "EMFILE", "ENFILE", "ENOSPC", "EROFS", "EBUSY", "EXDEV", "ELOOP", "ENAMETOOLONG", "EINVAL",
	"EIO", "EBADF", "EAGAIN", "ENOMEM", "EPIPE", "ECONNREFUSED", "ECONNRESET", "ECONNABORTED", "ENOTFOUND", "EAI_AGAIN", "EAI_NONAME", "EAI_FAIL", "ETIMEDOUT", "ESOCKETTIMEDOUT",
	"EHOSTUNREACH", "ENETUNREACH", "ENETDOWN", "EHOSTDOWN", "EADDRINUSE", "EADDRNOTAVAIL", "EPROTO", "ENOTCONN", "ECANCELED", "ENOSYS", "ENOTSUP", "EDQUOT", "EFBIG", "ENODEV", "ENXIO",
	"ETXTBSY", "EINTR", "ESRCH", "ECHILD", "EMSGSIZE", "ENOEXEC", "ESTALE", "EALREADY", "EISCONN", "ENOTSOCK", "ENOBUFS")

// errnoWords maps descriptions of system errors to their names.
var errnoWords = []struct{ words, name string }{
	{"no such file or directory", "ENOENT"}, {"no such host", "ENOTFOUND"}, {"unknown host", "ENOTFOUND"}, {"unknownhostexception", "ENOTFOUND"}, {"name or service not known", "ENOTFOUND"}, {"nodename nor servname provided", "ENOTFOUND"},
	{"name does not resolve", "ENOTFOUND"}, {"could not resolve host", "ENOTFOUND"}, {"err_name_not_resolved", "ENOTFOUND"}, {"no address associated with hostname", "ENOTFOUND"},
	{"temporary failure in name resolution", "EAI_AGAIN"}, {"connection refused", "ECONNREFUSED"}, {"err_connection_refused", "ECONNREFUSED"}, {"connection reset", "ECONNRESET"},
	{"err_connection_reset", "ECONNRESET"}, {"socket hang up", "ECONNRESET"}, {"broken pipe", "EPIPE"}, {"connection timed out", "ETIMEDOUT"}, {"i/o timeout", "ETIMEDOUT"},
	{"operation timed out", "ETIMEDOUT"}, {"err_connection_timed_out", "ETIMEDOUT"}, {"network is unreachable", "ENETUNREACH"}, {"no route to host", "EHOSTUNREACH"}, {"address already in use", "EADDRINUSE"},
	{"no space left on device", "ENOSPC"}, {"too many open files", "EMFILE"}, {"read-only file system", "EROFS"}, {"permission denied", "EACCES"}, {"operation not permitted", "EPERM"},
	{"directory not empty", "ENOTEMPTY"}, {"not a directory", "ENOTDIR"}, {"is a directory", "EISDIR"}, {"file exists", "EEXIST"}, {"file name too long", "ENAMETOOLONG"}, {"disk quota exceeded", "EDQUOT"},
	{"cannot allocate memory", "ENOMEM"}, {"no such process", "ESRCH"}, {"cross-device link", "EXDEV"}, {"device or resource busy", "EBUSY"},
}

// errnoNumbers are the numbers of Linux, which Python and Rust print; the negative ones are those of getaddrinfo.
var errnoNumbers = map[int]string{
	1: "EPERM", 2: "ENOENT", 3: "ESRCH", 4: "EINTR", 5: "EIO", 9: "EBADF", 11: "EAGAIN", 12: "ENOMEM", 13: "EACCES", 16: "EBUSY", 17: "EEXIST", 18: "EXDEV", 20: "ENOTDIR", 21: "EISDIR",
	22: "EINVAL", 23: "ENFILE", 24: "EMFILE", 26: "ETXTBSY", 27: "EFBIG", 28: "ENOSPC", 30: "EROFS", 32: "EPIPE", 36: "ENAMETOOLONG", 39: "ENOTEMPTY", 40: "ELOOP", 98: "EADDRINUSE",
	99: "EADDRNOTAVAIL", 100: "ENETDOWN", 101: "ENETUNREACH", 103: "ECONNABORTED", 104: "ECONNRESET", 107: "ENOTCONN", 110: "ETIMEDOUT", 111: "ECONNREFUSED", 112: "EHOSTDOWN", 113: "EHOSTUNREACH",
	122: "EDQUOT", 8: "ENOTFOUND", -2: "ENOTFOUND", -3: "EAI_AGAIN", -4: "EAI_FAIL", -5: "ENOTFOUND",
}

// broken are words for a lost connection without an errno.
var broken = []string{"fetch failed", "network error", "failed to fetch", "connection error", "unexpected eof", "connection closed", "remote end closed connection", "server disconnected",
	"tls handshake", "certificate", "ssl:", "connect timeout", "timed out", "timeout of", "deadline exceeded", "connection aborted", "network request failed", "all connection attempts failed", "not connected"}

// errnoOf finds the system error that a text names.
func (r *reader) errnoOf(s string) {
	if name := errnoIn(s); name != "" {
		keep(&r.said.Errno, name)
		return
	}
	low := strings.ToLower(s)
	for _, words := range broken {
		if strings.Contains(low, words) {
			r.said.Disconnected = true
			return
		}
	}
	if strings.HasSuffix(s, ": EOF") || s == "EOF" {
		r.said.Disconnected = true
	}
}

func errnoIn(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] != 'E' || i > 0 && (isLetter(s[i-1]) || s[i-1] == '_') {
			continue
		}
		end := i
		for end < len(s) && (isUpper(s[end]) || s[end] == '_') {
			end++
		}
		if errnos[s[i:end]] {
			return s[i:end]
		}
	}
	low := lowerASCII(s)
	if name := errnoNumber(low); name != "" {
		return name
	}
	for _, e := range errnoWords {
		if strings.Contains(low, e.words) {
			return e.name
		}
	}
	return ""
}

// errnoNumber reads "[Errno 111]", "(os error 2)" and "ConnectionResetError(104, …".
func errnoNumber(low string) string {
	for _, lead := range []string{"[errno ", "os error ", "error(", "errno: ", "errno "} {
		_, rest, ok := strings.Cut(low, lead)
		if !ok {
			continue
		}
		end := 0
		for end < len(rest) && (isDigit(rest[end]) || end == 0 && rest[end] == '-') {
			end++
		}
		if n, err := strconv.Atoi(rest[:end]); err == nil && errnoNumbers[n] != "" {
			return errnoNumbers[n]
		}
	}
	return ""
}

// exceptionOf finds the name of an exception inside a sentence: "failed: ValueError: …", "ConnectionError(…".
func (r *reader) exceptionOf(s string) {
	for i, c := range []byte(s) {
		if !isUpper(c) || i > 0 && (isLetter(s[i-1]) || s[i-1] == '.' || s[i-1] == '_') {
			continue
		}
		end := i
		for end < len(s) && (isLetter(s[end]) || isDigit(s[end]) || s[end] == '_') {
			end++
		}
		if end < len(s) && (s[end] == ':' || s[end] == '(') && isException(s[i:end]) {
			keep(&r.said.Exception, s[i:end])
			return
		}
	}
}

// symbolLeads are prefixes that make a word a code in any position.
var symbolLeads = []string{"ERR_", "UND_ERR_", "SQLITE_", "E_", "PGRST"}

// symbolsOf finds code words inside a sentence: (CODE), code: CODE, ERR_X.
func (r *reader) symbolsOf(s string) {
	toks := r.tokens(s)
	for i, t := range toks {
		if t.kind != kindWord && t.kind != kindQuoted || !isCapital(t.text) {
			continue
		}
		if isSymbol(t.text) && !errnos[t.text] && (hasLead(t.text) || inBrackets(toks, i)) || afterCode(toks, i) && !errnos[t.text] {
			r.symbol(t.text)
		}
	}
}

func hasLead(s string) bool {
	for _, lead := range symbolLeads {
		if strings.HasPrefix(s, lead) {
			return true
		}
	}
	return false
}

func inBrackets(toks []token, i int) bool {
	return i > 0 && i+1 < len(toks) && (toks[i-1].text == "(" && toks[i+1].text == ")" || toks[i-1].text == "[" && toks[i+1].text == "]")
}

func afterCode(toks []token, i int) bool {
	return i > 1 && (toks[i-1].text == ":" || toks[i-1].text == "=") && (toks[i-2].low == "code" || toks[i-2].low == "reason")
}
