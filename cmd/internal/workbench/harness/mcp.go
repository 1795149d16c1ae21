package harness

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/line"
	"github.com/candor-mcp/candor/codes/common"
	"github.com/candor-mcp/candor/codes/ratelimit"
)

// SystemName is the name of the harness among the systems of the workbench.
const SystemName = "harness"

// ToolName returns the name of a method as an MCP tool: "kg/query" is "kg_query". MCP and most models accept letters,
// digits, underscores and hyphens.
func ToolName(method string) string { return strings.ReplaceAll(method, "/", "_") }

// Describe returns the same methods as a system of the workbench, which serves them over MCP.
func (h *Harness) Describe() workbench.System {
	s := workbench.System{
		Name: SystemName, Title: "Candor harness", Dialect: "candor", Sessionless: true, MaxMessage: h.settings.MaxLine,
		Instructions: instructions(h.domains),
		Missing:      h.missing,
		Refine:       h.refine,
		Close:        h.Close,
	}
	for _, m := range h.server.Methods() {
		h.methods[ToolName(m.Name)] = m.Name
		s.Tools = append(s.Tools, h.tool(m))
	}
	return s
}

// Start is called before the system is served.
func (*Harness) Start(context.Context, *workbench.Bench) {}

func instructions(domains []domain.Domain) string {
	var b strings.Builder
	b.WriteString("Tools of several domains behind one taxonomy of errors. Every error has a number, domain, symbol and retryable.")
	for i := range domains {
		b.WriteString("\n- " + domains[i].Name + ": " + domains[i].About)
	}
	return b.String()
}

func (h *Harness) tool(m domain.Method) workbench.Tool {
	return workbench.Tool{
		Name: ToolName(m.Name), About: m.About, Input: m.Input, Required: m.Required,
		Codes:    append([]candor.Code{common.InvalidParams}, m.Codes...),
		ReadOnly: m.ReadOnly, Idempotent: m.Idempotent, Destructive: m.Destructive, OpenWorld: m.OpenWorld,
		Run: func(ctx context.Context, c *workbench.Call) (workbench.Reply, error) {
			result, e := h.server.Call(ctx, m.Name, c.Arguments)
			if e != nil {
				// The advice of the taxonomy is the same in both modes, regardless of the annotations of the tool.
				return workbench.Reply{}, e.With(candor.WithRetry(e.Retry()))
			}
			if m.Image {
				return imageOf(result)
			}
			return replyOf(result), nil
		},
	}
}

// replyOf returns a result as text and, if it is an object as MCP requires, as structured content.
func replyOf(result json.RawMessage) workbench.Reply {
	r := workbench.Reply{Text: []string{string(result)}}
	if len(result) > 0 && result[0] == '{' {
		r.Data = result
	}
	return r
}

// imageOf returns the image of a result as a block that models see, and the other members as text.
func imageOf(result json.RawMessage) (workbench.Reply, error) {
	var image struct {
		MediaType string `json:"mediaType"`
		Data      []byte `json:"data"`
	}
	members := map[string]json.RawMessage{}
	if err := errors.Join(json.Unmarshal(result, &image), json.Unmarshal(result, &members)); err != nil {
		return workbench.Reply{}, err
	}
	delete(members, "data")
	text, err := json.Marshal(members)
	return workbench.Reply{Text: []string{string(text)}, Image: image.Data, MediaType: image.MediaType}, err
}

// missing returns the error for calls of unknown tools. For a tool of a disabled domain it suggests how to enable the
// domain.
func (h *Harness) missing(tool string) *candor.Error {
	prefix, _, found := strings.Cut(tool, "_")
	if !found || ownerOf(prefix) == nil {
		return nil
	}
	if _, e := h.server.Call(context.Background(), prefix+"/", nil); e != nil && e.Code() == common.Unsupported {
		return e
	}
	return nil
}

// refine replaces the codes of failures found by the MCP transport with codes of the taxonomy, and hides causes outside
// development.
func (h *Harness) refine(c *workbench.Call, e *candor.Error) *candor.Error {
	switch {
	case e.Code() == candor.CodeMessageTooLarge:
		e = workbench.Recode(e, common.LimitExceeded, "")
	case c.Tool == nil:
	case e.Code() == candor.CodeInvalidArguments:
		e = cmp.Or(h.server.Refuse(h.methods[c.Name]), workbench.Recode(e, common.InvalidParams, ""))
	case e.Code() == ratelimit.Exceeded:
		e = e.With(candor.WithOrigin(candor.PartyServer, false)) // the method did not run, so a client may retry the call
	}
	if h.settings.Development || e.Cause().IsZero() {
		e = h.server.Shown(e)
	} else {
		e = c.HideCause(e)
	}
	if c.Bench().Dialect() == "rpc" {
		e = line.Terse(e)
	}
	return e
}
