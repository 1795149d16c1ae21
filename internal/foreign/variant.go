package foreign

import "github.com/candor-mcp/candor/wire"

// The shapes of JSON payloads that other code refers to.
const (
	ShapeLegacyResult    = "legacy-tool-result"
	ShapeContent         = "content-blocks"
	ShapeErrorBlock      = "content-error-block"
	ShapeRejected        = "rejected-items"
	ShapeErrorItems      = "error-items"
	ShapeErrorsMap       = "errors-map"
	ShapeZodIssues       = "zod-issues"
	ShapeFastAPI         = "fastapi-detail"
	ShapeAjvList         = "ajv-list"
	ShapeJSONAPI         = "json-api-errors"
	ShapeFieldViolations = "field-violations"
	ShapeIssueList       = "issue-list"
	shapeObject          = "object"
)

// variant is one shape of a JSON object, recognised by its members.
type variant struct {
	shape string
	is    func(v wire.Value) bool
}

// variants are tried in order, the more specific first.
var variants = []variant{
	{"system-error-envelope", has("error_code", "human_message")},
	{"numeric-taxonomy", has("domain", "symbol")},
	{"typed-retry", both(has("code", "message"), isType(wire.TypeObject, "retry"))},
	{ShapeLegacyResult, has("toolResult")},
	{ShapeContent, isType(wire.TypeArray, "content")},
	{"zod-error", both(isType(wire.TypeArray, "issues"), anyOf(is("name", "ZodError"), has("issues")))},
	{"zod-flattened", isType(wire.TypeObject, "fieldErrors")},
	{"zod-error", is("name", "ZodError")},
	{ShapeFastAPI, isType(wire.TypeArray, "detail")},
	{"nested-ok-false", both(truth("ok", true), truthAt(false, "data", "ok"))},
	{"ok-false-error", both(truth("ok", false), isType(wire.TypeObject, "error"))},
	{"ok-false-code", both(truth("ok", false), isType(wire.TypeString, "error"))},
	{"ok-false", truth("ok", false)},
	{"json-rpc-error", has("jsonrpc", "error")},
	{"sep3313", has("class", "correlationId")},
	{"notion-error", is("object", "error")},
	{"typed-error-object", both(is("type", "error"), isType(wire.TypeObject, "error"))},
	{"aws-error", anyOf(has("__type"), has("Code", "Message"))},
	{"google-error", both(isTypeAt(wire.TypeString, "error", "status"), isTypeAt(wire.TypeNumber, "error", "code"))},
	{"azure-error", isTypeAt(wire.TypeObject, "error", "innererror")},
	{"param-error", anyOf(isTypeAt(wire.TypeString, "error", "param"), isTypeAt(wire.TypeNull, "error", "param"))},
	{"oauth-error", has("error", "error_description")},
	{"github-error", has("message", "documentation_url")},
	{"graphql-errors", func(v wire.Value) bool {
		return v.Path("errors", 0, "extensions").Present() || v.Path("errors", 0, "locations").Present()
	}},
	{ShapeJSONAPI, func(v wire.Value) bool {
		return v.Path("errors", 0, "detail").Present() && (v.Path("errors", 0, "status").Present() || v.Path("errors", 0, "title").Present())
	}},
	{"success-false-errors", both(truth("success", false), isType(wire.TypeArray, "errors"))},
	{"success-false", truth("success", false)},
	{ShapeRejected, is("status", "rejected")},
	{"problem", anyOf(has("title", "status"), has("title", "detail"))},
	{"spring-error", has("timestamp", "status", "error")},
	{"status-error", anyOf(is("status", "error"), is("status", "failed"), is("status", "fail"), is("status", "failure"), is("status", "ERROR"), is("status", "FAILED"))},
	{"is-error", truth("isError", true)},
	{"fault", has("fault")},
	{"recovery", isType(wire.TypeObject, "recovery")},
	{"status-code-message", has("statusCode", "message")},
	{"http-error-object", anyOf(has("statusCode", "name"), has("statusCode", "body"), has("response", "config"), has("status_code"))},
	{"error-true", both(truth("error", true), has("message"))},
	{"error-object", isType(wire.TypeObject, "error")},
	{"name-error", both(isType(wire.TypeString, "name"), isType(wire.TypeString, "error"))},
	{"error-and-message", both(isType(wire.TypeString, "error"), has("message"))},
	{"error-member", isType(wire.TypeString, "error")},
	{"error-array", isType(wire.TypeArray, "error")},
	{"errors-list", isType(wire.TypeArray, "errors")},
	{ShapeErrorsMap, isType(wire.TypeObject, "errors")},
	{"error-message-member", anyOf(has("errorMessage"), has("error_message"))},
	{"errcode-errmsg", has("errcode", "errmsg")},
	{"error-code-member", anyOf(has("errorCode"), has("error_code"))},
	{"code-msg", has("code", "msg")},
	{"errno-object", anyOf(has("errno", "code"), has("errno", "syscall"))},
	{"code-message", has("code", "message")},
	{"name-message", has("name", "message")},
	{"type-error", is("type", "error")},
	{"detail-text", isType(wire.TypeString, "detail")},
	{"result-wrapper", isType(wire.TypeObject, "result")},
	{"data-wrapper", isType(wire.TypeObject, "data")},
	{"message-member", has("message")},
}

// variantOf names the shape of an object.
func variantOf(v wire.Value) string {
	for _, c := range variants {
		if c.is(v) {
			return c.shape
		}
	}
	return shapeObject
}

func has(names ...string) func(wire.Value) bool {
	return func(v wire.Value) bool {
		for _, name := range names {
			if _, ok := v.Get(name); !ok {
				return false
			}
		}
		return true
	}
}

func is(name, text string) func(wire.Value) bool {
	return func(v wire.Value) bool { return v.Path(name).Is(text) }
}

func isType(t wire.Type, name string) func(wire.Value) bool {
	return func(v wire.Value) bool { return v.Path(name).Type() == t }
}

func isTypeAt(t wire.Type, outer, inner string) func(wire.Value) bool {
	return func(v wire.Value) bool { return v.Path(outer, inner).Type() == t }
}

func truth(name string, want bool) func(wire.Value) bool {
	return func(v wire.Value) bool {
		b, ok := v.Path(name).Bool()
		return ok && b == want
	}
}

func truthAt(want bool, outer, inner string) func(wire.Value) bool {
	return func(v wire.Value) bool {
		b, ok := v.Path(outer, inner).Bool()
		return ok && b == want
	}
}

func both(a, b func(wire.Value) bool) func(wire.Value) bool {
	return func(v wire.Value) bool { return a(v) && b(v) }
}

func anyOf(tests ...func(wire.Value) bool) func(wire.Value) bool {
	return func(v wire.Value) bool {
		for _, t := range tests {
			if t(v) {
				return true
			}
		}
		return false
	}
}
