package workrailcmd

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail"
)

func newRailShow(env *term.Env) *cobra.Command {
	c := &railCommand{env: env}
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show the steps of a session with notes, outputs and blocked attempts",
		Long: `Show what happened in a session: each completed step with its notes, its output, the context keys that it set and the attempts that
were blocked; then the step that is pending and what it needs. ID is the id of a session, or its first digits. Of a damaged
session the sound part is shown. A server may be running.`,
		Example: `  candor workbench workrail show 3f2a9c1d
  candor workbench workrail show 3f2a9c1d --json | jq '.steps[].notes'`,
		Args:              term.OneArg("session", "candor workbench workrail show 3f2a9c1d"),
		ValidArgsFunction: c.completeOne,
		RunE: func(_ *cobra.Command, args []string) error {
			return c.with(func(a *workrail.Admin) error { return c.show(a, args[0]) })
		},
	}
	c.register(cmd)
	c.registerJSON(cmd)
	return cmd
}

// completeOne offers ids for the first argument.
func (c *railCommand) completeOne(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return c.completeSessions(cmd, args, typed)
}

func (c *railCommand) show(a *workrail.Admin, typed string) error {
	id, err := c.find(a, typed)
	if err != nil {
		return err
	}
	h, err := a.History(term.Context(c.cmd.Context()), id)
	if err != nil {
		return railFault(err)
	}
	if c.json {
		return term.WriteJSONLine(c.env.Out, h)
	}
	c.writeHead(h)
	for i := range h.Steps {
		c.writeStep(i+1, &h.Steps[i])
	}
	c.writePending(h)
	return nil
}

func (c *railCommand) writeHead(h *workrail.History) {
	paint, out := c.env.Colors(), c.env.Out
	fmt.Fprintf(out, "Session   %s\n", paint.Name(h.ID))
	fmt.Fprintf(out, "Workflow  %s", term.Printable(h.Workflow))
	if h.Name != "" {
		fmt.Fprintf(out, " (%s)", term.Printable(h.Name))
	}
	fmt.Fprintf(out, "\nState     %s\n", strings.TrimSpace(paintState(paint, h.State)))
	if why := damage(&h.Info); why != "" {
		fmt.Fprintf(out, "Damage    %s\n", paint.Bad(why))
		if h.Doubtful > 0 {
			fmt.Fprintf(out, "          %d more events can be read and may be wrong: candor workbench workrail export %s\n", h.Doubtful, h.ID)
		}
	}
	if h.Goal != "" {
		fmt.Fprintf(out, "Goal      %s\n", term.Printable(h.Goal))
	}
	fmt.Fprintf(out, "Began     %s\nChanged   %s\n", stamped(h.Began), stamped(h.Updated))
}

func (c *railCommand) writeStep(number int, s *workrail.PastStep) {
	paint := c.env.Colors()
	fmt.Fprintf(c.env.Out, "\n%d. %s  %s\n", number, paint.Bold(titled(s.Path, s.Title)), stamped(s.At))
	c.writeBlocked(s.Blocked)
	if s.Notes != "" {
		indent(c.env.Out, "   ", "notes:", s.Notes)
	}
	if len(s.Output) > 0 {
		indent(c.env.Out, "   ", "output:", pretty(s.Output))
	}
	for _, key := range sortedNames(s.Set) {
		value, err := json.Marshal(s.Set[key])
		if err == nil {
			fmt.Fprintf(c.env.Out, "   %s = %s\n", term.Printable(key), term.Truncate(term.Printable(string(value)), 120))
		}
	}
}

func sortedNames(m map[string]any) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func titled(path, title string) string {
	if title == "" || title == path {
		return term.Printable(path)
	}
	return term.Printable(path) + ": " + term.Printable(title)
}

func (c *railCommand) writeBlocked(attempts []workrail.BlockedAttempt) {
	paint := c.env.Colors()
	for _, b := range attempts {
		for _, one := range b.Blockers {
			fmt.Fprintf(c.env.Out, "   %s %s  %s: %s\n", paint.Warn("blocked"), stamped(b.At), term.Printable(one.Code), term.Printable(one.Message))
		}
	}
}

func (c *railCommand) writePending(h *workrail.History) {
	if h.Pending == nil {
		if h.State == workrail.StateCompleted {
			fmt.Fprintln(c.env.Out, "\nAll steps are completed.")
		}
		return
	}
	fmt.Fprintf(c.env.Out, "\nPending  %s\n", c.env.Colors().Bold(titled(h.Pending.Path, h.Pending.Title)))
	c.writeBlocked(h.Tries)
	indent(c.env.Out, "   ", "prompt:", h.Pending.Prompt)
	if n := h.Pending.Needs; n != nil {
		for _, line := range n.Lines() {
			fmt.Fprintf(c.env.Out, "   needs %s\n", term.Printable(line))
		}
	}
}

// indent writes a text of several lines below its heading, safe for a terminal.
func indent(w io.Writer, by, heading, text string) {
	fmt.Fprintf(w, "%s%s\n", by, heading)
	for line := range strings.Lines(strings.TrimSpace(text)) {
		fmt.Fprintf(w, "%s  %s\n", by, term.Printable(strings.TrimRight(line, "\r\n")))
	}
}

// pretty formats JSON for people.
func pretty(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return string(raw)
	}
	return string(text)
}

func newRailExport(env *term.Env) *cobra.Command {
	c := &railCommand{env: env}
	var out string
	cmd := &cobra.Command{
		Use:   "export ID",
		Short: "Write everything of a session as JSON, healthy or damaged",
		Long: `Write everything that is stored of a session as one JSON object: its health, all sound events, events that can be read though
nothing vouches for them, and the workflow as it was when the session was started. Nothing is changed. ID is the id of a
session, or its first digits.`,
		Example: `  candor workbench workrail export 3f2a9c1d --out session.json
  candor workbench workrail export 3f2a9c1d | jq '.sound[].kind'`,
		Args:              term.OneArg("session", "candor workbench workrail export 3f2a9c1d"),
		ValidArgsFunction: c.completeOne,
		RunE: func(_ *cobra.Command, args []string) error {
			return c.with(func(a *workrail.Admin) error { return c.export(a, args[0], out) })
		},
	}
	c.register(cmd)
	cmd.Flags().StringVar(&out, "out", "", "a file to write to, which must not exist; standard output if not given")
	return cmd
}

func (c *railCommand) export(a *workrail.Admin, typed, out string) error {
	id, err := c.find(a, typed)
	if err != nil {
		return err
	}
	e, err := a.Export(term.Context(c.cmd.Context()), id)
	if err != nil {
		return railFault(err)
	}
	if err := term.WriteFileOrOutput(c.env, out, func(w io.Writer) error { return term.WriteJSONLine(w, e) }); err != nil {
		return err
	}
	if e.Info.State == workrail.StateDamaged {
		c.env.Notify(c.cmd, fmt.Sprintf("the session is damaged (%s): %s sound, %d more may be wrong",
			damage(&e.Info), term.Count(uint64(len(e.Sound)), "event is", "events are"), len(e.Doubtful)+e.Omitted), "")
	}
	return nil
}
