package workrailcmd

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/bench"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail"
)

// sessionsCommand has the flags of `candor workbench workrail sessions`.
type sessionsCommand struct {
	adminCommand
	all      bool
	states   []string
	workflow string
	since    string
	limit    int
}

func stateNames() []string {
	return term.Strings([]workrail.State{workrail.StateOpen, workrail.StateBlocked, workrail.StateCompleted, workrail.StateDamaged})
}

func newSessions(env *term.Env) *cobra.Command {
	c := &sessionsCommand{adminCommand: adminCommand{Operator: bench.Operator{Env: env}}}
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List the sessions, their steps and why they are blocked",
		Long: `List the sessions that are not completed, the last changed first: workflow, pending step, number of completed steps, and why the
last attempt was blocked. Damaged sessions are listed with the reason. The server may be running.`,
		Example: `  candor workbench workrail sessions
  candor workbench workrail sessions --is blocked
  candor workbench workrail sessions --all --workflow release --since 30d --json`,
		Args: term.MaxArgs(0, "candor workbench workrail sessions"),
		RunE: func(*cobra.Command, []string) error { return c.with(c.run) },
	}
	c.register(cmd)
	c.RegisterJSON(cmd)
	flags := cmd.Flags()
	flags.BoolVarP(&c.all, "all", "a", false, "also list completed sessions")
	flags.StringSliceVar(&c.states, "is", nil, "only sessions that are "+term.JoinWords(stateNames())+"; may be repeated")
	flags.StringVar(&c.workflow, "workflow", "", "only sessions of this workflow id")
	flags.StringVar(&c.since, "since", "", "only sessions changed within this time, such as 15m, 24h or 7d")
	flags.IntVar(&c.limit, "limit", 0, "maximum number of sessions; default all")
	term.CompleteFlag(cmd, "is", stateNames())
	return cmd
}

// sessionList is the output of --json.
type sessionList struct {
	Sessions []workrail.Info `json:"sessions"`
	More     int             `json:"more,omitempty"`   // number omitted by --limit
	Hidden   int             `json:"hidden,omitempty"` // number of completed sessions, without --all
}

func (c *sessionsCommand) run(a *workrail.Admin) error {
	since, err := c.check()
	if err != nil {
		return err
	}
	ctx, stop := term.StopContext(c.Cmd)
	defer stop()
	show, clearLine := c.progress("reading session")
	all, err := a.Sessions(ctx, show)
	clearLine()
	if err != nil {
		return stateError(err)
	}
	list := c.filter(all, since)
	if c.JSON {
		return term.WriteJSONLine(c.Env.Out, list)
	}
	for i := range list.Sessions {
		c.show(&list.Sessions[i])
	}
	c.sum(&list)
	return nil
}

func (c *sessionsCommand) check() (since time.Time, err error) {
	for _, s := range c.states {
		if !slices.Contains(stateNames(), s) {
			return since, term.Unknown("--is", s, stateNames())
		}
	}
	if c.limit < 0 {
		return since, term.BadInput("such as --limit 20", "--limit: negative")
	}
	if c.since != "" {
		age, err := term.ParseAge(c.since)
		if err != nil {
			return since, term.BadInput("a duration such as 15m, 24h or 7d", "--since %q: not a duration", c.since)
		}
		since = c.Env.Now().Add(-age)
	}
	return since, nil
}

func (c *sessionsCommand) filter(all []workrail.Info, since time.Time) sessionList {
	list := sessionList{Sessions: []workrail.Info{}}
	for i := range all {
		s := &all[i]
		switch {
		case c.workflow != "" && s.Workflow != c.workflow, s.Updated.Before(since),
			len(c.states) > 0 && !slices.Contains(c.states, string(s.State)):
		case s.State == workrail.StateCompleted && !c.all && len(c.states) == 0:
			list.Hidden++
		case c.limit > 0 && len(list.Sessions) == c.limit:
			list.More++
		default:
			list.Sessions = append(list.Sessions, *s)
		}
	}
	return list
}

// show prints a session with its goal, blockers and damage.
func (c *sessionsCommand) show(s *workrail.Info) {
	colors := c.Env.Colors()
	fmt.Fprintf(c.Env.Out, "%s  %s  %s  %s\n", colors.Name(s.ID), stateWord(colors, s.State), position(s), bench.Stamp(s.Updated))
	if s.Goal != "" {
		fmt.Fprintf(c.Env.Out, "    goal: %s\n", term.Truncate(term.Printable(s.Goal), 120))
	}
	if s.Attempts > 0 {
		fmt.Fprintf(c.Env.Out, "    blocked %s\n", times(s.Attempts))
	}
	for _, b := range s.Blockers {
		fmt.Fprintf(c.Env.Out, "    %s: %s\n", colors.Warn(term.Printable(b.Code)), term.Printable(b.Message))
	}
	if why := damage(s); why != "" {
		fmt.Fprintf(c.Env.Out, "    %s\n", colors.Bad(why))
	}
}

// position describes the workflow and the current step of a session.
func position(s *workrail.Info) string {
	switch {
	case s.Workflow == "":
		return "of an unknown workflow"
	case s.Step == "":
		return fmt.Sprintf("%s  no step is pending, %d completed", term.Printable(s.Workflow), s.Completed)
	}
	return fmt.Sprintf("%s  step %s, %d completed", term.Printable(s.Workflow), term.Printable(s.Step), s.Completed)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// damage describes the damage of a session, or returns "".
func damage(s *workrail.Info) string {
	switch {
	case s.Reason != nil:
		return fmt.Sprintf("%s, %s: %s", s.Health, s.Reason.Code, term.Printable(s.Reason.Message))
	case s.Problem != "":
		return "cannot be read: " + term.Printable(s.Problem)
	}
	return ""
}

func stateWord(p term.Colors, s workrail.State) string {
	word := term.Pad(string(s), len(workrail.StateCompleted))
	switch s {
	case workrail.StateBlocked:
		return p.Warn(word)
	case workrail.StateDamaged:
		return p.Bad(word)
	case workrail.StateOpen, workrail.StateCompleted:
		return p.Good(word)
	}
	return word
}

// sum prints the number of sessions by state.
func (c *sessionsCommand) sum(list *sessionList) {
	counts := map[workrail.State]int{}
	for i := range list.Sessions {
		counts[list.Sessions[i].State]++
	}
	var parts []string
	for _, s := range stateNames() {
		if n := counts[workrail.State(s)]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	if len(parts) == 0 {
		parts = []string{"no sessions"}
	}
	text := strings.Join(parts, ", ")
	if list.More > 0 {
		text += fmt.Sprintf("; %d more, omitted by --limit", list.More)
	}
	if list.Hidden > 0 {
		text += fmt.Sprintf("; %d completed, shown with --all", list.Hidden)
	}
	fmt.Fprintln(c.Env.Out, text)
}
