// Package vet runs the analyser of candorvet over packages, as go vet does, and writes its fixes only if the result compiles.
package vet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/candor-mcp/candor/candorvet"
)

// ErrNoGo means that the go command, which finds and loads packages, is missing.
var ErrNoGo = errors.New("the go command is not installed, or not in PATH")

// ErrNoPackages means that the patterns match nothing.
var ErrNoPackages = errors.New("no packages match")

// BrokenError reports packages that do not compile and so cannot be analysed.
type BrokenError struct {
	Problems []string // compiler errors with their positions
}

// Error returns the first problem and the number of the others.
func (e *BrokenError) Error() string {
	text := e.Problems[0]
	if n := len(e.Problems) - 1; n > 0 {
		text += fmt.Sprintf(" (and %d more)", n)
	}
	return text
}

// Config selects the packages. Dir is the working directory for the patterns, "" for the current one; Patterns are those of
// the go command, and none means the package in Dir.
type Config struct {
	Dir      string
	Patterns []string
	Options  candorvet.Options
}

// Finding is one diagnostic in a form that does not depend on the source. The help of `candor vet` documents its JSON.
type Finding struct {
	Rule      string `json:"rule"` // or "allow" for an invalid allow comment
	File      string `json:"file"` // relative to the folder of [Config] if it is below it
	Line      int    `json:"line"`
	Column    int    `json:"column"` // in bytes, from 1
	EndLine   int    `json:"endLine"`
	EndColumn int    `json:"endColumn"`
	Message   string `json:"message"`
	Next      string `json:"next"`          // advice for the finding
	Fix       string `json:"fix,omitempty"` // the effect of the suggested fix

	edits []edit
}

// Report is the result of one run.
type Report struct {
	Packages int       // number of analysed packages
	Findings []Finding // in the order of files and lines

	config Config
}

// Packages analyses packages. It fails with [ErrNoGo], [ErrNoPackages], a [*BrokenError] or an error of the go command.
func Packages(ctx context.Context, c Config) (*Report, error) { return c.analyse(ctx, nil) }

// analyse analyses the packages on disk, with the files of the overlay.
func (c Config) analyse(ctx context.Context, overlay map[string][]byte) (*Report, error) {
	pkgs, err := c.load(ctx, overlay)
	if err != nil {
		return nil, err
	}
	graph, err := checker.Analyze([]*analysis.Analyzer{candorvet.New(c.Options)}, pkgs, nil)
	if err != nil {
		return nil, fmt.Errorf("analysing: %w", err)
	}
	report := &Report{Packages: len(pkgs), config: c}
	for _, action := range graph.Roots {
		if action.Err != nil {
			return nil, fmt.Errorf("analysing %s: %w", action.Package.PkgPath, action.Err)
		}
		for i := range action.Diagnostics {
			report.Findings = append(report.Findings, c.finding(action.Package.Fset, &action.Diagnostics[i]))
		}
	}
	slices.SortFunc(report.Findings, func(a, b Finding) int { return cmp.Or(cmp.Compare(a.File, b.File), a.compare(b)) })
	// A file may belong to several packages, for example to a program and its variant with other tags.
	report.Findings = slices.CompactFunc(report.Findings, func(a, b Finding) bool { return a.File == b.File && a.compare(b) == 0 })
	return report, nil
}

func (f Finding) compare(other Finding) int {
	return cmp.Or(cmp.Compare(f.Line, other.Line), cmp.Compare(f.Column, other.Column), cmp.Compare(f.Rule, other.Rule))
}

func (c Config) load(ctx context.Context, overlay map[string][]byte) ([]*packages.Package, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return nil, ErrNoGo
	}
	pkgs, err := packages.Load(&packages.Config{
		Mode:    packages.LoadSyntax | packages.NeedModule,
		Context: ctx, Dir: c.Dir, Overlay: overlay,
	}, c.Patterns...)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, fmt.Errorf("loading packages: %w", err)
	case len(pkgs) == 0:
		return nil, ErrNoPackages
	}
	return pkgs, problemsOf(pkgs)
}

// problemsOf returns the errors of packages. Errors of the go command about a pattern have no position.
func problemsOf(pkgs []*packages.Package) error {
	var problems []string
	var missing error
	packages.Visit(pkgs, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			text := strings.Join(strings.Fields(e.Msg), " ")
			if e.Kind == packages.ListError && (e.Pos == "" || e.Pos == "-") {
				missing = fmt.Errorf("%w: %s", ErrNoPackages, text)
			} else if text = e.Pos + ": " + text; !slices.Contains(problems, text) {
				problems = append(problems, text)
			}
		}
	})
	if len(problems) > 0 {
		return &BrokenError{Problems: problems}
	}
	return missing
}

func (c Config) finding(fset *token.FileSet, d *analysis.Diagnostic) Finding {
	from, to := fset.Position(d.Pos), fset.Position(d.End)
	f := Finding{
		Rule: d.Category, File: c.relative(from.Filename), Message: d.Message, Next: candorvet.NextStep(d.Category),
		Line: from.Line, Column: from.Column, EndLine: to.Line, EndColumn: to.Column,
	}
	if len(d.SuggestedFixes) > 0 {
		f.Fix = d.SuggestedFixes[0].Message
		for _, e := range d.SuggestedFixes[0].TextEdits {
			f.edits = append(f.edits, edit{from.Filename, fset.Position(e.Pos).Offset, fset.Position(e.End).Offset, string(e.NewText)})
		}
	}
	return f
}

// relative shortens a file name if that makes it clearer, and uses slashes on every system.
func (c Config) relative(name string) string {
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return filepath.ToSlash(name)
	}
	short, err := filepath.Rel(dir, name)
	if err != nil || short == ".." || strings.HasPrefix(short, ".."+string(filepath.Separator)) {
		return filepath.ToSlash(name)
	}
	return filepath.ToSlash(short)
}
