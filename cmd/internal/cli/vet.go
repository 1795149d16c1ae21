//go:build !slim

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
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/vet"
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
for tools, prompts and resources hide a failure. PACKAGES are patterns as for the go command; the default
is the package in the current folder. The rules:

` + vetRules() + `
A comment allows one rule on one line, its own or the one below, and must give a reason:

  n, _ := strconv.Atoi(s) //candor:allow swallowed zero is the default

With --fix all known fixes are written, or none: only if the packages compile with them.
Exit codes: 0 no findings, or none left; 1 findings; 2 the packages could not be read or do not compile.

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
	cmd.Flags().BoolVar(&c.fix, "fix", false, "write the known fixes")
	cmd.Flags().BoolVar(&c.all, "all", false, "apply logandcontinue and swallowed to all functions, not only to handlers")
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
	for i, name := range c.rules {
		if !term.MatchFold(candorvet.RuleNames(), &c.rules[i]) {
			return term.Unknown("rule", name, candorvet.RuleNames())
		}
	}
	report, err := vet.Packages(cmd.Context(), vet.Config{Patterns: patterns, Options: candorvet.Options{All: c.all, Rules: c.rules}})
	if err != nil {
		return vetError(err, patterns)
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

// writeFixes writes the fixes and returns the remaining findings. Ctrl-C stops it only before the first file is written.
func (c *vetCommand) writeFixes(env *term.Env, cmd *cobra.Command, report *vet.Report) (*vet.Report, error) {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
	defer stop()
	done, err := report.Fix(ctx)
	if done != nil && len(done.Files) > 0 {
		env.Notify(cmd, "fixed "+strings.Join(done.Files, ", "), "replace CodeUnknownToolFailure by a better code; candor codes lists them")
	}
	var broken *vet.BrokenError
	switch {
	case err == nil:
		return done.After, nil
	case errors.Is(err, context.Canceled):
		return nil, term.BadInput("run the command again", "interrupted; nothing was written")
	case errors.As(err, &broken) && strings.Contains(broken.Error(), "provides package "+candorPath):
		return nil, term.BadInput("go get "+candorPath+", then run the command again", "nothing was written: the fixes need a module that is not in go.mod")
	case errors.As(err, &broken):
		return nil, term.BadInput("fix by hand, or choose rules with --rules", "nothing was written: the fixed code does not compile: %s", broken)
	default:
		return nil, term.BadInput("make the files writable", "%s", err)
	}
}

const candorPath = "github.com/candor-mcp/candor"

// vetError adds the next step to an error of reading packages.
func vetError(err error, patterns []string) *term.Error {
	named := strings.Join(patterns, " ")
	var broken *vet.BrokenError
	switch {
	case errors.Is(err, vet.ErrNoGo):
		return term.BadInput("install Go, or add its folder to PATH", "%s", err)
	case errors.Is(err, vet.ErrNoPackages):
		return term.BadInput("name packages of a module as for go build, such as ./...", "%s", err)
	case errors.As(err, &broken):
		return term.BadInput("fix the errors of go build "+named+", then run the command again", "%s", broken)
	default:
		return term.BadInput("run it in the folder of a Go module", "%s", err)
	}
}

func writeFinding(env *term.Env, format string, f *vet.Finding) error {
	if format != "json" {
		p := env.Colors()
		rule, rest, _ := strings.Cut(f.Message, ": ")
		_, err := fmt.Fprintf(env.Out, "%s: %s: %s\n", p.Name(fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)), p.Bad(rule), rest)
		return err
	}
	return term.WriteJSONLine(env.Out, f)
}
