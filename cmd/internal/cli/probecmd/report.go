package probecmd

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/probe/fakeupstream"
	"github.com/candor-mcp/candor/cmd/internal/probe/profile"
	"github.com/candor-mcp/candor/cmd/internal/probe/report"
	"github.com/candor-mcp/candor/internal/plural"
	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/internal/probe/rules"
)

// writeReport writes the report to --out or standard output.
func (c *probeCommand) writeReport(judged *probe.Report) error {
	o := c.options(judged)
	if c.out == "" {
		o.Colour = c.env.Colors().On
		return report.Write(c.env.Out, c.format, judged, o)
	}
	var text bytes.Buffer
	if err := report.Write(&text, c.format, judged, o); err != nil {
		return err
	}
	if err := term.ReplaceFile(c.out, text.Bytes(), reportMode); err != nil {
		return term.BadInput("choose another file with --out", "%s", err)
	}
	c.env.Notify(c.cmd, fmt.Sprintf("grade %s, %s, written to %s", cmp.Or(string(judged.Grade), "?"), plural.Of(len(judged.Findings), "finding"), c.out), "")
	return nil
}

// writeProfile writes the profile. It never overwrites a file, which may have been edited.
func (c *probeCommand) writeProfile(run *probe.Run) error {
	text := profile.Learn(run).YAML()
	f, err := os.OpenFile(c.profile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // profiles are public
	if err != nil {
		return term.BadInput("choose another file, or remove this one", "--profile-out: %s", err)
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// progress is a line on standard error that is overwritten.
type progress struct {
	env  *term.Env
	on   bool
	last time.Time
	wide int
}

// lineWidth fits into one line of any terminal: a longer one could not be overwritten.
const lineWidth = 79

func (p *progress) show(done, total int, what string) {
	if !p.on || !isTerminal(p.env.Err) || time.Since(p.last) < 50*time.Millisecond && done < total {
		return
	}
	p.last = time.Now()
	const width = 24
	filled := 0
	if total > 0 {
		filled = width * done / total
	}
	line := fmt.Sprintf("%s%s %d/%d %s", strings.Repeat("█", filled), strings.Repeat("░", width-filled), done, total, term.Printable(what))
	line = term.Truncate(line, lineWidth)
	blank := max(0, p.wide-len([]rune(line)))
	p.wide = len([]rune(line))
	fmt.Fprint(p.env.Err, "\r"+line+strings.Repeat(" ", blank))
}

func (p *progress) end() {
	if p.wide > 0 {
		fmt.Fprint(p.env.Err, "\r"+strings.Repeat(" ", p.wide)+"\r")
	}
}

func isTerminal(to io.Writer) bool {
	f, ok := to.(*os.File)
	return ok && term.IsTerminal(f)
}

func newProbeDiff(env *term.Env) *cobra.Command {
	var output term.FormatFlag
	cmd := &cobra.Command{
		Use:   "diff BEFORE AFTER",
		Short: "Compare two reports",
		Long:  "Compare two reports of --format json: new and fixed findings, and changed grades.\n\nExit codes: 0 no regressions; 1 regressions; 2 a file cannot be read.",
		Example: `  candor probe diff main.json branch.json
  candor probe diff main.json branch.json --format markdown`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return term.BadInput("candor probe diff BEFORE AFTER", "give two reports, not %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			format, err := output.Value(cmd)
			if err != nil {
				return err
			}
			var read [2]*probe.Report
			for i, name := range args {
				r, err := readReport(name)
				if err != nil {
					return term.BadInput("give a report of --format json", "%s: %s", name, err)
				}
				read[i] = r
			}
			delta := report.Diff(read[0], read[1])
			if err := report.WriteDelta(env.Out, format, delta, report.Options{Colour: env.Colors().On}); err != nil {
				return err
			}
			if delta.Worse() {
				return term.Found()
			}
			return nil
		},
	}
	output.Register(cmd, report.DeltaFormats()...)
	return cmd
}

func newProbeRules(env *term.Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "rules [RULE]",
		Short:   "List the rules, or explain one",
		Example: "  candor probe rules\n  candor probe rules EC001",
		Args:    term.MaxArgs(1, "candor probe rules EC001"),
		RunE: func(_ *cobra.Command, args []string) error {
			rules := rules.Rules()
			if len(args) == 1 {
				return explainRule(env, rules, strings.ToUpper(args[0]), asJSON)
			}
			return term.WriteReport(env, asJSON, rules, true, func() {
				for _, r := range rules {
					fmt.Fprintf(env.Out, "%s  %s  %s\n", env.Colors().Name(r.ID), term.Pad(string(r.Severity), 8), r.Title)
				}
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func explainRule(env *term.Env, rules []probe.Rule, id string, asJSON bool) error {
	var ids []string
	for _, r := range rules {
		if r.ID != id {
			ids = append(ids, r.ID)
			continue
		}
		return term.WriteReport(env, asJSON, r, true, func() {
			fmt.Fprintf(env.Out, "%s  %s (%s)\n\nWhy      %s\nSource   %s\nFix      %s\nSets     %s\n", r.ID, r.Title, r.Severity, r.Reason, r.Clause, r.Fix, term.JoinWords(r.Sets))
			if r.Outside {
				fmt.Fprintln(env.Out, "Outside  candor wrap fixes it without a change to the server.")
			}
		})
	}
	return term.Unknown("rule", id, ids)
}

// insideWord is the hidden command that runs a server inside the network of the fake upstream.
const insideWord = "probe-inside"

// NewInside returns the hidden command of [fakeupstream.InsideMain].
func NewInside() *cobra.Command {
	return &cobra.Command{
		Use: insideWord, Hidden: true, DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error { return fakeupstream.InsideMain(args) },
	}
}
