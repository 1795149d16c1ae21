package gatewaycmd

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/consolecmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
	"github.com/candor-mcp/candor/cmd/internal/gateway/servername"
	"github.com/candor-mcp/candor/cmd/internal/gateway/stdio"
	"github.com/candor-mcp/candor/dialect"
)

// wrapCommand has the flags of `candor wrap`.
type wrapCommand struct {
	service.Flags
	console      consolecmd.Flags
	env          *term.Env
	mode         gateway.Mode
	timeout      string
	startTimeout string
	toolTimeouts []string
	profile      string
	maxFrame     string
	retry        int
	restart      int
	dialect      string
	mirror       bool
	client       string
	name         string
	validate     gateway.Validation
	validateTool []string
}

// clientAbout is the help for --client.
var clientAbout = "client program that reads the answers, which decides their form; auto means the one that it names: " + term.JoinWords(gateway.ClientNames())

// NewWrap returns `candor wrap`.
func NewWrap(env *term.Env) *cobra.Command {
	c := &wrapCommand{env: env}
	cmd := &cobra.Command{
		Use:   "wrap [flags] -- COMMAND [ARGUMENTS]",
		Short: "Start an MCP server and make it honest about failure",
		Long: `Start an MCP server on standard input and output, and pass messages between it and its client. Clean messages
pass byte for byte. A failure is classified, recorded in the ledger and counted, and gets an envelope with
its code and whether to retry. A call that the server never answers, because it hangs, crashes or sends
malformed messages, gets an error response. All processes that the server started end with this command.

In an agent's configuration put candor wrap -- before the command of the server:

  {"mcpServers": {"some": {
     "command": "candor",
     "args": ["wrap", "--", "npx", "-y", "some-mcp-server"]}}}

Standard output has only the protocol. Standard error has the output of the server, with secrets redacted unless
the mode is observe, the log, and at the end a summary in one line. Ledger, log and summary name the server: by
--name, else as it calls itself in its answer to initialize, else by the package that the command runs.

Modes:

  annotate  failing responses get the envelope and keep their text; secrets in it are redacted
  observe   nothing is changed; failures are recorded and counted; only lost calls get a response
  strict    the server's own text of a failure is withheld; the ledger has it

Arguments are checked against the schema of the tool before a call is forwarded:

  lenient   refuses calls that cannot work: a required argument is missing, cannot be converted to the right type
            without loss, or has a misspelt key; other calls pass, and if they fail, the error names the mismatch
  strict    refuses every call that does not match the schema
  off       refuses nothing

If OTEL_EXPORTER_OTLP_ENDPOINT or another variable of OpenTelemetry asks for it, traces, metrics and logs are
exported with OTLP over HTTP; every failure has one span and one log record with its ref.

The exit code is that of the server; 0 if the client disconnected first or the command was interrupted; 2 if the
server could not be started or a flag is wrong.`,
		Example: `  candor wrap -- npx -y @modelcontextprotocol/server-everything
  candor wrap --timeout 30s --tool-timeout build=10m --restart 3 -- ./server --stdio
  candor wrap --validate strict --validate-tool search=off -- ./server
  candor wrap --mode observe --ledger ./trail -- uvx some-mcp-server
  candor ledger tail -f --kind failure      watch the failures`,
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd, args) },
	}
	c.registerAll(cmd)
	return cmd
}

// registerAll adds the flags.
func (c *wrapCommand) registerAll(cmd *cobra.Command) {
	c.Register(cmd)
	c.console.Register(cmd)
	flags := cmd.Flags()
	term.Choice(cmd, &c.mode, "mode", gateway.ModeAnnotate, "how failing responses are changed: "+term.JoinWords(term.Strings(gateway.Modes())), gateway.Modes())
	flags.StringVar(&c.timeout, "timeout", gateway.DefaultTimeout.String(), "time limit of a call without progress, or none")
	flags.StringVar(&c.startTimeout, "start-timeout", gateway.DefaultStartTimeout.String(), "time limit of initialize, or none")
	flags.StringArrayVar(&c.toolTimeouts, "tool-timeout", nil, "time limit for one tool, as NAME=DURATION; may be repeated")
	flags.StringVar(&c.profile, "profile", "", "file with rules for this server")
	flags.StringVar(&c.maxFrame, "max-frame", "16MiB", "maximum message size")
	flags.IntVar(&c.retry, "retry", 0, "retries for read-only or idempotent calls")
	flags.IntVar(&c.restart, "restart", 0, "restarts per minute of a server that exits")
	term.Choice(cmd, &c.dialect, "dialect", "candor", "format of error responses: "+term.JoinWords(dialect.Names()), dialect.Names())
	flags.BoolVar(&c.mirror, "mirror", false, "repeat the error in structuredContent of error responses")
	term.Choice(cmd, &c.client, "client", gateway.AutoClient, clientAbout, gateway.ClientNames())
	flags.StringVar(&c.name, "name", "", "name of the server in log, ledger and metrics; default the name that the server gives itself, and until it does so the package in its command")
	term.Choice(cmd, &c.validate, "validate", gateway.ValidationLenient, "validation of arguments: "+term.JoinWords(term.Strings(gateway.Validations())), gateway.Validations())
	flags.StringArrayVar(&c.validateTool, "validate-tool", nil, "validation for one tool, as NAME=LEVEL; may be repeated")
}

func (c *wrapCommand) run(cmd *cobra.Command, args []string) error {
	if err := checkLine(cmd, args); err != nil {
		return err
	}
	options, err := c.options()
	if err != nil {
		return err
	}
	if c.name == "" {
		options.Name, options.LearnName = servername.FromCommand(args), true
	}
	ctx, stop := term.StopContext(cmd)
	defer stop()
	p, err := c.Open(ctx, c.env, cmd, "wrap")
	if err != nil {
		return err
	}
	up := gateway.New(p.Attach(options))
	console, err := c.startConsole(ctx, p, up)
	if err != nil {
		return errors.Join(err, p.Close())
	}
	exit, err := stdio.Wrap(ctx, up, stdio.Streams{In: c.env.In, Out: c.env.Out.To}, c.child(p, up, args))
	closed := errors.Join(console.Close(context.Background()), p.Close())
	if start, ok := errors.AsType[*stdio.StartError](err); ok {
		return term.BadInput(start.Hint, "starting %q: %s", start.Command, start.Err)
	}
	if err != nil {
		return err
	}
	if !c.Quiet {
		p.Notice("%s: %s", term.Printable(up.Name()), p.Summary(up.Calls()))
	}
	if closed != nil && exit.Code == term.ExitOK {
		return closed
	}
	return &term.Error{Code: exit.Code}
}

// checkLine requires --, because otherwise flags of the server would be parsed as flags of wrap.
func checkLine(cmd *cobra.Command, args []string) error {
	const example = "candor wrap -- npx -y some-mcp-server"
	switch dash := cmd.ArgsLenAtDash(); {
	case len(args) == 0:
		return term.BadInput(example, "missing the command of the server")
	case dash < 0:
		return term.BadInput("candor wrap -- "+strings.Join(args, " "), "put -- before the command of the server")
	case dash > 0:
		return term.BadInput(example, "%q: only flags may precede --", args[0])
	case args[0] == "":
		return term.BadInput(example, "empty command of the server")
	}
	return nil
}

// options returns the gateway options for the flags.
func (c *wrapCommand) options() (o gateway.Options, err error) {
	o = gateway.Options{Name: c.name, Mode: c.mode, Mirror: c.mirror, Client: c.client, Dialect: dialect.Must(c.dialect), Validate: c.validate}
	if o.Timeout, err = config.ParseDeadline(c.timeout); err != nil {
		return o, service.BadFlag("--timeout", err)
	}
	if o.StartTimeout, err = config.ParseDeadline(c.startTimeout); err != nil {
		return o, service.BadFlag("--start-timeout", err)
	}
	if o.Timeouts, err = c.byTool(); err != nil {
		return o, err
	}
	if o.ValidateTools, err = c.validateTools(); err != nil {
		return o, err
	}
	if o.Limits.Message.MaxBytes, err = config.ParseSize(c.maxFrame); err != nil {
		return o, service.BadFlag("--max-frame", err)
	}
	if c.retry < 0 || c.retry > config.MaxRetries {
		return o, term.BadInput("a number from 0 to 9", "--retry %d: out of range", c.retry)
	}
	if c.restart < 0 || c.restart > config.MaxRestarts {
		return o, term.BadInput("a number from 0 to 60", "--restart %d: out of range", c.restart)
	}
	o.Retry.Attempts = 1 + c.retry
	if c.profile == "" {
		return o, nil
	}
	p, err := config.ReadProfile(c.profile, config.Source{})
	if err != nil {
		return o, service.BadFile("--profile", err)
	}
	o.Rules = p.Rules
	return o, nil
}

func (c *wrapCommand) byTool() (map[string]time.Duration, error) {
	return perTool("--tool-timeout", "DURATION", "build=10m", c.toolTimeouts, func(text string) (time.Duration, error) {
		d, err := config.ParseDeadline(text)
		if err != nil {
			return 0, service.BadFlag("--tool-timeout", err)
		}
		return d, nil
	})
}

func (c *wrapCommand) validateTools() (map[string]gateway.Validation, error) {
	return perTool("--validate-tool", "LEVEL", "search=strict", c.validateTool, func(level string) (gateway.Validation, error) {
		if !gateway.Validation(level).Valid() {
			return "", term.Unknown("--validate-tool", level, term.Strings(gateway.Validations()))
		}
		return gateway.Validation(level), nil
	})
}

// perTool parses the values of a flag that has the form NAME=value.
func perTool[T any](flag, value, example string, pairs []string, parse func(string) (T, error)) (map[string]T, error) {
	all := map[string]T{}
	for _, pair := range pairs {
		name, text, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, term.BadInput("such as "+flag+" "+example, "%s %q: not NAME=%s", flag, pair, value)
		}
		v, err := parse(text)
		if err != nil {
			return nil, err
		}
		all[name] = v
	}
	return all, nil
}

func (c *wrapCommand) child(p *service.Sinks, up *gateway.Upstream, args []string) stdio.Child {
	child := stdio.Child{
		Command: args[0], Args: args[1:], Guard: term.GuardCommand(), Restart: stdio.RestartPolicy{Tries: c.restart},
		Stderr: c.env.Err, RedactStderr: c.mode != gateway.ModeObserve,
	}
	if c.JSONLogs {
		child.Stderr = &service.LogLines{Log: p.Log, Name: up.Name}
	}
	return child
}
