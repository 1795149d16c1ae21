package workrailcmd

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
	"github.com/candor-mcp/candor/cmd/internal/yamlfile"
	"github.com/candor-mcp/candor/internal/plural"
)

// checkCommand has the flags of `candor workbench workrail check`.
type checkCommand struct {
	env  *term.Env
	json bool
}

func newCheck(env *term.Env) *cobra.Command {
	c := &checkCommand{env: env}
	cmd := &cobra.Command{
		Use:   "check FILE…",
		Short: "Check workflow files: each problem with line, column and a hint",
		Long: `Check workflow files, YAML or JSON, and list each problem with line, column and a hint. A folder means the workflow files
in it. Two files with the same id are a problem: a server uses only the first.

Exit codes: 0 all files are valid; 1 a file has errors; 2 a file cannot be read.`,
		Example: `  candor workbench workrail check release.yaml
  candor workbench workrail check ~/workflows --json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return term.BadInput("candor workbench workrail check release.yaml", "give at least one file")
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return workflowSuffixes, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: func(_ *cobra.Command, args []string) error { return c.run(args) },
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "print one JSON object")
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
	Problems []yamlfile.Problem `json:"problems"`
}

func (c *checkCommand) run(args []string) error {
	result := checkedFiles{OK: true, Files: []checkedFile{}}
	taken := map[string]string{} // file, by the id of its workflow
	for _, arg := range args {
		names, err := workflowFiles(arg)
		if err != nil {
			return err
		}
		for _, name := range names {
			f, err := check(name, name != arg, taken)
			if err != nil {
				return err
			}
			result.OK = result.OK && f.OK
			result.Files = append(result.Files, f)
		}
	}
	return term.WriteReport(c.env, c.json, result, result.OK, func() { c.write(result.Files) })
}

// workflowFiles returns the workflow files in a folder, or the file.
func workflowFiles(arg string) (names []string, err error) {
	info, err := os.Stat(arg)
	if err == nil && !info.IsDir() {
		return []string{arg}, nil
	}
	var entries []os.DirEntry
	if err == nil {
		entries, err = os.ReadDir(arg)
	}
	if err != nil {
		return nil, term.BadInput("check the name and the permissions", "%s", err)
	}
	for _, e := range entries {
		if !e.IsDir() && slices.Contains(workflowSuffixes, strings.TrimPrefix(strings.ToLower(filepath.Ext(e.Name())), ".")) {
			names = append(names, filepath.Join(arg, e.Name()))
		}
	}
	if len(names) == 0 {
		return nil, term.BadInput("workflow files end in .yaml, .yml or .json", "%s: contains no workflow file", arg)
	}
	return names, nil
}

// check checks a file. A server reads only the regular files in its folder.
func check(name string, inFolder bool, taken map[string]string) (checkedFile, error) {
	stat := os.Stat
	if inFolder {
		stat = os.Lstat
	}
	if info, err := stat(name); err == nil && !info.Mode().IsRegular() {
		if inFolder {
			return failed(name, "file: "+workflow.NotRegular, "put the file itself into the folder"), nil
		}
		return checkedFile{}, term.BadInput("name a file", "%s: not a regular file", term.Printable(name))
	}
	data, err := read(name)
	if err != nil {
		return checkedFile{}, term.BadInput("check the name and the permissions", "%s", err)
	}
	w, problems := workflow.Check(name, data)
	f := checkedFile{File: name, OK: w != nil, Problems: append([]yamlfile.Problem{}, problems...)}
	if w == nil {
		return f, nil
	}
	if other, ok := taken[w.ID]; ok {
		f = failed(name, fmt.Sprintf("id %s: already used by %s", w.ID, other), "give one of them another id")
	} else {
		taken[w.ID] = name
	}
	f.Workflow, f.Steps, f.Hash = w.ID, len(slices.Collect(w.All)), w.Hash()
	return f, nil
}

// failed returns the result for a file that a server does not use.
func failed(name, message, hint string) checkedFile {
	return checkedFile{File: name, Problems: []yamlfile.Problem{{File: name, Text: message, Hint: hint}}}
}

// read reads a file, up to one byte more than the maximum size of a workflow.
func read(name string) ([]byte, error) {
	in, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer in.Close() //nolint:errcheck // it was only read
	return io.ReadAll(io.LimitReader(in, workflow.MaxBytes+1))
}

func (c *checkCommand) write(files []checkedFile) {
	colors := c.env.Colors()
	for _, f := range files {
		for _, p := range f.Problems {
			fmt.Fprintln(c.env.Out, p)
		}
		if f.OK {
			fmt.Fprintf(c.env.Out, "%s: %s (%s, %s)\n", colors.Good("OK"), term.Printable(f.File), term.Printable(f.Workflow), plural.Of(f.Steps, "step"))
		} else {
			fmt.Fprintf(c.env.Out, "%s: %s (%s)\n", colors.Bad("FAILED"), term.Printable(f.File), countProblems(f.Problems))
		}
	}
}

// countProblems returns the number of problems in words. The list is limited.
func countProblems(all []yamlfile.Problem) string {
	if len(all) == workflow.MaxProblems {
		return fmt.Sprintf("%d problems or more", workflow.MaxProblems)
	}
	return plural.Of(len(all), "problem")
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
			_, err := env.Out.Write(workflow.Schema)
			return err
		},
	}
}
