package workrailcmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/bench"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail"
)

func newShow(env *term.Env) *cobra.Command {
	c := &adminCommand{Operator: bench.Operator{Env: env}}
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show the steps of a session with notes, outputs and blocked attempts",
		Long: `Show the history of a session: each completed step with notes, output, context keys and blocked attempts, then the pending
step and its requirements. ID is the id of a session, or its first digits. Of a damaged session the valid part is shown. The server
may be running.`,
		Example: `  candor workbench workrail show 3f2a9c1d
  candor workbench workrail show 3f2a9c1d --json | jq '.steps[].notes'`,
		Args:              term.OneArg("session", "candor workbench workrail show 3f2a9c1d"),
		ValidArgsFunction: c.completeOne,
		RunE: func(_ *cobra.Command, args []string) error {
			return c.with(func(a *workrail.Admin) error { return c.show(a, args[0]) })
		},
	}
	c.register(cmd)
	c.RegisterJSON(cmd)
	return cmd
}

// completeOne completes the first argument with session ids.
func (c *adminCommand) completeOne(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return c.completeSessions(cmd, args, typed)
}

func (c *adminCommand) show(a *workrail.Admin, typed string) error {
	id, err := c.find(a, typed)
	if err != nil {
		return err
	}
	h, err := a.History(c.Cmd.Context(), id)
	if err != nil {
		return stateError(err)
	}
	if c.JSON {
		return term.WriteJSONLine(c.Env.Out, h)
	}
	c.writeHead(h)
	for i := range h.Steps {
		c.writeStep(i+1, &h.Steps[i])
	}
	c.writePending(h)
	return nil
}

func (c *adminCommand) writeHead(h *workrail.History) {
	colors, out := c.Env.Colors(), c.Env.Out
	fmt.Fprintf(out, "Session   %s\n", colors.Name(h.ID))
	fmt.Fprintf(out, "Workflow  %s", term.Printable(h.Workflow))
	if h.Name != "" {
		fmt.Fprintf(out, " (%s)", term.Printable(h.Name))
	}
	fmt.Fprintf(out, "\nState     %s\n", strings.TrimSpace(stateWord(colors, h.State)))
	if why := damage(&h.Info); why != "" {
		fmt.Fprintf(out, "Damage    %s\n", colors.Bad(why))
		if h.Doubtful > 0 {
			fmt.Fprintf(out, "          %d more events are readable but may be wrong: candor workbench workrail export %s\n", h.Doubtful, h.ID)
		}
	}
	if h.Goal != "" {
		fmt.Fprintf(out, "Goal      %s\n", term.Printable(h.Goal))
	}
	fmt.Fprintf(out, "Began     %s\nChanged   %s\n", bench.Stamp(h.Began), bench.Stamp(h.Updated))
}

func (c *adminCommand) writeStep(number int, s *workrail.PastStep) {
	colors := c.Env.Colors()
	fmt.Fprintf(c.Env.Out, "\n%d. %s  %s\n", number, colors.Bold(titled(s.Path, s.Title)), bench.Stamp(s.At))
	c.writeBlocked(s.Blocked)
	if s.Notes != "" {
		indent(c.Env.Out, "   ", "notes:", s.Notes)
	}
	if len(s.Output) > 0 {
		indent(c.Env.Out, "   ", "output:", pretty(s.Output))
	}
	for _, key := range slices.Sorted(maps.Keys(s.Set)) {
		value, err := json.Marshal(s.Set[key])
		if err == nil {
			fmt.Fprintf(c.Env.Out, "   %s = %s\n", term.Printable(key), term.Truncate(term.Printable(string(value)), 120))
		}
	}
}

func titled(path, title string) string {
	if title == "" || title == path {
		return term.Printable(path)
	}
	return term.Printable(path) + ": " + term.Printable(title)
}

func (c *adminCommand) writeBlocked(attempts []workrail.BlockedAttempt) {
	colors := c.Env.Colors()
	for _, b := range attempts {
		for _, one := range b.Blockers {
			fmt.Fprintf(c.Env.Out, "   %s %s  %s: %s\n", colors.Warn("blocked"), bench.Stamp(b.At), term.Printable(one.Code), term.Printable(one.Message))
		}
	}
}

func (c *adminCommand) writePending(h *workrail.History) {
	if h.Pending == nil {
		if h.State == workrail.StateCompleted {
			fmt.Fprintln(c.Env.Out, "\nAll steps are completed.")
		}
		return
	}
	fmt.Fprintf(c.Env.Out, "\nPending  %s\n", c.Env.Colors().Bold(titled(h.Pending.Path, h.Pending.Title)))
	c.writeBlocked(h.Tries)
	indent(c.Env.Out, "   ", "prompt:", h.Pending.Prompt)
	if n := h.Pending.Needs; n != nil {
		for _, line := range n.Lines() {
			fmt.Fprintf(c.Env.Out, "   needs %s\n", term.Printable(line))
		}
	}
}

// indent prints a heading and the lines of a text below it.
func indent(w io.Writer, by, heading, text string) {
	fmt.Fprintf(w, "%s%s\n", by, heading)
	for line := range strings.Lines(strings.TrimSpace(text)) {
		fmt.Fprintf(w, "%s  %s\n", by, term.Printable(strings.TrimRight(line, "\r\n")))
	}
}

// pretty indents JSON.
func pretty(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

func newExport(env *term.Env) *cobra.Command {
	c := &adminCommand{Operator: bench.Operator{Env: env}}
	var out string
	cmd := &cobra.Command{
		Use:   "export ID",
		Short: "Write a session as JSON, healthy or damaged",
		Long: `Write all data of a session as one JSON object: its health, all valid events, events that are readable but cannot be verified,
and the workflow as it was at the start of the session. Nothing is changed. ID is the id of a session, or its first digits.`,
		Example: `  candor workbench workrail export 3f2a9c1d --out session.json
  candor workbench workrail export 3f2a9c1d | jq '.sound[].kind'`,
		Args:              term.OneArg("session", "candor workbench workrail export 3f2a9c1d"),
		ValidArgsFunction: c.completeOne,
		RunE: func(_ *cobra.Command, args []string) error {
			return c.with(func(a *workrail.Admin) error { return c.export(a, args[0], out) })
		},
	}
	c.register(cmd)
	cmd.Flags().StringVar(&out, "out", "", "file to create; default standard output")
	return cmd
}

func (c *adminCommand) export(a *workrail.Admin, typed, out string) error {
	id, err := c.find(a, typed)
	if err != nil {
		return err
	}
	e, err := a.Export(c.Cmd.Context(), id)
	if err != nil {
		return stateError(err)
	}
	if err := term.WriteFileOrOutput(c.Env, out, func(w io.Writer) error { return term.WriteJSONLine(w, e) }); err != nil {
		return err
	}
	if e.Info.State == workrail.StateDamaged {
		c.Env.Notify(c.Cmd, fmt.Sprintf("session is damaged (%s): %s valid, %d more may be wrong",
			damage(&e.Info), term.Count(uint64(len(e.Sound)), "event is", "events are"), len(e.Doubtful)+e.Omitted), "")
	}
	return nil
}
