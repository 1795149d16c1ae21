// Package doctorcmd has the commands that help to set Candor up: doctor and init.
package doctorcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/clientconfig"
	"github.com/candor-mcp/candor/cmd/internal/doctor"
	"github.com/candor-mcp/candor/internal/plural"
)

// defaultConfig is the configuration file of the gateway in the current folder.
const defaultConfig = "candor.yaml"

// doctorCommand has the flags of `candor doctor`.
type doctorCommand struct {
	env     *term.Env
	options doctor.Options
	sources sourceFlags
	minFree term.BytesFlag
	json    bool
}

// NewDoctor returns `candor doctor`.
func NewDoctor(env *term.Env) *cobra.Command {
	c := &doctorCommand{env: env, minFree: 1 << 30}
	cmd := &cobra.Command{
		Use:   "doctor [-- SERVER…]",
		Short: "Check the set-up and say what to do",
		Long: `Check a set-up from end to end: the program, the configuration of candor gateway, the ledger, the files of
clients, and the servers. Each check reports ok, warning, failed or skipped, and the next step if something is
wrong. Nothing is changed.

The servers that the configuration, the command line, --from and --client name are started, or connected to: each
gets initialize and tools/list, no tool is called, and it is stopped again with all its processes. A server behind
candor wrap is started without wrap, so that nothing is recorded. --no-start starts and connects to none. Without
--from and --client the files of all known clients are read, and their servers are not started.

Servers in files of the current folder (candor.yaml, .mcp.json, .cursor/mcp.json, …) are listed, but are started or
connected to only with --project, or if --config or --from names the file: the folder may be a clone of a repository
of others.

Programs that the desktop starts often have a shorter PATH than a shell. Commands in files of such clients are
looked up there: on macOS in ` + "/usr/bin:/bin:/usr/sbin:/sbin" + `, else in PATH. --gui-path gives another list. Commands of clients
that run in a terminal are looked up in PATH.

Exit codes: 0 nothing failed; 1 a check failed; 2 the checks could not run.`,
		Example: `  candor doctor
  candor doctor --config candor.yaml --key signer.pub
  candor doctor --client cursor
  candor doctor --client cursor --project
  candor doctor --from mcp.json --no-start
  candor doctor --json -- npx -y some-mcp-server`,
		Args: c.checkArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd, args) },
	}
	c.register(cmd)
	return cmd
}

func (c *doctorCommand) register(cmd *cobra.Command) {
	flags, o := cmd.Flags(), &c.options
	flags.StringVar(&o.Config, "config", "", "configuration file of candor gateway; default "+defaultConfig+" if it exists")
	c.sources.register(cmd)
	flags.StringVar(&o.Ledger, "ledger", "", "folder of the ledger, or none; default that of the configuration, else as for candor wrap")
	flags.StringVar(&o.Keys, "key", "", "copy of the ledger's public keys that is kept elsewhere")
	flags.Var(&c.minFree, "min-free", "free disk space below which to warn; default 1GiB")
	flags.StringVar(&o.GUIPath, "gui-path", "", "PATH of programs that the desktop starts")
	flags.DurationVar(&o.Timeout, "timeout", 30*time.Second, "time limit for each server")
	flags.BoolVar(&o.NoStart, "no-start", false, "start no server and connect to none")
	flags.BoolVar(&c.json, "json", false, "print one JSON object")
}

func (c *doctorCommand) checkArgs(cmd *cobra.Command, args []string) error {
	const example = "candor doctor -- npx -y some-mcp-server"
	switch dash := cmd.ArgsLenAtDash(); {
	case len(args) == 0 && dash < 0:
		return nil
	case len(args) == 0 || args[0] == "":
		return term.BadInput(example, "empty command of the server")
	case dash != 0:
		return term.BadInput(example, "%q: put -- before the command of a server", args[0])
	}
	return nil
}

// doctorReport is the output of --json.
type doctorReport struct {
	OK       bool             `json:"ok"`
	Failed   int              `json:"failed"`
	Warnings int              `json:"warnings"`
	Checks   []doctor.Finding `json:"checks"`
}

func (c *doctorCommand) run(cmd *cobra.Command, args []string) error {
	if err := c.complete(cmd, args); err != nil {
		return err
	}
	ctx, stop := term.StopContext(cmd)
	defer stop()
	report := doctorReport{OK: true, Checks: []doctor.Finding{}}
	err := doctor.Run(ctx, c.options, func(f doctor.Finding) {
		report.add(f)
		if !c.json {
			c.show(f)
		}
	})
	switch {
	case errors.Is(err, context.Canceled):
		return term.BadInput("run it again; no server was left running", "interrupted")
	case err != nil:
		return err
	}
	return term.WriteReport(c.env, c.json, report, report.OK, func() { c.sum(&report) })
}

// complete sets the options that are not flags.
func (c *doctorCommand) complete(cmd *cobra.Command, args []string) error {
	o := &c.options
	if o.Timeout <= 0 {
		return term.BadInput("such as 30s", "--timeout %s: not above zero", o.Timeout)
	}
	if o.Config == "" {
		if _, err := os.Stat(defaultConfig); !errors.Is(err, fs.ErrNotExist) {
			o.Config, o.Found = defaultConfig, !c.sources.project
		}
	}
	o.Version = term.ReadBuildInfo().Version
	var err error
	if o.Clients, err = c.sources.read(c.env, cmd); err != nil {
		return err
	}
	if o.Executable, err = os.Executable(); err != nil {
		return fmt.Errorf("finding the path of this program: %w", err)
	}
	o.Command, o.MinFree, o.Guard = args, int64(c.minFree), term.GuardCommand()
	o.Getenv, o.Environ = c.env.Getenv, os.Environ()
	return nil
}

func (r *doctorReport) add(f doctor.Finding) {
	r.Checks = append(r.Checks, f)
	switch f.Result {
	case doctor.Failed:
		r.OK = false
		r.Failed++
	case doctor.Warning:
		r.Warnings++
	case doctor.OK, doctor.Skipped:
	}
}

// width is that of the longest name of a check.
func width() (n int) {
	for _, name := range doctor.Names() {
		n = max(n, len(name))
	}
	return n
}

func (c *doctorCommand) show(f doctor.Finding) {
	colors, word := c.env.Colors(), term.Pad(string(f.Result), len(doctor.Warning))
	switch f.Result {
	case doctor.OK:
		word = colors.Good(word)
	case doctor.Warning:
		word = colors.Warn(word)
	case doctor.Failed:
		word = colors.Bad("FAILED ")
	case doctor.Skipped:
		word = colors.Faint(word)
	}
	text := f.Text
	if f.Subject != "" && (f.Check == "server" || f.Check == "command") {
		text = f.Subject + ": " + text
	}
	if home := c.env.Getenv(clientconfig.HomeVariable()); len(home) > 1 { // shorter lines; the next steps have full paths
		text = strings.ReplaceAll(text, home+string(filepath.Separator), "~"+string(filepath.Separator))
	}
	fmt.Fprintf(c.env.Out, "%s  %s  %s\n", word, term.Pad(f.Check, width()), term.Printable(text))
	if f.Next != "" {
		fmt.Fprintf(c.env.Out, "%s  next: %s\n", term.Pad("", len(doctor.Warning)+2+width()), term.Printable(f.Next))
	}
	_ = c.env.Out.EndLine() // Run reports the error
}

func (c *doctorCommand) sum(r *doctorReport) {
	colors := c.env.Colors()
	warnings := ""
	if r.Warnings > 0 {
		warnings = ", " + plural.Of(r.Warnings, "warning")
	}
	if r.OK {
		fmt.Fprintf(c.env.Out, "%s: nothing failed%s\n", colors.Good("OK"), warnings)
		return
	}
	fmt.Fprintf(c.env.Out, "%s: %s%s; see next: above\n", colors.Bad("FAILED"), plural.Of(r.Failed, "problem"), warnings)
}
