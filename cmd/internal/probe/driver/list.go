package driver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/wire"
)

const codesMember = "dev.candor/codes"

// list reads the tools, page by page. If the server does not list them, the run continues without tools: they are
// recorded as skipped, and the run is incomplete if the server has announced tools.
func (d *driver) list(ctx context.Context) {
	if err := d.ensureConnected(ctx); err != nil {
		d.recordUnlisted(0, err.Error())
		return
	}
	params := []byte(`{}`)
	known, cursors := map[string]bool{}, map[string]bool{}
	for page := range maxPages {
		_, s := d.ask(ctx, "tools/list", params, d.o.Deadline, nil)
		if s.end != endAnswered {
			d.recordUnlisted(page, "tools/list was not answered"+d.exitDetails(s))
			d.disconnect(false) // a late reaction would be attributed to the next case
			return
		}
		m := wire.Parse(s.raw, wire.Limits{MaxBytes: maxMessage})
		if m.Shape() != wire.KindResult || m.Result().Path("tools").Type() != wire.TypeArray {
			d.recordUnlisted(page, "tools/list was not answered with a list of tools")
			return
		}
		for v := range m.Result().Path("tools").Elements() {
			if len(d.run.Tools) >= maxTools {
				d.recordUnlisted(page, fmt.Sprintf("there are more than %d tools", maxTools))
				return
			}
			if t, ok := tool(v); ok && !known[t.Name] {
				known[t.Name] = true
				d.run.Tools = append(d.run.Tools, t)
			}
		}
		cursor, ok := m.Result().Path("nextCursor").Str()
		if !ok || cursor == "" {
			return
		}
		if cursors[cursor] {
			d.recordUnlisted(page, "tools/list returned the same cursor twice")
			return
		}
		cursors[cursor] = true
		params = append(jsontext.AppendString([]byte(`{"cursor":`), cursor), '}')
	}
	d.recordUnlisted(maxPages, fmt.Sprintf("tools/list has more than %d pages", maxPages))
}

func (d *driver) recordUnlisted(page int, reason string) {
	what := "tools"
	if page > 0 {
		what = "further tools"
	} else if slices.Contains(d.run.Server.Capabilities, "tools") {
		d.unseen = reason
	}
	d.run.Skipped = append(d.run.Skipped, probe.Skip{What: what, Reason: reason})
}

// exitDetails returns the exit status of a server that has ended, and its last output.
func (d *driver) exitDetails(s *seen) string {
	if s.end != endGone {
		return ""
	}
	how := ""
	if d.child != nil {
		how = " (" + d.child.exitStatus() + ")"
	}
	return how + printed(d.stderr())
}

// stderr returns the end of the standard error of a server that was started, without secrets.
func (d *driver) stderr() string {
	if d.child == nil {
		return ""
	}
	return d.child.stderr(d.mask)
}

// tool reads a tool from a list. Members of a wrong type are ignored.
func tool(v wire.Value) (probe.Tool, bool) {
	text := func(name string) string { s, _ := v.Path(name).Str(); return s }
	flag := func(name string) *bool {
		if b, ok := v.Path("annotations", name).Bool(); ok {
			return &b
		}
		return nil
	}
	schema := func(name string) []byte {
		s := v.Path(name)
		if (s.Type() == wire.TypeObject || s.Type() == wire.TypeBool) && json.Valid(s.Raw()) { // a run must be valid JSON
			return bytes.Clone(s.Raw())
		}
		return nil
	}
	t := probe.Tool{
		Name: text("name"), Title: text("title"), Description: text("description"),
		InputSchema: schema("inputSchema"), OutputSchema: schema("outputSchema"),
		Annotations: probe.Annotations{
			ReadOnly: flag("readOnlyHint"), Destructive: flag("destructiveHint"), Idempotent: flag("idempotentHint"), OpenWorld: flag("openWorldHint"),
		},
	}
	for code := range v.Path("_meta", codesMember).Elements() {
		if name, ok := code.Str(); ok {
			t.Codes = append(t.Codes, name)
		}
	}
	return t, t.Name != ""
}
