// Package probecmd has candor probe, and candor zoo, which serves the defects that probe finds.
package probecmd

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/cmd/internal/probe/cases"
	"github.com/candor-mcp/candor/cmd/internal/probe/drive"
	"github.com/candor-mcp/candor/cmd/internal/probe/fake"
	"github.com/candor-mcp/candor/cmd/internal/probe/judge"
	"github.com/candor-mcp/candor/cmd/internal/probe/report"
)

// probeCommand holds the flags of `candor probe`.
type probeCommand struct {
	env *term.Env
	cmd *cobra.Command

	url       string
	transport string
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
	format   string
	json     bool
	out      string
	failOn   string
	baseline string
	profile  string
	record   string
	resume   string
	run      string
	quiet    bool
}

func New(env *term.Env) *cobra.Command {
	c := &probeCommand{env: env}
	cmd := &cobra.Command{
		Use:   "probe [flags] -- COMMAND [ARGUMENTS]",
		Short: "Show how a server fails, tool by tool",
		Long: `Put an MCP server through every kind of failure and show, per tool, how it tells of it: by which pattern, with
which codes, whether the failing field is named, whether a failure looks like a success, what leaks, whether it stays alive. Each
finding has a rule, literal evidence and a fix; each tool and the server have a grade, with what would raise it.

The server is a command after --, started in a scratch folder with a scratch HOME and almost no environment, or an address given
with --url (streamable HTTP of both eras, or legacy SSE). Arguments that name files here are made absolute.

It is safe by default. A tool that does not declare readOnlyHint, or whose name contradicts it, gets only calls without its required
arguments or with arguments that are not an object, and none after the first sign that it ran. A tool that seems to execute code is never
called. --allow NAME and --yes widen that. --fake-upstream gives the server a network of its own, in which every name leads to a service
that answers 401, 404, 429 with Retry-After, 500, garbage or not at all.

Exit code 0: nothing at or above --fail-on. 1: there is, or something got worse than --baseline. 2: it could not be run, or not to its end.`,
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
	flags.StringVar(&c.url, "url", "", "the address of a server over HTTP, in place of a command")
	flags.StringVar(&c.transport, "transport", string(drive.TransportAuto), "how to call it: "+term.JoinWords(transports))
	flags.StringArrayVar(&c.headers, "header", nil, "a header for every request, as in 'Authorization: Bearer …'; may be repeated")
	flags.StringArrayVar(&c.variables, "env", nil, "a variable for the server, as NAME=VALUE, or NAME to pass on our own; may be repeated")
	flags.StringVar(&c.dir, "dir", "", "the server's working folder; default a fresh one")
	flags.StringSliceVar(&c.allow, "allow", nil, "tools that may be called for real though they do not say that they only read; * is all")
	flags.BoolVar(&c.yes, "yes", false, "all tools may be called for real")
	flags.Uint64Var(&c.seed, "seed", 1, "the order in which the tools are tried, 1 is as they are listed; the same seed repeats a run exactly")
	flags.StringVar(&c.startup, "startup", "60s", "how long the server may take until it answers the greeting")
	flags.StringVar(&c.timeout, "timeout", "10s", "how long a call may take")
	flags.StringVar(&c.total, "total", "10m", "how long the whole run may take, or none")
	flags.IntVar(&c.maxCalls, "max-calls", 1000, "how many calls are made at most")
	flags.BoolVar(&c.fake, "fake-upstream", false, "give the server a network of its own in which every service fails")
	flags.StringVar(&c.rules, "rules", judge.SetAgent, "the rule set: "+term.JoinWords(judge.Sets()))
	flags.StringVar(&c.format, "format", "text", "the form of the report: "+term.JoinWords(report.Formats()))
	flags.BoolVar(&c.json, "json", false, "the same as --format json")
	flags.StringVar(&c.out, "out", "", "a file for the report; default standard output, as is -")
	flags.StringVar(&c.failOn, "fail-on", string(probe.SeverityMajor), "the least severity that makes the exit code 1: "+term.JoinWords(append(severities(), "never")))
	flags.StringVar(&c.baseline, "baseline", "", "a report as JSON; the exit code is 1 for what got worse, and only for that")
	flags.StringVar(&c.profile, "profile-out", "", "a file for what was learnt, as rules for candor wrap --profile")
	flags.StringVar(&c.record, "record", "", "a file for the run itself, written while it goes on")
	flags.StringVar(&c.resume, "resume", "", "a file of --record: go on where it ended")
	flags.StringVar(&c.run, "run", "", "a file of --record: judge it, and drive nothing")
	flags.BoolVar(&c.quiet, "quiet", false, "no progress on standard error")
	term.CompleteFlag(cmd, "transport", transports)
	term.CompleteFlag(cmd, "rules", judge.Sets())
	term.CompleteFlag(cmd, "format", report.Formats())
	term.CompleteFlag(cmd, "fail-on", append(severities(), "never"))
}

var transports = []string{string(drive.TransportAuto), string(drive.TransportHTTP), string(drive.TransportSSE)}

func severities() []string {
	return []string{string(probe.SeverityCritical), string(probe.SeverityMajor), string(probe.SeverityMinor), string(probe.SeverityInfo)}
}

func (c *probeCommand) start(args []string) error {
	if c.json {
		c.format = "json"
	}
	if c.out == "-" { // as everywhere
		c.out = ""
	}
	if term.ContainsFold(c.allow, "*") {
		c.yes, c.allow = true, nil
	}
	if err := c.check(args); err != nil {
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
	judged, err := judge.Judge(run, c.rules)
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

// check refuses what cannot be meant, before anything is started.
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
		return term.BadInput(example+", or --url, or --run", "there is nothing to probe")
	case targets > 1:
		return term.BadInput(example, "give a command, --url or --run, and only one of them")
	case len(args) > 0 && dash < 0:
		return term.BadInput("candor probe -- "+strings.Join(args, " "), "put -- before the command of the server")
	case dash > 0:
		return term.BadInput(example, "%q stands before the --, and only flags may", args[0])
	case !term.ContainsFold(judge.Sets(), c.rules):
		return term.Unknown("--rules", c.rules, judge.Sets())
	case !term.ContainsFold(report.Formats(), c.format):
		return term.Unknown("--format", c.format, report.Formats())
	case !term.ContainsFold(append(severities(), "never"), c.failOn):
		return term.Unknown("--fail-on", c.failOn, append(severities(), "never"))
	case !term.ContainsFold(transports, c.transport):
		return term.Unknown("--transport", c.transport, transports)
	case c.fake && len(args) == 0:
		return term.BadInput("give the command of the server", "--fake-upstream needs a server that is started here")
	case c.maxCalls < 1:
		return term.BadInput("a number from 1", "--max-calls %d is out of bounds", c.maxCalls)
	}
	return nil
}

// seen returns what was seen of the server: now, or when the file was written.
func (c *probeCommand) seen(args []string) (*probe.Run, error) {
	if c.run != "" {
		return readRun("--run", c.run)
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
		upstream, err := c.startFake(ctx, &target)
		if err != nil {
			return nil, err
		}
		if upstream == nil {
			cannot = []probe.Skip{{What: "what the tools do when their upstream fails", Reason: fake.Available().Error()}}
		} else {
			defer upstream.Close() //nolint:errcheck // it dies with us
			o.Upstream, faults = upstream, fake.Faults()
		}
	}
	o.Cases = func(_ probe.Server, tools []probe.Tool) ([]probe.Case, []probe.Skip) {
		planned, skipped := cases.Plan(tools, cases.Options{Allow: c.allow, Yes: c.yes, Faults: faults, MaxCalls: c.maxCalls, Seed: c.seed})
		return planned, slices.Concat(cannot, skipped, c.notThere(tools))
	}
	return c.drive(ctx, target, o)
}

// startFake starts the fake upstream. Where it is not allowed there is none, and what needs it is left out; but who asked for real calls
// meant calls to the fake, and gets none to the real one.
func (c *probeCommand) startFake(ctx context.Context, target *drive.Target) (*fake.Upstream, error) {
	if err := fake.Available(); err != nil {
		if c.yes || len(c.allow) > 0 {
			return nil, term.BadInput("leave --fake-upstream out if the calls may go to the real services", "%s", err)
		}
		return nil, nil //nolint:nilnil // there is none, and the report says so
	}
	upstream, err := fake.Start(ctx, fake.Options{Inside: term.SelfCommand(insideWord), Local: fake.LocalPorts(slices.Concat(target.Env, target.Command))})
	if err != nil {
		return nil, term.BadInput("leave --fake-upstream out", "%s", err)
	}
	return upstream, nil
}

func (c *probeCommand) drive(ctx context.Context, target drive.Target, o drive.Options) (*probe.Run, error) {
	bar := &progress{env: c.env, on: !c.quiet}
	o.Progress = bar.show
	if c.record != "" {
		o.Save = func(r *probe.Run) { bar.complain(writeRun(c.record, r)) }
	}
	run, err := drive.Drive(ctx, target, o)
	bar.end()
	if err != nil {
		return nil, term.BadInput("", "%s", err)
	}
	return run, nil
}

func (c *probeCommand) target(args []string) (drive.Target, error) {
	t := drive.Target{Command: fromHere(args), Dir: c.dir, URL: c.url, Transport: drive.Transport(c.transport), Headers: map[string]string{}}
	for _, h := range c.headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return t, term.BadInput("such as --header 'Authorization: Bearer …'", "--header %q is not NAME: VALUE", name)
		}
		t.Headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	for _, e := range c.variables {
		if !strings.Contains(e, "=") {
			value, set := os.LookupEnv(e)
			if !set {
				return t, term.BadInput("set it, or give it as --env "+e+"=VALUE", "--env %s: it is not set here", e)
			}
			e += "=" + value
		}
		t.Env = append(t.Env, e)
	}
	return t, nil
}

// fromHere makes the paths that a command line names absolute, because the server runs in a scratch folder.
func fromHere(args []string) []string {
	out := slices.Clone(args)
	for i, arg := range out {
		if isPath(arg) {
			out[i] = term.AbsolutePath(arg)
		}
	}
	return out
}

// isPath reports whether an argument can only be meant as a path: it says so, or it is the name of a file with an extension or a folder
// before it. A bare word is left alone whatever lies here under that name, such as start in npm run start.
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

func (c *probeCommand) driving() (o drive.Options, err error) {
	o = drive.Options{Seed: c.seed, MaxCalls: c.maxCalls, Allow: c.allow, Yes: c.yes, Guard: term.GuardCommand()}
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
	if c.resume != "" {
		if o.Resume, err = readRun("--resume", c.resume); err != nil {
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
		return 0, term.BadInput("such as 10s", "%s %s is not long enough for anything", flag, text)
	}
	return d, nil
}

const maxRunFile = 256 << 20

func readRun(flag, name string) (*probe.Run, error) {
	info, err := os.Stat(name)
	if err == nil && info.Size() > maxRunFile {
		err = errors.New("it is too large for a run")
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
		return nil, term.BadInput("give the file that --record has written when the server was probed", "%s: %s is a report, not a run", flag, name)
	}
	if err == nil && run.Version != probe.RunVersion {
		err = errors.New("it is no run that this program knows")
	}
	if err != nil {
		return nil, term.BadInput("give a file that --record has written", "%s: %s", flag, err)
	}
	return run, nil
}

// isReport reports whether a file is what --format json writes.
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
	return WriteWhole(name, append(data, '\n'))
}

// WriteWhole replaces a file as a whole. What is there and is no file, such as a device or a pipe, is written to and stays what it is; a
// link goes on leading where it leads, also if nothing is there yet.
func WriteWhole(name string, data []byte) error {
	to, err := filepath.EvalSymlinks(name)
	if err == nil {
		name = to
	} else if to, isLink := os.Readlink(name); isLink == nil {
		if !errors.Is(err, fs.ErrNotExist) { // such as one that leads to itself
			return err
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(name), to)
		}
		return WriteWhole(to, data)
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(name, data, 0o644) //nolint:gosec // it is there, and its mode stays
	}
	half := name + ".half"
	if err := os.WriteFile(half, data, 0o644); err != nil { //nolint:gosec // a report is for others to read
		return err
	}
	return os.Rename(half, name)
}

// verdict is the exit code. What was not looked at to the end is not well: no exit code 0 is made of it.
func (c *probeCommand) verdict(run *probe.Run, judged, before *probe.Report) error {
	worse := c.overLimit(judged)
	if before != nil {
		delta := report.Diff(before, judged)
		if err := report.WriteDelta(c.env.Err, "text", delta, report.Options{}); err != nil {
			return err
		}
		worse = delta.Worse()
	}
	partial := term.BadInput("--record FILE keeps what was seen, and --resume FILE goes on with it", "the run is incomplete: %s", run.Incomplete)
	switch {
	case run.Incomplete == "" && !worse, c.run != "" && c.failOn == "never" && before == nil: // a run that is only written down anew
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

// overLimit reports a finding at or above --fail-on.
func (c *probeCommand) overLimit(judged *probe.Report) bool {
	limit := slices.Index(severities(), c.failOn)
	return slices.ContainsFunc(judged.Findings, func(f probe.Finding) bool { return slices.Index(severities(), string(f.Severity)) <= limit })
}
