package zoo

import (
	"slices"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/probe"
)

// DualTool is a tool of the personality dual.
type DualTool struct {
	Name    string        `json:"name"`
	Pattern probe.Pattern `json:"pattern"` // [probe.PatternA] or [probe.PatternB]
	// Codes are the documented codes. With pattern A, INVALID_PARAMS is for wrong arguments and HANDLER_ERROR for all else. With pattern B,
	// the first is for missing things and the others for wrong arguments.
	Codes []string `json:"codes"`
	// Reason is the code in the message of HANDLER_ERROR, "" for none.
	Reason string `json:"reason,omitempty"`
}

// DualTools returns the 27 tools of the personality dual: 19 of pattern A and 8 of pattern B. The caller owns the slice.
//
// task_list and task_next_actions have no documented code. They fail only for arguments that are not an object, with ERR_VALIDATION, so that
// their pattern is visible.
func DualTools() []DualTool {
	thrown := func(reason string, names ...string) (out []DualTool) {
		for _, name := range names {
			out = append(out, DualTool{Name: name, Pattern: probe.PatternA, Codes: []string{"INVALID_PARAMS", "HANDLER_ERROR"}, Reason: reason})
		}
		return out
	}
	only := func(name string) DualTool {
		return DualTool{Name: name, Pattern: probe.PatternA, Codes: []string{"INVALID_PARAMS"}}
	}
	returned := func(name string, codes ...string) DualTool {
		return DualTool{Name: name, Pattern: probe.PatternB, Codes: codes}
	}
	return slices.Concat(
		[]DualTool{only("server_ping"), only("server_health")},
		thrown("", "thought_record", "thought_record_list", "audit_verify_chain", "skill_list", "reputation_get", "reputation_history",
			"reputation_leaderboard", "reputation_check_gates"),
		thrown("ROUND_NOT_FOUND", "consensus_propose", "consensus_vote", "consensus_finality"),
		[]DualTool{only("consensus_gossip")},
		thrown("INVALID_KEY", "vrf_eval"),
		thrown("", "router_score"),
		thrown("FallbackChainExhaustedError", "router_call"),
		thrown("", "router_fallback"),
		[]DualTool{
			only("router_stats"),
			returned("task_create", "ERR_VALIDATION"),
			returned("task_get", "ERR_NOT_FOUND"),
			returned("task_update", "ERR_NOT_FOUND", "ERR_WRITEBACK_REQUIRED", "ERR_INVALID_TRANSITION"),
			returned("task_list"),
			returned("task_next_actions"),
			returned("audit_session_start", "ERR_SESSION_EXISTS"),
			returned("merkle_finalize", "ERR_SESSION_NOT_FOUND", "ERR_ALREADY_FINALIZED", "ERR_NO_RECORDS"),
			returned("merkle_root", "ERR_NOT_FINALIZED"),
		})
}

// The schemas of the personality dual. A tool without failures has no required arguments.
const (
	dualSchema = `{"type":"object","properties":{"id":{"type":"string","minLength":1,"maxLength":64},` +
		`"status":{"type":"string","enum":["open","done"]}},"required":["id"],"additionalProperties":false}`
	dualBare  = `{"type":"object","properties":{"limit":{"type":"integer","minimum":1,"maximum":100}},"additionalProperties":false}`
	dualLoose = `{"type":"object"}`
)

// dualTools returns the tools of the personality dual.
func dualTools() []*tool {
	var out []*tool
	for _, d := range DualTools() {
		t := honestTool(d.Name)
		t.about = "A tool of the dual-envelope inventory."
		t.input = dualSchema
		switch {
		case len(d.Codes) == 0:
			t.input = dualLoose
		case slices.Equal(d.Codes, []string{"INVALID_PARAMS"}):
			t.input = dualBare
		}
		t.find = func(c *call) {
			if id, ok := c.arguments.Path("id").Str(); ok && records[id] == 0 {
				c.state = whenMissing
			}
		}
		t.answer = d.answer
		out = append(out, t)
	}
	return out
}

// answer answers like the documented middleware: errors become pattern A, returned failures become data.
func (d DualTool) answer(c *call) answer {
	code, message := d.fails(c)
	switch {
	case code == "":
		return one(c.enveloped(`{"ok":true,"data":{"records":3}}`, false))
	case d.Pattern == probe.PatternB:
		return one(c.enveloped(`{"ok":true,"data":`+dualError(code, message, "")+`}`, false))
	case c.state == whenInput:
		return one(c.enveloped(dualError(code, message, c.dualDetails()), true))
	default:
		return one(c.enveloped(dualError(code, message, ""), true))
	}
}

// fails returns how the call fails, "" if it does not.
func (d DualTool) fails(c *call) (code, message string) {
	switch {
	case c.state == whenSound:
		return "", ""
	case d.Pattern == probe.PatternA && c.state == whenInput:
		return "INVALID_PARAMS", "Invalid parameters for " + d.Name + ": " + c.wrongNames()
	case d.Pattern == probe.PatternA && d.Reason != "":
		return "HANDLER_ERROR", d.Reason + ": nothing has the id that was given"
	case d.Pattern == probe.PatternA:
		return "HANDLER_ERROR", "nothing has the id that was given"
	case len(d.Codes) == 0:
		return "ERR_VALIDATION", "the arguments must be an object"
	case c.state == whenMissing:
		return d.Codes[0], "nothing has the id that was given"
	default:
		return d.Codes[d.wrong(c)], "invalid parameters: " + c.wrongNames()
	}
}

// wrong returns the code for wrong arguments: the second for missing ones, the last for others.
func (d DualTool) wrong(c *call) int {
	for _, issue := range c.err.Details().Issues() {
		if issue.Rule == "required" {
			return min(1, len(d.Codes)-1)
		}
	}
	return len(d.Codes) - 1
}

// wrongNames returns the names of the wrong arguments.
func (c *call) wrongNames() string {
	var said []string
	for _, issue := range c.err.Details().Issues() {
		said = append(said, strings.TrimPrefix(issue.Path+" ", "/")+issue.Message)
	}
	return strings.Join(said, "; ")
}

func (c *call) dualDetails() string {
	var said []string
	for _, issue := range c.err.Details().Issues() {
		said = append(said, `{"path":`+quote(strings.TrimPrefix(issue.Path, "/"))+`,"message":`+quote(issue.Message)+`}`)
	}
	return `{"issues":[` + strings.Join(said, ",") + `]}`
}

func dualError(code, message, details string) string {
	out := `{"ok":false,"error":{"code":` + quote(code) + `,"message":` + quote(message)
	if details != "" {
		out += `,"details":` + details
	}
	return out + `}}`
}

// enveloped returns a result whose text and structuredContent are the same JSON.
func (c *call) enveloped(envelope string, failed bool) []byte {
	frame := c.result(`{"content":[` + block(envelope) + `],"structuredContent":` + envelope + `}`)
	if failed {
		return edited(frame, "true", "result", "isError")
	}
	return frame
}
