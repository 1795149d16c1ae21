package workrailcmd

import (
	"bufio"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/bench"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail"
	"github.com/candor-mcp/candor/ledger"
)

// answerCommand has the flags of `candor workbench workrail answer`.
type answerCommand struct {
	bench.Operator
	text string
}

func newAnswer(env *term.Env) *cobra.Command {
	c := &answerCommand{}
	cmd := &cobra.Command{
		Use:   "answer [SESSION]",
		Short: "Answer a question that a workflow asks a person",
		Long: `Answer the question of the pending step of a session. The agent cannot answer it: its next call of continue_workflow completes the
step with the answer. Without SESSION list the questions that wait for an answer. The server may be running. The ledger has the name and the time.

Exit codes: 0 answered, or listed; 2 an error, such as a session without a question.`,
		Example: `  candor workbench workrail answer
  candor workbench workrail answer 0123456789abcdef --text yes`,
		Args: term.MaxArgs(1, "candor workbench workrail answer 0123456789abcdef"),
		RunE: func(_ *cobra.Command, args []string) error { return c.run(args) },
	}
	c.Operator = bench.Operator{Env: env, Cmd: cmd}
	c.RegisterState(cmd)
	c.RegisterJSON(cmd)
	c.Keep.Register(cmd)
	cmd.Flags().StringVar(&c.By, "by", "", "name of the person; default the current user")
	cmd.Flags().StringVar(&c.text, "text", "", "the answer; needed where standard input is not a terminal")
	return cmd
}

func (c *answerCommand) run(args []string) (err error) {
	if err := c.RequireState(); err != nil {
		return err
	}
	state, err := c.OpenState(c.Env, "workrail")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, state.Close()) }()
	s, err := workrail.New(workrail.Options{State: state})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if len(args) == 0 {
		return c.list(s)
	}
	q, err := s.Question(c.Cmd.Context(), args[0])
	if err != nil {
		return term.BadInput("candor workbench workrail answer lists the questions; name the folder of the server with --state", "session %s: %s", args[0], err)
	}
	if !c.JSON {
		c.show(q)
	}
	text, err := c.read()
	if err != nil {
		return err
	}
	if err := c.record(state, s, q, text); err != nil {
		return term.BadInput("", "%s", err)
	}
	return term.WriteReport(c.Env, c.JSON, map[string]any{"answered": q, "by": c.Person()}, true, func() {
		fmt.Fprintln(c.Env.Out, c.Env.Colors().Good("answered")+"; the agent continues with its next call")
	})
}

func (c *answerCommand) list(s *workrail.System) error {
	all, err := s.Questions(c.Cmd.Context())
	if err != nil {
		return err
	}
	return term.WriteReport(c.Env, c.JSON, map[string]any{"questions": all}, true, func() {
		if len(all) == 0 {
			fmt.Fprintln(c.Env.Out, "No question waits for an answer.")
		}
		for _, q := range all {
			c.show(q)
		}
	})
}

func (c *answerCommand) show(q workrail.Question) {
	fmt.Fprintf(c.Env.Out, "%s  %s, step %s\n", c.Env.Colors().Name(q.Session), q.Workflow, term.Printable(q.Step))
	if q.Goal != "" {
		fmt.Fprintf(c.Env.Out, "    goal: %s\n", term.Printable(q.Goal))
	}
	fmt.Fprintf(c.Env.Out, "    %s\n", term.Printable(q.Text))
}

// read returns the answer of --text, or reads a line of the terminal.
func (c *answerCommand) read() (string, error) {
	switch {
	case c.text != "":
		return c.text, nil
	case c.JSON || !c.Env.Interactive:
		return "", term.BadInput("give the answer with --text", "not a terminal, cannot ask; nothing was answered")
	}
	fmt.Fprint(c.Env.Out, "Answer: ")
	if err := c.Env.Out.Flush(); err != nil {
		return "", err
	}
	return bufio.NewReader(c.Env.In).ReadString('\n')
}

// record records an answer in the ledger and in the session.
func (c *answerCommand) record(state *workbench.State, s *workrail.System, q workrail.Question, text string) error {
	ctx := c.Cmd.Context()
	trail, err := c.OpenLedger(state, "answer")
	if err != nil {
		return err
	}
	if trail == nil {
		return s.Answer(ctx, q, text, c.Person())
	}
	e := ledger.Entry{Tool: "workbench answer", Role: "OPERATOR",
		Data: candor.DetailsOf(map[string]any{"by": c.Person(), "session": q.Session, "step": q.Step})}
	effect, err := trail.Reserve(ctx, e)
	if err == nil {
		err = s.Answer(ctx, q, text, c.Person())
		if e.Outcome = ledger.OutcomeOK; err != nil {
			e.Outcome, e.Code = ledger.OutcomeError, candor.CodeOf(err)
		}
		_, failed := effect.Complete(ctx, e)
		err = errors.Join(err, failed)
	}
	return errors.Join(err, trail.Close())
}
