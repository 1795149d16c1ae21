package boundary

import (
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/argerror"
	"github.com/candor-mcp/candor/internal/similar"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// param is a member of a request's params that the protocol specifies.
type param struct {
	name     string
	is       wire.Type
	required bool
}

// methodParams lists the params that the protocol specifies for each method. The SDK refuses invalid params with the text of a JSON
// decoder; this table serves to name the invalid member.
var methodParams = map[string][]param{
	"tools/call":             {{"name", wire.TypeString, true}, {"arguments", wire.TypeObject, false}, {"_meta", wire.TypeObject, false}},
	"resources/read":         {{"uri", wire.TypeString, true}, {"_meta", wire.TypeObject, false}},
	"resources/subscribe":    {{"uri", wire.TypeString, true}},
	"resources/unsubscribe":  {{"uri", wire.TypeString, true}},
	"prompts/get":            {{"name", wire.TypeString, true}, {"arguments", wire.TypeObject, false}, {"_meta", wire.TypeObject, false}},
	"completion/complete":    {{"ref", wire.TypeObject, true}, {"argument", wire.TypeObject, true}},
	"logging/setLevel":       {{"level", wire.TypeString, true}},
	"initialize":             {{"protocolVersion", wire.TypeString, true}, {"capabilities", wire.TypeObject, true}, {"clientInfo", wire.TypeObject, true}},
	"tools/list":             {{"cursor", wire.TypeString, false}, {"_meta", wire.TypeObject, false}},
	"resources/list":         {{"cursor", wire.TypeString, false}, {"_meta", wire.TypeObject, false}},
	"prompts/list":           {{"cursor", wire.TypeString, false}, {"_meta", wire.TypeObject, false}},
	"notifications/progress": {{"progress", wire.TypeNumber, true}},
}

// paramIssues returns the issues of the params of a request that methodParams can detect.
func paramIssues(method string, params []byte) []candor.Issue {
	want, known := methodParams[method]
	if !known {
		return nil
	}
	v, err := wire.ParseValue(params, wire.Limits{})
	if err != nil || v.Type() != wire.TypeObject {
		got := "nothing"
		if err == nil {
			got = v.Type().String()
		}
		return []candor.Issue{{Rule: "type", Message: "params must be an object", Expected: "object", Got: got}}
	}
	var issues []candor.Issue
	for _, p := range want {
		got, present := v.Get(p.name)
		switch {
		case !present && p.required:
			issues = append(issues, candor.Issue{Path: "/" + p.name, Rule: "required",
				Message: p.name + " is missing", Expected: p.is.String(), Got: "nothing"})
		case present && got.Type() != p.is:
			issues = append(issues, candor.Issue{Path: "/" + p.name, Rule: "type",
				Message: p.name + " must be of the type " + p.is.String(), Expected: p.is.String(), Got: got.Type().String()})
		}
	}
	return issues
}

// methods lists the requests that a client may send to a server, in either era.
var methods = []string{
	"completion/complete", "initialize", "logging/setLevel", "ping", "prompts/get", "prompts/list", "resources/list",
	"resources/read", "resources/subscribe", "resources/templates/list", "resources/unsubscribe", "server/discover",
	"subscriptions/listen", "sys/errorStats", "tools/call", "tools/list",
}

// methodHint returns a suggestion with the most similar method names, or "".
func methodHint(method string) string {
	if names := similar.Names(method, methods); len(names) > 0 && names[0] != method {
		return "Did you mean " + similar.Quote(names) + "?"
	}
	return ""
}

// flawError returns the error for a malformed message from a client, or nil if the message is well-formed. Params of a wrong type do
// not count, because the SDK answers those itself.
func flawError(m *wire.Message) *candor.Error {
	if m.Flaws().Without(wireflaw.BadParams).Empty() {
		return nil
	}
	return argerror.Flaw(m.Malformation(), candor.PartyServer)
}

// levels lists the log levels of the protocol. The SDK accepts any string, so a client that misspells a level would get no messages
// and no error.
var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// badLevel returns the error for a logging/setLevel request with an unknown level, or nil.
func badLevel(req mcp.Request) *candor.Error {
	p, ok := req.GetParams().(*mcp.SetLoggingLevelParams) //nolint:staticcheck // deprecated, but still in use
	if !ok || p == nil || slices.Contains(levels, string(p.Level)) {
		return nil
	}
	return candor.New(candor.CodeInvalidRequestParams, "The logging level is not one of the protocol.", candor.WithOrigin(candor.PartyServer, false),
		candor.WithIssues(candor.Issue{Path: "/level", Rule: "enum", Message: "must be one of the levels of the protocol",
			Expected: map[string]any{"enum": levels}, Example: "info"}))
}
