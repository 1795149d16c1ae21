package httpapi

import (
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// decode decodes the JSON of an answer.
func decode(body []byte, header http.Header, result any) error {
	if kind, _, err := mime.ParseMediaType(header.Get("Content-Type")); err == nil && strings.HasPrefix(kind, "text/html") {
		return &Error{Kind: Malformed, Reason: "the answer is an HTML page, not JSON"}
	}
	if !utf8.Valid(body) {
		return &Error{Kind: Malformed, Reason: "the answer is not UTF-8"}
	}
	_, err := wire.ParseValue(body, wire.Limits{MaxBytes: len(body) + 1, MaxDepth: maxDepth})
	if bad, ok := errors.AsType[wire.Malformation](err); ok && bad.Flaw == wireflaw.TooDeep {
		return &Error{Kind: Malformed, Reason: "the answer is nested too deeply"}
	}
	err = json.Unmarshal(body, result)
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
