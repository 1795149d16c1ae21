package contract

// The parts of a JSON text that are searched. Error objects are small, and larger objects have the failure member first or last.
const (
	nameHead = 2048
	nameTail = 1024
)

// hasFailureNames reports whether JSON text may name a member that marks a failure, without parsing it. It searches only the
// beginning and the end, so its cost is bounded, and it may return true for other texts. If escaped is set, text is the inside of
// a JSON string, where quotes are escaped.
func hasFailureNames(text []byte, escaped bool) bool {
	if len(text) <= nameHead+nameTail {
		return namesFailure(text, escaped)
	}
	return namesFailure(text[:nameHead], escaped) || namesFailure(text[len(text)-nameTail:], escaped)
}

func namesFailure(text []byte, escaped bool) bool {
	for i := 1; i+3 < len(text); i++ {
		if text[i] == '"' && (text[i-1] == '\\') == escaped && failureName(text[i+1:]) {
			return true
		}
	}
	return false
}

// failureName reports whether the text after a quote begins like a name that marks a failure.
func failureName(s []byte) bool {
	switch s[0] | 0x20 {
	case 'e':
		return hasFold(s, "err") || hasFold(s, "erfolg") || hasFold(s, "exito") || hasFold(s, "exception") || hasFold(s, "exit") || hasFold(s, "estado")
	case 's':
		return hasFold(s, "succ") || hasFold(s, "suce") || hasFold(s, "succeeded") || hasFold(s, "status") || hasFold(s, "state")
	case 'o':
		return hasFold(s, "ok\"") || hasFold(s, "ok\\")
	case 'u':
		return hasFold(s, "usererrors")
	case 'w':
		return hasFold(s, "why")
	case 'i':
		return hasFold(s, "information") || hasFold(s, "iserror") || hasFold(s, "is_error") || hasFold(s, "issuccess") || hasFold(s, "is_success")
	case 'm':
		return hasFold(s, "message") || hasFold(s, "msg") || hasFold(s, "meldung") || hasFold(s, "mens")
	case 'h':
		return hasFold(s, "httpstatus") || hasFold(s, "http_status") || hasFold(s, "haserror")
	case 'c':
		return hasFold(s, "code\"") || hasFold(s, "code\\") || hasFold(s, "cod\"") || hasFold(s, "cod\\")
	case 'f':
		return hasFold(s, "fault\"") || hasFold(s, "fault\\") || hasFold(s, "functionerror")
	case 'd':
		return hasFold(s, "detail\"") || hasFold(s, "detail\\")
	case 'r':
		return hasFold(s, "reason") || hasFold(s, "returncode") || hasFold(s, "return_code") || hasFold(s, "rc\"") || hasFold(s, "rc\\")
	default:
		return false
	}
}

func hasFold(s []byte, want string) bool {
	if len(s) < len(want) {
		return false
	}
	for i := range len(want) {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != want[i] {
			return false
		}
	}
	return true
}
