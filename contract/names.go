package contract

import "strings"

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

// failureNames are the beginnings of the names that mark a failure, by their first letter. A quote or a backslash ends a name.
var failureNames = func() (byLetter [256][]string) {
	for name := range strings.FieldsSeq(`err erfolg exito exception exit estado succ suce status state ok" ok\ usererrors why information
		iserror is_error issuccess is_success message msg meldung mens httpstatus http_status haserror code" code\ cod" cod\
		fault" fault\ functionerror detail" detail\ reason returncode return_code rc" rc\`) {
		byLetter[name[0]] = append(byLetter[name[0]], name)
	}
	return byLetter
}()

// failureName reports whether the text after a quote begins like a name that marks a failure.
func failureName(s []byte) bool {
	for _, name := range failureNames[s[0]|0x20] {
		if hasFold(s, name) {
			return true
		}
	}
	return false
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
