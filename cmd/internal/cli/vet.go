package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/candorvet"
	"github.com/candor-mcp/candor/candorvet/check"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// vetCommand holds the flags of `candor vet`.
type vetCommand struct {
	term.FormatFlag
	fix, all bool
	rules    []string
}

func newVet(env *term.Env) *cobra.Command {
	c := &vetCommand{}
	cmd := &cobra.Command{
		Use:   "vet [PACKAGES]",
		Short: "Find failures that the handlers of a Go server hide",
		Long: `Read the source of an MCP server in Go, on the official go-sdk or on mcp-go, and find where its handlers
for tools, prompts and resources hide a failure. PACKAGES are those of the go command; without any it
is the package in the current folder. The rules:

` + vetRules() + `
A comment allows one rule on one line, its own or the one below, and must give a reason:

  n, _ := strconv.Atoi(s) //candor:allow swallowed zero is the default

With --fix the fixes that are known are written, all or none: only if the packages compile with them.
The exit code is 0 if nothing is found, or nothing is left, 1 if there are findings, and 2 if the packages
could not be read or do not compile.

With --json each finding is one line, an object with these members, in this order:

  rule             the rule, or allow for a comment that allows nothing
  file             the file, relative to the current folder if it is below
  line, column     where it begins, from 1, the column in bytes
  endLine, endColumn  where it ends
  message          what is wrong and what to do, in one sentence
  next             what to do
  fix              what --fix would do, only if it can do something`,
		Example: `  candor vet ./...
  candor vet --fix ./...
  candor vet --rules maskederror,swallowed --all --json ./...`,
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(env, cmd, args) },
	}
	c.Register(cmd, "text", "json")
	cmd.Flags().BoolVar(&c.fix, "fix", false, "write the fixes that are known")
	cmd.Flags().BoolVar(&c.all, "all", false, "look for logandcontinue and swallowed in every function, not in handlers only")
	cmd.Flags().StringSliceVar(&c.rules, "rules", nil, "only these rules: "+strings.Join(candorvet.RuleNames(), ", "))
	term.CompleteFlag(cmd, "rules", candorvet.RuleNames())
	return cmd
}

func vetRules() string {
	var b strings.Builder
	for _, r := range candorvet.Rules() {
		fmt.Fprintf(&b, "  %s %s\n", term.Pad(r.Name, 15), r.Summary)
	}
	return b.String()
}

func (c *vetCommand) run(env *term.Env, cmd *cobra.Command, patterns []string) error {
	format, err := c.Value(cmd)
	if err != nil {
		return err
	}
	for _, name := range c.rules {
		if !term.ContainsFold(candorvet.RuleNames(), name) {
			return term.Unknown("rule", name, candorvet.RuleNames())
		}
	}
	report, err := check.Packages(cmd.Context(), check.Config{
		Patterns: patterns, Options: candorvet.Options{All: c.all, Rules: lower(c.rules)},
	})
	if err != nil {
		return vetFault(err, patterns)
	}
	if c.fix {
		if report, err = c.writeFixes(env, cmd, report); err != nil {
			return err
		}
	}
	for i := range report.Findings {
		if err := writeFinding(env, format, &report.Findings[i]); err != nil {
			return err
		}
	}
	if len(report.Findings) > 0 {
		return term.Found()
	}
	return nil
}

func lower(words []string) []string {
	var out []string
	for _, word := range words {
		out = append(out, strings.ToLower(word))
	}
	return out
}

// writeFixes returns what is left. An interrupt before the first file is written ends it, and after that it waits for the last.
func (c *vetCommand) writeFixes(env *term.Env, cmd *cobra.Command, report *check.Report) (*check.Report, error) {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
	defer stop()
	done, err := report.Fix(ctx)
	if done != nil && len(done.Files) > 0 {
		env.Notify(cmd, "fixed "+strings.Join(done.Files, ", "), "choose a better code where it says CodeUnknownToolFailure; candor codes lists them")
	}
	var broken *check.BrokenError
	switch {
	case err == nil:
		return done.After, nil
	case errors.Is(err, context.Canceled):
		return nil, term.BadInput("run it again", "interrupted: nothing was written")
	case errors.As(err, &broken) && strings.Contains(broken.Error(), "provides package "+candorPath):
		return nil, term.BadInput("go get "+candorPath+", then run it again", "nothing was written: the fixes need a module that is not in go.mod")
	case errors.As(err, &broken):
		return nil, term.BadInput("fix by hand, or choose with --rules", "nothing was written: with the fixes it would not compile: %s", broken)
	default:
		return nil, term.BadInput("see to it that the files can be written", "%s", err)
	}
}

const candorPath = "github.com/candor-mcp/candor"

// vetFault gives each way in which packages cannot be read its next step.
func vetFault(err error, patterns []string) *term.Error {
	named := strings.Join(patterns, " ")
	var broken *check.BrokenError
	switch {
	case errors.Is(err, check.ErrNoGo):
		return term.BadInput("install Go, or put its folder into PATH", "%s", err)
	case errors.Is(err, check.ErrNoPackages):
		return term.BadInput("name packages of a module as for go build, such as ./...", "%s", err)
	case errors.As(err, &broken):
		return term.BadInput("repair what go build "+named+" says, then run it again", "%s", broken)
	default:
		return term.BadInput("run it in the folder of a module, as go build", "%s", err)
	}
}

// findingRow is a finding as JSON; the help of the command documents it.
type findingRow struct {
	Rule      string `json:"rule"`
	File      string `json:"file"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"endLine"`
	EndColumn int    `json:"endColumn"`
	Message   string `json:"message"`
	Next      string `json:"next"`
	Fix       string `json:"fix,omitempty"`
}

func writeFinding(env *term.Env, format string, f *check.Finding) error {
	if format != "json" {
		p := env.Colors()
		rule, rest, _ := strings.Cut(f.Message, ": ")
		_, err := fmt.Fprintf(env.Out, "%s: %s: %s\n", p.Name(fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)), p.Bad(rule), rest)
		return err
	}
	line, err := term.MarshalJSON(findingRow{f.Rule, f.File, f.Line, f.Column, f.EndLine, f.EndColumn, f.Message, f.Next, f.Fix})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.Out, "%s\n", line)
	return err
}
