package dialect

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/rootdigest"
	"github.com/candor-mcp/candor/internal/timestamp"
	"github.com/candor-mcp/candor/wire"
)

// systemError is the shape of the governed workspace: eleven members in a fixed order, null if unknown and never
// absent, and stack_trace as a twelfth only under DEBUG_STACK.
//
// Two members may not be null. tool_name is "unknown" if the tool is not known. timestamp is the error's time, else
// [Options.Now], else the Unix epoch: this package has no clock, and an epoch can be recognised as unknown, unlike a
// guess. Both substitutes are read as "not known".
type systemError struct{}

const (
	systemDomain = "kaiza"
	unknownTool  = "unknown"
	unknownTime  = "1970-01-01T00:00:00.000Z"
)

// Name returns the name of the dialect.
func (systemError) Name() string { return "system-error" }

// Encode appends the eleven members, and stack_trace if the options allow it.
func (systemError) Encode(dst []byte, e *candor.Error, o Options) []byte {
	e = whole(e)
	c := e.CallInfo()
	dst = append(append(dst, `{"error_code":"`...), e.Code().Symbol()...)
	dst = jsontext.AppendString(append(dst, `","human_message":`...), e.Message())
	dst = appendNullable(dst, "role", c.Role)
	dst = appendNullable(dst, "session_id", c.SessionID)
	dst = appendNullable(dst, "workspace_root", ownRoot(c, o))
	dst = jsontext.AppendString(appendName(dst, "tool_name"), cmp.Or(c.Tool, unknownTool))
	dst = appendNullable(dst, "invariant_id", c.InvariantID)
	dst = appendNullable(dst, "phase_id", c.PhaseID)
	dst = appendNullable(dst, "plan_hash", c.PlanHash)
	dst = appendCause(appendName(dst, "cause"), e.Cause())
	dst = appendTime(appendName(dst, "timestamp"), e.Time(), o.Now)
	dst = appendMember(dst, "stack_trace", stackFor(e, o.Stack, stackDebug))
	return append(dst, '}')
}

// ownRoot returns the workspace root as a path for an error with a session, else as a digest unless the options ask for the path.
func ownRoot(c candor.CallInfo, o Options) string {
	if o.PlainRoot || c.SessionID != "" {
		return c.WorkspaceRoot
	}
	return rootdigest.Of(c.WorkspaceRoot)
}

func appendCause(dst []byte, c candor.Cause) []byte {
	if c.IsZero() {
		return append(dst, "null"...)
	}
	return c.AppendJSON(dst)
}

func appendTime(dst []byte, at, now time.Time) []byte {
	if at.IsZero() {
		at = now
	}
	if at.IsZero() {
		return append(dst, `"`+unknownTime+`"`...)
	}
	return append(timestamp.Append(append(dst, '"'), at), '"')
}

// Write appends a result.
func (d systemError) Write(dst []byte, e *candor.Error, o Options) []byte {
	return writeResult(d, dst, e, o)
}

func (d systemError) parts(dst []byte, e *candor.Error, o Options) resultParts {
	envelope := d.Encode(dst, e, o)
	return resultParts{text: envelope, mirror: envelope, stack: stackDebug}
}

func (systemError) marked(v wire.Value) bool {
	return v.Path("error_code").Type() == wire.TypeString && v.Path("human_message").Type() == wire.TypeString
}

// Read also accepts plan_signature, a later name of plan_hash, causes that are a string, an object or null, and, in a
// result that is marked as a failure, the text that this system sends instead of the envelope.
func (d systemError) Read(v wire.Value) (*candor.Error, error) {
	envelope, result, ok := findEnvelope(v, d.marked)
	if !ok {
		if e, ok := systemRefusal(result); ok {
			return e, nil
		}
		return nil, refuse(d.Name(), "it is the JSON text of content[0], or structuredContent",
			"no object with error_code and human_message was found")
	}
	seen := systemVisible(envelope)
	embedded, _ := Embedded(result)
	return fillIn(seen.reconcile(embedded), seen.err), nil
}

// systemRefusal reads the text of a failed result without a canonical error. A result with one belongs to another dialect.
func systemRefusal(result wire.Value) (*candor.Error, bool) {
	failed, _ := result.Path("isError").Bool()
	if _, whole := Embedded(result); whole || !failed {
		return nil, false
	}
	return readSystemText(firstText(result))
}

func systemVisible(v wire.Value) visible {
	symbol, _ := v.Path("error_code").Str()
	message, _ := v.Path("human_message").Str()
	code, known := symbolCode(symbol, systemDomain)
	e := candor.New(code, message,
		candor.WithOrigin(candor.PartyServer, false), candor.WithCallInfo(systemContext(v)),
		candor.WithCauseText(anyCause(v.Path("cause"))), candor.WithTime(systemTime(v)),
		candor.WithStack(scalarText(v.Path("stack_trace"))), candor.WithDetails(rawDetails(systemDetails(v))))
	if !known {
		return visible{err: withSaid(e, object{}.text("code", symbol)), unknown: symbol, noRetry: true, noDomain: true}
	}
	return visible{err: e, noRetry: true, noDomain: true}
}

// systemMembers are the twelve members of the shape, a later name of one of them, and details, which is not part of the shape.
var systemMembers = []string{"error_code", "human_message", "role", "session_id", "workspace_root", "tool_name", "invariant_id",
	"phase_id", "plan_hash", "plan_signature", "cause", "timestamp", "stack_trace", "details"}

// systemDetails returns the members that the envelope and its cause have in addition to the defined ones. Issues of a
// cause become the issues of the error.
func systemDetails(v wire.Value) wire.Value {
	details := joined(v.Path("details"), without(v, systemMembers...))
	cause := v.Path("cause")
	if cause.Type() != wire.TypeObject {
		return canonicalDetails(details)
	}
	if issues, ok := cause.Get("issues"); ok && issues.Type() == wire.TypeArray {
		details = joined(details, object{}.raw("issues", issues.Raw()).value())
		cause = without(cause, "issues")
	}
	if _, said := cause.Path("message").Str(); said {
		if more := without(cause, "message", "code", "name", "stack"); more.Len() > 0 {
			details = joined(details, object{}.raw("cause", more.Raw()).value())
		}
	}
	return canonicalDetails(details)
}

func systemContext(v wire.Value) candor.CallInfo {
	c := candor.CallInfo{
		Tool:          scalarText(v.Path("tool_name")),
		Role:          scalarText(v.Path("role")),
		SessionID:     scalarText(v.Path("session_id")),
		WorkspaceRoot: scalarText(v.Path("workspace_root")),
		InvariantID:   scalarText(v.Path("invariant_id")),
		PhaseID:       scalarText(v.Path("phase_id")),
		PlanHash:      cmp.Or(scalarText(v.Path("plan_hash")), scalarText(v.Path("plan_signature"))),
	}
	if c.Tool == unknownTool {
		c.Tool = ""
	}
	return c
}

// systemTime returns the zero time for an envelope without one.
func systemTime(v wire.Value) time.Time {
	text := scalarText(v.Path("timestamp"))
	at, err := timestamp.Parse(text)
	if err != nil || text == unknownTime || at.Year() < 0 || at.Year() > 9999 {
		return time.Time{} // a zone can move the year out of the range of the wire form
	}
	return at
}

// anyCause reads a cause of any type. An object of another shape is kept as its JSON.
func anyCause(v wire.Value) candor.Cause {
	if text, ok := v.Str(); ok {
		return candor.Cause{Message: text}
	}
	if c, ok := parseCause(v); ok {
		return c
	}
	if !v.Present() || v.IsNull() {
		return candor.Cause{}
	}
	return candor.Cause{Message: candor.DetailsOf(json.RawMessage(v.Raw())).String(), Name: v.Type().String()}
}

// fillIn adds the values that the envelope shows and the canonical error beside it omits: the path of the workspace,
// and a time that the writer had to supply.
func fillIn(e, seen *candor.Error) *candor.Error {
	shown, c := seen.CallInfo().WorkspaceRoot, e.CallInfo()
	if shown != c.WorkspaceRoot && rootdigest.Of(shown) == c.WorkspaceRoot {
		c.WorkspaceRoot = shown
		e = e.With(candor.WithCallInfo(c))
	}
	if e.Time().IsZero() && !seen.Time().IsZero() {
		e = e.With(candor.WithTime(seen.Time()))
	}
	return e
}
