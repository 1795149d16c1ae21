// Package learncmd has the command candor learn.
package learncmd

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/ledgercmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/learn"
	"github.com/candor-mcp/candor/internal/plural"
)

// learnCommand has the flags of `candor learn`.
type learnCommand struct {
	env          *term.Env
	server, tool string
	since        term.AgeFlag
	top          int
	accept       []string
	all, json    bool
	write        string
	ledger       string
}

// New returns the command candor learn.
func New(env *term.Env) *cobra.Command {
	c := &learnCommand{env: env}
	cmd := &cobra.Command{
		Use:   "learn [DIR]",
		Short: "Propose rules for answers that were only suspected to be failures",
		Long: `Read a ledger, group the answers that were recorded as suspected failures by server, tool and shape, and propose
a rule for each shape. A suspicion never changes an answer; with a rule in the profile of the server, such answers are
certain failures. Each proposal has examples, its evidence, and the number of recorded answers that it would have changed.

Shapes that may be data are held back: --all leaves them out, and --accept takes them.

Nothing is written without --write FILE, which creates a profile for candor wrap --profile or extends one; other lines of
the file are kept. --accept and --all choose the rules.

DIR or --ledger is the folder of the ledger; default is the environment variable CANDOR_LEDGER, else candor/ledger in the user's state folder.

Exit codes: 0 done; 2 an error.`,
		Example: `  candor learn
  candor learn --server shop --since 7d
  candor learn --server shop --accept 4f1c9a2e,07aa31c5 --write shop.yaml
  candor learn --server shop --all --write shop.yaml`,
		Args: term.MaxArgs(1, "candor learn DIR"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), cmd, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&c.ledger, "ledger", "", "folder of the ledger, if DIR is not given")
	flags.StringVar(&c.server, "server", "", "only this server")
	flags.StringVar(&c.tool, "tool", "", "only this tool")
	flags.Var(&c.since, "since", "only entries not older than this, such as 24h or 7d")
	flags.IntVar(&c.top, "top", 20, "number of shapes to print; 0 for all")
	flags.StringSliceVar(&c.accept, "accept", nil, "accept the shapes with these ids, or the beginning of an id")
	flags.BoolVar(&c.all, "all", false, "accept all proposals, without those held back")
	flags.StringVar(&c.write, "write", "", "profile to create or extend with the accepted rules")
	flags.BoolVar(&c.json, "json", false, "print one JSON object")
	return cmd
}

func (c *learnCommand) run(ctx context.Context, cmd *cobra.Command, args []string) error {
	if c.top < 0 {
		return term.BadInput("0 prints all", "--top %d: negative", c.top)
	}
	if c.write != "" && !c.all && len(c.accept) == 0 {
		return term.BadInput("use --accept ID or --all", "--write: no rule was chosen")
	}
	file, err := c.profile()
	if err != nil {
		return err
	}
	found, err := c.read(ctx, args, file)
	if err != nil {
		return err
	}
	chosen, err := c.chosen(found)
	if err != nil {
		return err
	}
	out := report{found: found, top: c.top, env: c.env, dir: args, command: c}
	if !c.json {
		out.text()
	}
	done, err := c.save(file, chosen)
	if err != nil {
		return err
	}
	if c.json {
		return out.json(chosen, done)
	}
	out.end(chosen, done)
	if found.Suspected == 0 && len(found.Others) > 0 {
		c.env.Notify(cmd, "other suspected failures were not selected", "they are of "+term.Printable(strings.Join(found.Others, ", ")))
	}
	if found.Skipped > 0 {
		c.env.Notify(cmd, plural.Count(found.Skipped, "invalid line was", "invalid lines were")+" skipped", "run candor ledger verify")
	}
	return nil
}

// read reads the ledger.
func (c *learnCommand) read(ctx context.Context, args []string, file *profileFile) (*learn.Findings, error) {
	r, err := ledgercmd.OpenReader(c.env, c.ledger, args)
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // it was only read
	o := learn.Options{Server: c.server, Tool: c.tool}
	if c.since > 0 {
		o.Since = c.env.Now().Add(-time.Duration(c.since))
	}
	if file != nil && file.rules != nil {
		o.Profile = file.rules.Rules
	}
	found, err := learn.Read(ctx, r, o)
	if err != nil {
		return nil, term.BadInput("check the name and the permissions of the folder", "%s", err)
	}
	return found, nil
}

// completeID returns the only id that begins with prefix.
func completeID(found *learn.Findings, prefix string) (id string, err error) {
	var lines []string
	for i := range found.Shapes {
		s := &found.Shapes[i]
		if prefix != "" && strings.HasPrefix(s.ID, strings.ToLower(prefix)) {
			id = s.ID
			lines = append(lines, fmt.Sprintf("  %s  %s  %s", s.ID, printed(s.Server), term.Printable(s.Tool)))
		}
	}
	const most = 10
	switch n := len(lines); {
	case n == 0:
		return "", term.BadInput("run candor learn without --accept to list the ids", "--accept %s: no such shape", term.Printable(prefix))
	case n > most:
		lines = append(lines[:most], "  …")
		fallthrough
	case n > 1:
		return "", term.BadInput("give more characters of the id", "--accept %s: ambiguous, %d ids begin with it:\n%s", prefix, n, strings.Join(lines, "\n"))
	}
	return id, nil
}

// chosen returns the shapes that the flags accept.
func (c *learnCommand) chosen(found *learn.Findings) (out []learn.Shape, err error) {
	accepted := map[string]bool{}
	for _, prefix := range c.accept {
		id, err := completeID(found, prefix)
		if err != nil {
			return nil, err
		}
		accepted[id] = true
	}
	for _, s := range found.Shapes {
		if accepted[s.ID] || c.all && s.Held == "" {
			out = append(out, s)
		}
	}
	return out, nil
}
