package httpapi

import (
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"
)

// decode decodes the JSON of an answer.
func decode(body []byte, header http.Header, result any) error {
	if kind, _, err := mime.ParseMediaType(header.Get("Content-Type")); err == nil && strings.HasPrefix(kind, "text/html") {
		return &Error{Kind: Malformed, Reason: "the answer is an HTML page, not JSON"}
	}
	if !utf8.Valid(body) {
		return &Error{Kind: Malformed, Reason: "the answer is not UTF-8"}
	}
	if deeper(body, maxDepth) {
		return &Error{Kind: Malformed, Reason: "the answer is nested too deeply"}
	}
	err := json.Unmarshal(body, result)
	var wrongType *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrongType):
		return &Error{Kind: Malformed, Reason: "the answer has another form than documented: " + wrongType.Field, Err: err}
	default:
		return &Error{Kind: Malformed, Reason: "the answer is not JSON", Err: err}
	}
}

// deeper reports whether arrays and objects are nested deeper than most. The result is unspecified for text that is not
// JSON.
func deeper(body []byte, most int) bool {
	depth, quoted := 0, false
	for i := 0; i < len(body); i++ {
		switch b := body[i]; {
		case quoted && b == '\\':
			i++
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '[' || b == '{':
			if depth++; depth > most {
				return true
			}
		case b == ']' || b == '}':
			depth--
		}
	}
	return false
}
