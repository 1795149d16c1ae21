// Package probecmd has candor probe, and candor zoo, a server with the defects that probe finds.
package probecmd

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
	"github.com/candor-mcp/candor/cmd/internal/probe/cases"
	"github.com/candor-mcp/candor/cmd/internal/probe/driver"
	"github.com/candor-mcp/candor/cmd/internal/probe/fakeupstream"
	"github.com/candor-mcp/candor/cmd/internal/probe/report"
	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/internal/probe/rules"
)

// probeCommand has the flags of `candor probe`.
type probeCommand struct {
	env *term.Env
	cmd *cobra.Command

	url       string
	transport driver.Transport
	headers   []string
	variables []string
	dir       string

	allow    []string
	yes      bool
	seed     uint64
	startup  string
	timeout  string
	total    string
	maxCalls int
	fake     bool

	rules    string
	output   term.FormatFlag
	format   string // the value of output
	out      string
	source   string         // --sarif-location
	failOn   probe.Severity // or never
	baseline string
	profile  string
	record   string
	run      string
	quiet    bool
}

// New returns `candor probe`.
func New(env *term.Env) *cobra.Command {
	c := &probeCommand{env: env}
	cmd := &cobra.Command{
		Use:   "probe [flags] -- COMMAND [ARGUMENTS]",
		Short: "Test how a server fails, tool by tool",
		Long: `Provoke every kind of failure in an MCP server and report, per tool, how it responds: the pattern, the codes, whether
the failing field is named, whether a failure looks like a success, what leaks, whether the server survives. Each finding has a rule,
literal evidence and a fix. Each tool and the server get a grade, with the changes that would raise it.

The server is a command after --, started in a temporary folder with a temporary HOME and almost no environment, or a URL given with
--url (streamable HTTP with or without sessions, or legacy SSE). Arguments that are paths of existing files are made absolute.

It is safe by default. A tool that does not declare readOnlyHint, or has a name that contradicts it, is called only without its required
arguments or with arguments that are not an object, and no longer after the first sign that it ran. Tools that look as if they execute
code are never called. --allow NAME and --yes permit more. --fake-upstream puts the server into a separate network in which every host
responds with 401, 404, 429 with Retry-After, 500, garbage or not at all.

--format sarif is for code scanning: each finding refers to the file of --sarif-location, at the first line that has the name of the
tool in quotes, else at line 1.

Exit codes: 0 no finding at or above --fail-on; 1 there are findings, or a regression against --baseline; 2 the run failed or is
incomplete.`,
		Example: `  candor probe -- npx -y @modelcontextprotocol/server-everything
  candor probe --url http://127.0.0.1:8080/mcp --rules spec
  candor probe --fake-upstream --yes --format html --out report.html -- node server.js
  candor probe --baseline main.json --format json --out now.json -- ./server
  candor probe --profile-out server.yaml -- ./server && candor wrap --profile server.yaml -- ./server`,
		RunE: func(cmd *cobra.Command, args []string) error { c.cmd = cmd; return c.start(args) },
	}
	c.register(cmd)
	cmd.AddCommand(newProbeDiff(env), newProbeRules(env))
	return cmd
}

func (c *probeCommand) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&c.url, "url", "", "URL of a server, instead of a command")
	term.Choice(cmd, &c.transport, "transport", driver.TransportAuto, "transport of --url: "+term.JoinWords(term.Strings(transports)), transports)
	flags.StringArrayVar(&c.headers, "header", nil, "header for every request, such as 'Authorization: Bearer …'; may be repeated")
	flags.StringArrayVar(&c.variables, "env", nil, "environment variable for the server, as NAME=VALUE, or NAME to pass the current value; may be repeated")
	flags.StringVar(&c.dir, "dir", "", "working directory of the server; default a temporary folder")
	flags.StringSliceVar(&c.allow, "allow", nil, "tools that may be called although they are not read-only; * for all")
	flags.BoolVar(&c.yes, "yes", false, "allow calls of all tools")
	flags.Uint64Var(&c.seed, "seed", 1, "seed for the order of tools, 1 for the order of the list; the same seed repeats a run exactly")
	flags.StringVar(&c.startup, "startup", "60s", "time limit of initialize")
	flags.StringVar(&c.timeout, "timeout", "10s", "time limit of a call")
	flags.StringVar(&c.total, "total", "10m", "time limit of the run, or none")
	flags.IntVar(&c.maxCalls, "max-calls", 1000, "maximum number of calls")
	flags.BoolVar(&c.fake, "fake-upstream", false, "run the server in a network in which every service fails")
	term.Choice(cmd, &c.rules, "rules", rules.SetAgent, "rule set: "+term.JoinWords(rules.Sets()), rules.Sets())
	c.output.Register(cmd, report.Formats()...)
	flags.StringVar(&c.out, "out", "", "file for the report, or - for standard output, the default")
	flags.StringVar(&c.source, "sarif-location", "", "file of the repository that --format sarif refers to")
	term.Choice(cmd, &c.failOn, "fail-on", probe.SeverityMajor, "lowest severity for exit code 1: "+term.JoinWords(term.Strings(failLevels)), failLevels)
	flags.StringVar(&c.baseline, "baseline", "", "earlier report as JSON; exit with code 1 only for regressions")
	flags.StringVar(&c.profile, "profile-out", "", "file for a profile with rules for candor wrap --profile")
	flags.StringVar(&c.record, "record", "", "file for the raw run")
	flags.StringVar(&c.run, "run", "", "file of --record: report on that run, without a server")
	flags.BoolVar(&c.quiet, "quiet", false, "print no progress")
}

var transports = []driver.Transport{driver.TransportAuto, driver.TransportHTTP, driver.TransportSSE}

// failLevels are the values of --fail-on: the severities in order, and never.
var failLevels = append(slices.Clone(probe.Severities), "never")

func (c *probeCommand) start(args []string) error {
	if c.out == "-" {
		c.out = ""
	}
	if term.ContainsFold(c.allow, "*") {
		c.yes, c.allow = true, nil
	}
	err := c.check(args)
	if err != nil {
		return err
	}
	if c.format, err = c.output.Value(c.cmd); err != nil {
		return err
	}
	if err := c.checkSource(); err != nil {
		return err
	}
	before, err := c.files()
	if err != nil {
		return err
	}
	run, err := c.seen(args)
	if err != nil {
		return err
	}
	judged, err := rules.Judge(run, c.rules)
	if err != nil {
		return err
	}
	if c.profile != "" {
		if err := c.writeProfile(run); err != nil {
			return err
		}
	}
	if err := c.writeReport(judged); err != nil {
		return err
	}
	return c.verdict(run, judged, before)
}

// check validates flags and arguments.
func (c *probeCommand) check(args []string) error {
	const example = "candor probe -- npx -y some-mcp-server"
	dash := c.cmd.ArgsLenAtDash()
	targets := 0
	for _, given := range []bool{len(args) > 0, c.url != "", c.run != ""} {
		if given {
			targets++
		}
	}
	switch {
	case targets == 0:
		return term.BadInput(example+", or --url, or --run", "no server to probe")
	case targets > 1:
		return term.BadInput(example, "give a command, --url or --run, and only one of them")
	case len(args) > 0 && dash < 0:
		return term.BadInput("candor probe -- "+strings.Join(args, " "), "put -- before the command of the server")
	case dash > 0:
		return term.BadInput(example, "%q: only flags may precede --", args[0])
	case c.fake && len(args) == 0:
		return term.BadInput("give the command of the server", "--fake-upstream: needs a command")
	case c.maxCalls < 1:
		return term.BadInput("a number from 1", "--max-calls %d: out of range", c.maxCalls)
	}
	return nil
}

// seen drives the server, or reads the file of --run.
func (c *probeCommand) seen(args []string) (*probe.Run, error) {
	if c.run != "" {
		return readRun(c.run)
	}
	target, err := c.target(args)
	if err != nil {
		return nil, err
	}
	o, err := c.driving()
	if err != nil {
		return nil, err
	}
	ctx, stop := term.StopContext(c.cmd)
	defer stop()
	var faults []string
	var cannot []probe.Skip
	if c.fake {
		upstream, err := c.startFake(ctx)
		if err != nil {
			return nil, err
		}
		if upstream == nil {
			cannot = []probe.Skip{{What: "what the tools do when their upstream fails", Reason: fakeupstream.Available().Error()}}
		} else {
			defer upstream.Close() //nolint:errcheck // it ends with this process
			o.Upstream, faults = upstream, fakeupstream.Faults()
		}
	}
	o.Cases = func(_ probe.Server, tools []probe.Tool) ([]probe.Case, []probe.Skip) {
		planned, skipped := cases.Plan(tools, cases.Options{Allow: c.allow, Yes: c.yes, Faults: faults, MaxCalls: c.maxCalls, Seed: c.seed})
		return planned, slices.Concat(cannot, skipped, c.notThere(tools))
	}
	return c.drive(ctx, target, o)
}

// startFake starts the fake upstream. It returns nil if the system does not allow one, and the cases that need it are skipped. With
// --yes or --allow that is an error: the calls would reach the real services.
func (c *probeCommand) startFake(ctx context.Context) (*fakeupstream.Upstream, error) {
	if err := fakeupstream.Available(); err != nil {
		if c.yes || len(c.allow) > 0 {
			return nil, term.BadInput("leave --fake-upstream out if the calls may go to the real services", "%s", err)
		}
		return nil, nil //nolint:nilnil // the report says so
	}
	upstream, err := fakeupstream.Start(ctx, fakeupstream.Options{Inside: term.SelfCommand(insideWord)})
	if err != nil {
		return nil, term.BadInput("leave --fake-upstream out", "%s", err)
	}
	return upstream, nil
}

func (c *probeCommand) drive(ctx context.Context, target driver.Target, o driver.Options) (*probe.Run, error) {
	bar := &progress{env: c.env, on: !c.quiet}
	o.Progress = bar.show
	run, err := driver.Drive(ctx, target, o)
	bar.end()
	if err != nil {
		return nil, term.BadInput("", "%s", err)
	}
	if c.record != "" {
		if err := writeRun(c.record, run); err != nil {
			return nil, term.BadInput("choose another file with --record", "%s", err)
		}
	}
	return run, nil
}

func (c *probeCommand) target(args []string) (driver.Target, error) {
	t := driver.Target{Command: fromHere(args), Dir: c.dir, URL: c.url, Transport: c.transport, Headers: map[string]string{}}
	for _, h := range c.headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return t, term.BadInput("such as --header 'Authorization: Bearer …'", "--header %q: not NAME: VALUE", name)
		}
		t.Headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	for _, e := range c.variables {
		if !strings.Contains(e, "=") {
			value, set := os.LookupEnv(e)
			if !set {
				return t, term.BadInput("set it, or use --env "+e+"=VALUE", "--env %s: not set", e)
			}
			e += "=" + value
		}
		t.Env = append(t.Env, e)
	}
	return t, nil
}

// fromHere makes the paths in a command line absolute, because the server runs in another folder.
func fromHere(args []string) []string {
	out := slices.Clone(args)
	for i, arg := range out {
		if isPath(arg) {
			out[i] = term.AbsolutePath(arg)
		}
	}
	return out
}

// isPath reports whether an argument is certainly a path: it begins with ./ or ../, or is a file whose name has a slash or an extension.
// A bare word is not, even if such a file exists, such as start in npm run start.
func isPath(arg string) bool {
	if filepath.IsAbs(arg) || strings.HasPrefix(arg, "-") {
		return false
	}
	info, err := os.Stat(arg)
	if err != nil {
		return false
	}
	slashed := filepath.ToSlash(arg)
	switch {
	case slashed == ".", slashed == "..", strings.HasPrefix(slashed, "./"), strings.HasPrefix(slashed, "../"), strings.HasSuffix(slashed, "/"):
		return true
	default:
		return info.Mode().IsRegular() && (strings.Contains(slashed, "/") || filepath.Ext(arg) != "")
	}
}

func (c *probeCommand) driving() (o driver.Options, err error) {
	o = driver.Options{Seed: c.seed, MaxCalls: c.maxCalls, Allow: c.allow, Yes: c.yes, Guard: term.GuardCommand()}
	if o.Deadline, err = positive("--timeout", c.timeout); err != nil {
		return o, err
	}
	if o.Startup, err = positive("--startup", c.startup); err != nil {
		return o, err
	}
	if c.total != config.None {
		if o.Total, err = positive("--total", c.total); err != nil {
			return o, err
		}
	}
	return o, nil
}

func positive(flag, text string) (time.Duration, error) {
	d, err := config.ParseDeadline(text)
	if err != nil {
		return 0, service.BadFlag(flag, err)
	}
	if d <= 0 {
		return 0, term.BadInput("such as 10s", "%s %s: must be positive", flag, text)
	}
	return d, nil
}

// reportMode is the mode of new files: reports are public.
const reportMode = 0o644

const maxRunFile = 256 << 20

func readRun(name string) (*probe.Run, error) {
	info, err := os.Stat(name)
	if err == nil && info.Size() > maxRunFile {
		err = errors.New("too large for a run")
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(name)
	}
	run := new(probe.Run)
	if err == nil {
		err = json.Unmarshal(data, run)
	}
	if err == nil && run.Observations == nil && isReport(data) {
		return nil, term.BadInput("give a file that --record wrote", "--run: %s is a report, not a run", name)
	}
	if err == nil && run.Version != probe.RunVersion {
		err = errors.New("not a run, or of another version")
	}
	if err != nil {
		return nil, term.BadInput("give a file that --record wrote", "--run: %s", err)
	}
	return run, nil
}

// isReport reports whether a file is a report of --format json.
func isReport(data []byte) bool {
	var head struct {
		Rules    string           `json:"rules"`
		Findings *json.RawMessage `json:"findings"`
	}
	return json.Unmarshal(data, &head) == nil && head.Rules != "" && head.Findings != nil
}

func writeRun(name string, run *probe.Run) error {
	data, err := json.Marshal(run)
	if err != nil {
		return err
	}
	return term.ReplaceFile(name, append(data, '\n'), reportMode)
}

// verdict returns the exit code. An incomplete run never gives exit code 0.
func (c *probeCommand) verdict(run *probe.Run, judged, before *probe.Report) error {
	worse := c.overLimit(judged)
	if before != nil {
		delta := report.Diff(before, judged)
		if err := report.WriteDelta(c.env.Err, "text", delta, report.Options{}); err != nil {
			return err
		}
		worse = delta.Worse()
	}
	partial := term.BadInput("raise --total or --max-calls, or correct what the reason names", "the run is incomplete: %s", run.Incomplete)
	switch {
	case run.Incomplete == "" && !worse, c.run != "" && c.failOn == "never" && before == nil: // only the format changes
		return nil
	case run.Incomplete == "":
		return term.Found()
	case worse:
		c.env.Report(c.cmd, partial)
		return term.Found()
	default:
		return partial
	}
}

// overLimit reports whether there is a finding at or above --fail-on.
func (c *probeCommand) overLimit(judged *probe.Report) bool {
	limit := slices.Index(probe.Severities, c.failOn) // -1 for never
	return slices.ContainsFunc(judged.Findings, func(f probe.Finding) bool { return f.Severity.Rank() <= limit })
}
