package workrailcmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
)

// checkCommand has the flags of `candor workbench workrail check`.
type checkCommand struct {
	env    *term.Env
	cmd    *cobra.Command
	json   bool
	strict bool
}

func newCheck(env *term.Env) *cobra.Command {
	c := &checkCommand{env: env}
	cmd := &cobra.Command{
		Use:   "check FILE…",
		Short: "Check workflow files: each problem with line, column and a hint",
		Long: `Check workflow files, YAML or JSON, and list each problem with line, column and a hint. A folder means the workflow files
in it, - means standard input. Two files with the same id are a problem: a server uses only the first.

Exit codes: 0 all files are valid; 1 a file has errors, or warnings with --strict; 2 a file cannot be read.`,
		Example: `  candor workbench workrail check release.yaml
  candor workbench workrail check ~/workflows --strict
  candor workbench workrail check - --json < draft.yaml`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return term.BadInput("candor workbench workrail check release.yaml", "give at least one file")
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return workflowSuffixes, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: func(cmd *cobra.Command, args []string) error { c.cmd = cmd; return c.run(args) },
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "print one JSON object")
	cmd.Flags().BoolVar(&c.strict, "strict", false, "treat warnings as errors")
	return cmd
}

var workflowSuffixes = []string{"yaml", "yml", "json"}

// checkedFiles is the output of --json.
type checkedFiles struct {
	OK    bool          `json:"ok"`
	Files []checkedFile `json:"files"`
}

// checkedFile is the result for one file.
type checkedFile struct {
	File     string             `json:"file"`
	OK       bool               `json:"ok"`
	Workflow string             `json:"workflowId,omitempty"`
	Steps    int                `json:"steps,omitempty"`
	Hash     string             `json:"hash,omitempty"`
	Problems []workflow.Problem `json:"problems"`
}

func (c *checkCommand) run(args []string) error {
	targets, err := workflowFiles(args)
	if err != nil {
		return err
	}
	files := []checkedFile{}
	taken := map[string]string{}
	ok := true
	for _, target := range targets {
		if target.inFolder && !target.regular {
			ok, files = false, append(files, notRegular(target.name))
			continue
		}
		data, shown, err := c.read(target)
		if err != nil {
			return err
		}
		f := c.check(shown, data, taken)
		ok = ok && f.OK
		files = append(files, f)
	}
	if c.json {
		err = term.WriteJSONLine(c.env.Out, checkedFiles{ok, files})
	} else {
		c.write(files)
	}
	if err == nil && !ok {
		return term.Found()
	}
	return err
}

// checkTarget is a file to check, - for standard input.
type checkTarget struct {
	name     string
	regular  bool
	inFolder bool // an argument named the folder
}

// notRegular returns the result for a file that a server does not read.
func notRegular(name string) checkedFile {
	return checkedFile{File: name, Problems: []workflow.Problem{{File: name, Severity: workflow.SeverityError,
		Message: "file: " + workflow.NotRegular, Hint: "put the file itself into the folder"}}}
}

// workflowFiles replaces folders by the workflow files in them.
func workflowFiles(args []string) ([]checkTarget, error) {
	var targets []checkTarget
	for _, arg := range args {
		info, err := os.Stat(arg)
		if arg == "-" || err == nil && !info.IsDir() {
			targets = append(targets, checkTarget{name: arg, regular: arg == "-" || info.Mode().IsRegular()})
			continue
		}
		if err != nil {
			return nil, term.BadInput("check the name", "%s", err)
		}
		entries, err := os.ReadDir(arg)
		if err != nil {
			return nil, term.BadInput("check the permissions", "%s", err)
		}
		before := len(targets)
		for _, e := range entries {
			if !e.IsDir() && slices.Contains(workflowSuffixes, strings.TrimPrefix(strings.ToLower(filepath.Ext(e.Name())), ".")) {
				targets = append(targets, checkTarget{name: filepath.Join(arg, e.Name()), regular: e.Type().IsRegular(), inFolder: true})
			}
		}
		if len(targets) == before {
			return nil, term.BadInput("workflow files end in .yaml, .yml or .json", "%s: contains no workflow file", arg)
		}
	}
	return targets, nil
}

// read reads a file or standard input, up to one byte more than the maximum size of a workflow.
func (c *checkCommand) read(target checkTarget) (data []byte, shown string, err error) {
	in, shown := io.NopCloser(c.env.In), "stdin"
	if target.name != "-" {
		shown = target.name
		if !target.regular { // opening a named pipe would wait for a writer
			return nil, "", term.BadInput("use - to read from a pipe", "%s: not a regular file", term.Printable(shown))
		}
		if in, err = os.Open(shown); err != nil {
			return nil, "", term.BadInput("check the name and the permissions", "%s", err)
		}
	}
	data, err = io.ReadAll(io.LimitReader(in, workflow.MaxBytes+1))
	if err = errors.Join(err, in.Close()); err != nil {
		return nil, "", term.BadInput("check the name and the permissions", "%s", err)
	}
	return data, shown, nil
}

func (c *checkCommand) check(name string, data []byte, taken map[string]string) checkedFile {
	w, problems := workflow.Check(name, data)
	f := checkedFile{File: name, OK: w != nil, Problems: append([]workflow.Problem{}, problems...)}
	if w != nil {
		f.Workflow, f.Steps, f.Hash = w.ID, len(slices.Collect(w.All)), w.Hash()
		if other, ok := taken[w.ID]; ok {
			f.OK = false
			f.Problems = append(f.Problems, workflow.Problem{File: name, Severity: workflow.SeverityError,
				Message: fmt.Sprintf("id %s: already used by %s", w.ID, other), Hint: "give one of them another id"})
		} else {
			taken[w.ID] = name
		}
	}
	f.OK = f.OK && !(c.strict && len(f.Problems) > 0)
	return f
}

func (c *checkCommand) write(files []checkedFile) {
	colors := c.env.Colors()
	for _, f := range files {
		for _, p := range f.Problems {
			fmt.Fprintln(c.env.Out, p)
		}
		if f.OK {
			fmt.Fprintf(c.env.Out, "%s: %s (%s, %s)\n", colors.Good("OK"), term.Printable(f.File), term.Printable(f.Workflow), term.Count(uint64(f.Steps), "step", "steps")) //nolint:gosec // a count
		} else {
			fmt.Fprintf(c.env.Out, "%s: %s (%s)\n", colors.Bad("FAILED"), term.Printable(f.File), countProblems(f.Problems))
		}
	}
}

// countProblems returns the number of problems in words. The list is limited.
func countProblems(all []workflow.Problem) string {
	if len(all) > workflow.MaxProblems {
		return fmt.Sprintf("more than %d problems", workflow.MaxProblems)
	}
	return term.Count(uint64(len(all)), "problem", "problems")
}

func newSchema(env *term.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of workflow files, for editors",
		Long: `Print the JSON Schema of workflow files, so that an editor completes keys and marks mistakes. This comment on the first
line of a workflow file tells an editor where it is:

  # yaml-language-server: $schema=./workflow.schema.json

The schema does not cover everything: candor workbench workrail check finds the rest.`,
		Example: "  candor workbench workrail schema > workflow.schema.json",
		Args:    term.MaxArgs(0, "candor workbench workrail schema"),
		RunE: func(*cobra.Command, []string) error {
			_, err := env.Out.Write(workflow.Schema())
			return err
		},
	}
}
