package dialect

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/wire"
)

// problem is an RFC 9457 document, for HTTP bodies that are not JSON-RPC. type is the code as a URN, which needs no web site;
// title is the code's public sentence, detail the message, instance the ref. All other members of the canonical error are
// extension members, so that the document holds the whole error.
type problem struct{}

const (
	typePrefix     = "urn:candor:code:"
	instancePrefix = "urn:candor:ref:"
)

// problemStatus maps each class to an HTTP status. 499 is the common number for a request that its caller cancelled.
var problemStatus = map[candor.Class]int{
	candor.ClassBadRequest:   400,
	candor.ClassNotFound:     404,
	candor.ClassDenied:       403,
	candor.ClassConflict:     409,
	candor.ClassPrecondition: 412,
	candor.ClassRateLimited:  429,
	candor.ClassUnavailable:  503,
	candor.ClassTimeout:      504,
	candor.ClassCancelled:    499,
	candor.ClassTooLarge:     413,
	candor.ClassUnsupported:  501,
	candor.ClassCorrupt:      500,
	candor.ClassInternal:     500,
}

// httpStatus returns the HTTP status for a class, or 500 for an unknown class.
func httpStatus(c candor.Class) int {
	if status, ok := problemStatus[c]; ok {
		return status
	}
	return problemStatus[candor.ClassInternal]
}

// Name returns the name of the dialect.
func (problem) Name() string { return "problem" }

// Encode appends the document.
func (problem) Encode(dst []byte, e *candor.Error, o Options) []byte {
	e = whole(e)
	c := e.Code()
	dst = append(append(dst, `{"type":"`+typePrefix...), c.Domain()...)
	dst = append(append(append(dst, ':'), c.Symbol()...), '"')
	dst = jsontext.AppendString(appendName(dst, "title"), c.Info().Sentence)
	dst = strconv.AppendInt(appendName(dst, "status"), int64(httpStatus(c.Class())), 10)
	dst = jsontext.AppendString(appendName(dst, "detail"), e.Message())
	if e.Ref() != "" {
		dst = appendMember(dst, "instance", instancePrefix+url.PathEscape(e.Ref()))
	}
	own, err := wire.ParseValue(appendCanonical(make([]byte, 0, 1024), e, o, stackAny), wire.Limits{})
	if err != nil {
		return append(dst, '}') // not reached: the canonical form is JSON
	}
	for name, value := range own.Members() {
		if !name.Is("message") {
			dst = append(append(append(append(dst, ','), name.Raw()...), ':'), value.Raw()...)
		}
	}
	return append(dst, '}')
}

// Write appends the same document as Encode, because it already holds the whole error.
func (d problem) Write(dst []byte, e *candor.Error, o Options) []byte { return d.Encode(dst, e, o) }

// marked requires type, which is a URI, together with status, because RFC 9457 does not require any of its members.
func (problem) marked(v wire.Value) bool {
	kind, _ := v.Path("type").Str()
	return strings.Contains(kind, ":") && v.Path("status").IsInteger() && !v.Path("jsonrpc").Present()
}

// Read reads Candor's own documents, and those of other servers by their status.
func (d problem) Read(v wire.Value) (*candor.Error, error) {
	if own, ok := v.Get(MetaKey); ok {
		return ReadCandor(own)
	}
	if !d.marked(v) && !v.Path("title").Present() {
		return nil, refuse(d.Name(), "RFC 9457 describes the document", "no object with type and status was found")
	}
	if strings.HasPrefix(scalarText(v.Path("type")), typePrefix) {
		return readProblem(v)
	}
	return foreignProblem(v), nil
}

// problemMembers are the members of the RFC; all others are members of the canonical error.
var problemMembers = map[string]bool{"type": true, "title": true, "status": true, "detail": true, "instance": true}

func readProblem(v wire.Value) (*candor.Error, error) {
	var own object
	for name, value := range v.Members() {
		if key, _ := name.Str(); !problemMembers[key] && key != "message" {
			own = own.keep(name, value)
		}
	}
	if detail, ok := v.Get("detail"); ok {
		own = own.raw("message", detail.Raw())
	} else if message, ok := v.Get("message"); ok {
		own = own.raw("message", message.Raw())
	}
	e, foreign, err := readCanonical(own.value())
	if err != nil {
		return nil, err
	}
	domain, symbol := e.Code().Domain(), e.Code().Symbol()
	if foreign != nil {
		domain, symbol = foreign.domain, foreign.symbol
	}
	if !v.Path("type").Is(typePrefix + domain + ":" + symbol) {
		return nil, refuse("problem", "type and code name the same code", "type %.96q is not that of code %s/%s",
			scalarText(v.Path("type")), domain, symbol)
	}
	return e, nil
}

// statusCodes maps the statuses of foreign documents to codes; for other statuses the first digit decides.
var statusCodes = map[int64]candor.Code{
	401: candor.CodeUnauthenticated, 402: candor.CodePaymentRequired, 403: candor.CodePermissionDenied,
	404: candor.CodeNotFound, 405: candor.CodeMethodNotAllowed, 408: candor.CodeTimeout, 409: candor.CodeConflict,
	410: candor.CodeNotFound, 412: candor.CodePreconditionFailed, 413: candor.CodeTooLarge,
	415: candor.CodeMediaTypeUnsupported, 428: candor.CodePreconditionFailed, 429: candor.CodeRateLimited,
	499: candor.CodeCancelled, 501: candor.CodeUnsupported, 502: candor.CodeUnavailable, 503: candor.CodeUnavailable,
	504: candor.CodeTimeout,
}

// foreignProblem keeps the whole document as details, because its extension members may add to the status.
func foreignProblem(v wire.Value) *candor.Error {
	status, _ := v.Path("status").Int64()
	code, ok := statusCodes[status]
	switch {
	case ok:
	case status >= 400 && status < 500:
		code = candor.CodeInvalidArguments
	default:
		code = candor.CodeUnknownToolFailure
	}
	text := cmp.Or(scalarText(v.Path("detail")), scalarText(v.Path("title")))
	return candor.New(code, text, candor.WithOrigin(candor.PartyServer, true),
		candor.WithDetails(object{}.raw("said", v.Raw()).json()))
}
