package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/cmd/internal/probe/fake"
	"github.com/candor-mcp/candor/cmd/internal/probe/judge"
	"github.com/candor-mcp/candor/cmd/internal/probe/profile"
	"github.com/candor-mcp/candor/cmd/internal/probe/report"
)

// writeReport writes the report where it is wanted.
func (c *probeCommand) writeReport(judged *probe.Report) error {
	if c.out == "" {
		return report.Write(c.w.out, c.format, judged, report.Options{Colour: c.w.paint().on})
	}
	var text bytes.Buffer
	if err := report.Write(&text, c.format, judged, report.Options{}); err != nil {
		return err
	}
	if err := writeWhole(c.out, text.Bytes()); err != nil {
		return bad("choose another file with --out", "%s", err)
	}
	c.w.notify(c.cmd, fmt.Sprintf("grade %s, %s, written to %s", cmp.Or(string(judged.Grade), "?"), count(uint64(len(judged.Findings)), "finding", "findings"), c.out), "")
	return nil
}

// writeProfile writes what was learnt. It never overwrites: a person may have changed the file.
func (c *probeCommand) writeProfile(run *probe.Run) error {
	text := profile.Learn(run).YAML()
	f, err := os.OpenFile(c.profile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // a profile is for others to read
	if err != nil {
		return bad("choose another file, or remove that one", "--profile-out: %s", err)
	}
	_, err = f.Write(text)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// progress is one line on standard error that is written over.
type progress struct {
	w    *world
	on   bool
	last time.Time
	wide int
	told bool // that the run could not be kept
}

// lineWidth is what fits on one line of any terminal: what does not cannot be written over.
const lineWidth = 79

func (p *progress) show(done, total int, what string) {
	if !p.on || !isTerminal(p.w.err) || time.Since(p.last) < 50*time.Millisecond && done < total {
		return
	}
	p.last = time.Now()
	const width = 24
	filled := 0
	if total > 0 {
		filled = width * done / total
	}
	line := fmt.Sprintf("%s%s %d/%d %s", strings.Repeat("█", filled), strings.Repeat("░", width-filled), done, total, plain(what))
	if runes := []rune(line); len(runes) > lineWidth {
		line = string(runes[:lineWidth-1]) + "…"
	}
	blank := max(0, p.wide-len([]rune(line)))
	p.wide = len([]rune(line))
	fmt.Fprint(p.w.err, "\r"+line+strings.Repeat(" ", blank))
}

func (p *progress) end() {
	if p.wide > 0 {
		fmt.Fprint(p.w.err, "\r"+strings.Repeat(" ", p.wide)+"\r")
	}
}

// complain says once that a file could not be written; the run goes on.
func (p *progress) complain(err error) {
	if err != nil && !p.told {
		p.told = true
		p.end()
		fmt.Fprintf(p.w.err, "candor probe: the run could not be kept: %s\n", err)
	}
}

func isTerminal(to io.Writer) bool {
	f, ok := to.(*os.File)
	return ok && modeOf(f)&os.ModeCharDevice != 0
}

func newProbeDiff(w *world) *cobra.Command {
	var format string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "diff BEFORE AFTER",
		Short: "Compare two reports",
		Long:  "Compare two reports that --format json has written: findings that are new or gone, grades that fell or rose.\n\nExit code 1: something got worse. 2: a file cannot be read.",
		Example: `  candor probe diff main.json branch.json
  candor probe diff main.json branch.json --format markdown`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return bad("candor probe diff BEFORE AFTER", "give two reports, not %d", len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if asJSON {
				format = "json"
			}
			if formats := []string{"text", "json", "markdown"}; !contains(formats, format) {
				return unknown("--format", format, formats)
			}
			var read [2]*probe.Report
			for i, name := range args {
				r, err := readReport(name)
				if err != nil {
					return bad("give a report that --format json has written", "%s: %s", name, err)
				}
				read[i] = r
			}
			delta := report.Diff(read[0], read[1])
			if err := report.WriteDelta(w.out, format, delta, report.Options{Colour: w.paint().on}); err != nil {
				return err
			}
			if delta.Worse() {
				return found()
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text, json or markdown")
	cmd.Flags().BoolVar(&asJSON, "json", false, "the same as --format json")
	return cmd
}

func newProbeRules(w *world) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "rules [RULE]",
		Short:   "List the rules, or explain one",
		Example: "  candor probe rules\n  candor probe rules EC001",
		Args:    atMost(1, "candor probe rules EC001"),
		RunE: func(_ *cobra.Command, args []string) error {
			rules := judge.Rules()
			if len(args) == 1 {
				return explainRule(w, rules, strings.ToUpper(args[0]), asJSON)
			}
			if asJSON {
				return writeLine(w.out, rules)
			}
			for _, r := range rules {
				fmt.Fprintf(w.out, "%s  %s  %s\n", w.paint().name(r.ID), pad(string(r.Severity), 8), r.Title)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func explainRule(w *world, rules []probe.Rule, id string, asJSON bool) error {
	var ids []string
	for _, r := range rules {
		if r.ID != id {
			ids = append(ids, r.ID)
			continue
		}
		if asJSON {
			return writeLine(w.out, r)
		}
		fmt.Fprintf(w.out, "%s  %s (%s)\n\nWhy      %s\nSource   %s\nFix      %s\nSets     %s\n", r.ID, r.Title, r.Severity, r.Reason, r.Clause, r.Fix, joinWords(r.Sets))
		if r.Outside {
			fmt.Fprintln(w.out, "Outside  candor wrap mends it without touching the server.")
		}
		return nil
	}
	return unknown("rule", id, ids)
}

// insideWord is the hidden command that runs a server inside the network of the fake upstream.
const insideWord = "probe-inside"

// newProbeInside is not for people: see [fake.InsideMain].
func newProbeInside() *cobra.Command {
	return &cobra.Command{
		Use: insideWord, Hidden: true, DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error { return fake.InsideMain(args) },
	}
}
