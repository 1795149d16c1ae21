package gatewaycmd

import (
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
	"github.com/candor-mcp/candor/cmd/internal/gateway/stdio"
	"github.com/candor-mcp/candor/dialect"
)

// wrapCommand holds the flags of `candor wrap`.
type wrapCommand struct {
	service.Flags
	env          *term.Env
	mode         string
	timeout      string
	startTimeout string
	toolTimeouts []string
	profile      string
	maxFrame     string
	retry        int
	restart      int
	dialect      string
	name         string
	validate     string
	validateTool []string
	noValidation bool
}

func NewWrap(env *term.Env) *cobra.Command {
	c := &wrapCommand{env: env}
	cmd := &cobra.Command{
		Use:   "wrap [flags] -- COMMAND [ARGUMENTS]",
		Short: "Start an MCP server and make it honest about failure",
		Long: `Start an MCP server that speaks on standard input and output, and stand between it and its client. Clean
messages pass as the bytes they are. A failure is classified, recorded in the ledger and counted, and leaves
with an envelope that says what it is and whether to try again. Calls that the server never answers, because
it hangs, dies or talks nonsense, are answered. Nothing that the server started outlives this command.

In an agent's configuration put candor wrap -- before the command of the server:

  {"mcpServers": {"some": {
     "command": "candor",
     "args": ["wrap", "--", "npx", "-y", "some-mcp-server"]}}}

Standard output carries the protocol and nothing else. Standard error carries what the server prints there,
with secrets taken out unless the mode is observe, then the log, and at the end one line that sums up.

The modes:

  annotate  failing answers gain the envelope and keep what they say; secrets in them are taken out
  observe   nothing is touched; failures are recorded and counted; only lost calls are answered
  strict    the server's own words about a failure are withheld; the ledger keeps them

Arguments are checked against the tool's own schema before a call is forwarded:

  lenient   refuses what cannot work: a required argument is missing, has a type with no lossless reading as the
            wanted one, or has a misspelt key; other calls pass, and if they fail, the answer says what did not fit
  strict    refuses every call that does not fit the schema
  off       refuses nothing

The exit code is that of the server; 0 if the client hung up first or the command was interrupted; 2 if the
server could not be started or a flag is wrong.`,
		Example: `  candor wrap -- npx -y @modelcontextprotocol/server-everything
  candor wrap --timeout 30s --tool-timeout build=10m --restart 3 -- ./server --stdio
  candor wrap --validate strict --validate-tool search=off -- ./server
  candor wrap --mode observe --ledger ./trail -- uvx some-mcp-server
  candor ledger tail -f --kind failure      watch what it records`,
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd, args) },
	}
	c.registerAll(cmd)
	return cmd
}

// registerAll adds the flags of wrap to those that it shares with gateway.
func (c *wrapCommand) registerAll(cmd *cobra.Command) {
	c.Register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&c.mode, "mode", string(gateway.ModeAnnotate), "what may be done to failing answers: "+term.JoinWords(modeNames()))
	flags.StringVar(&c.timeout, "timeout", gateway.DefaultTimeout.String(), "how long a call may take without a sign of progress, or none")
	flags.StringVar(&c.startTimeout, "start-timeout", gateway.DefaultStartTimeout.String(), "how long the server may take to answer initialize, or none")
	flags.StringArrayVar(&c.toolTimeouts, "tool-timeout", nil, "the same for one tool, as NAME=DURATION; may be repeated")
	flags.StringVar(&c.profile, "profile", "", "a file with rules for this server")
	flags.StringVar(&c.maxFrame, "max-frame", "16MiB", "the largest message, with its unit")
	flags.IntVar(&c.retry, "retry", 0, "how often a call that can do no harm twice is made again")
	flags.IntVar(&c.restart, "restart", 0, "how often in a minute a server that dies is started again")
	flags.StringVar(&c.dialect, "dialect", "candor", "the shape of answers that are made here: "+term.JoinWords(dialect.Names()))
	flags.StringVar(&c.name, "name", "", "the server's name in log and ledger; default that of the command")
	flags.StringVar(&c.validate, "validate", string(gateway.ValidationLenient), "which calls are refused because of their arguments: "+term.JoinWords(validationNames()))
	flags.StringArrayVar(&c.validateTool, "validate-tool", nil, "the same for one tool, as NAME=STRENGTH; may be repeated")
	flags.BoolVar(&c.noValidation, "no-validation", false, "the same as --validate off")
	term.CompleteFlag(cmd, "validate", validationNames())
	term.CompleteFlag(cmd, "mode", modeNames())
	term.CompleteFlag(cmd, "dialect", dialect.Names())
}

func modeNames() []string { return term.Strings(gateway.Modes()) }

func validationNames() []string { return term.Strings(gateway.Validations()) }

func (c *wrapCommand) run(cmd *cobra.Command, args []string) error {
	if err := checkLine(cmd, args); err != nil {
		return err
	}
	if c.name == "" {
		c.name = filepath.Base(args[0])
	}
	options, err := c.options()
	if err != nil {
		return err
	}
	ctx, stop := term.StopContext(cmd)
	defer stop()
	p, err := c.Open(ctx, c.env, cmd, "wrap")
	if err != nil {
		return err
	}
	up := gateway.New(p.Attach(options))
	exit, err := stdio.Wrap(ctx, up, stdio.Streams{In: c.env.In, Out: c.env.Out.To}, c.child(p, args))
	closed := p.Close()
	if start, ok := errors.AsType[*stdio.StartError](err); ok {
		return term.BadInput(start.Hint, "starting %q: %s", start.Command, start.Err)
	}
	if err != nil {
		return err
	}
	if !c.Quiet {
		p.Notice("%s", p.Summary(up.Calls()))
	}
	if closed != nil && exit.Code == term.ExitFine {
		return closed
	}
	return &term.Error{Code: exit.Code}
}

// checkLine asks for the dashes, because without them a flag of the server would be taken for one of ours.
func checkLine(cmd *cobra.Command, args []string) error {
	const example = "candor wrap -- npx -y some-mcp-server"
	switch dash := cmd.ArgsLenAtDash(); {
	case len(args) == 0:
		return term.BadInput(example, "the command of the server is missing")
	case dash < 0:
		return term.BadInput("candor wrap -- "+strings.Join(args, " "), "put -- before the command of the server")
	case dash > 0:
		return term.BadInput(example, "%q stands before the --, and only flags may", args[0])
	case args[0] == "":
		return term.BadInput(example, "the command of the server is empty")
	}
	return nil
}

// options turns the flags into those of the gateway.
func (c *wrapCommand) options() (o gateway.Options, err error) {
	o = gateway.Options{Name: c.name, Mode: gateway.Mode(c.mode)}
	if !o.Mode.Valid() {
		return o, term.Unknown("--mode", c.mode, modeNames())
	}
	if !term.ContainsFold(dialect.Names(), c.dialect) {
		return o, term.Unknown("--dialect", c.dialect, dialect.Names())
	}
	if o.Dialect, err = dialect.Lookup(c.dialect); err != nil {
		return o, err
	}
	if o.Timeout, err = config.ParseDeadline(c.timeout); err != nil {
		return o, service.BadFlag("--timeout", err)
	}
	if o.StartTimeout, err = config.ParseDeadline(c.startTimeout); err != nil {
		return o, service.BadFlag("--start-timeout", err)
	}
	if o.Timeouts, err = c.byTool(); err != nil {
		return o, err
	}
	if err = c.validation(&o); err != nil {
		return o, err
	}
	if o.Limits.Message.MaxBytes, err = config.ParseSize(c.maxFrame); err != nil {
		return o, service.BadFlag("--max-frame", err)
	}
	if c.retry < 0 || c.retry > config.MaxRetries {
		return o, term.BadInput("a number from 0 to 9", "--retry %d is out of bounds", c.retry)
	}
	if c.restart < 0 || c.restart > config.MaxRestarts {
		return o, term.BadInput("a number from 0 to 60", "--restart %d is out of bounds", c.restart)
	}
	o.Retry.Attempts = 1 + c.retry
	if c.profile != "" {
		o.Rules, err = readProfile(c.profile)
	}
	return o, err
}

func (c *wrapCommand) byTool() (map[string]time.Duration, error) {
	limits := map[string]time.Duration{}
	for _, pair := range c.toolTimeouts {
		name, text, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, term.BadInput("such as --tool-timeout build=10m", "--tool-timeout %q is not NAME=DURATION", pair)
		}
		d, err := config.ParseDeadline(text)
		if err != nil {
			return nil, service.BadFlag("--tool-timeout", err)
		}
		limits[name] = d
	}
	return limits, nil
}

// validation sets what is checked of the arguments.
func (c *wrapCommand) validation(o *gateway.Options) error {
	o.Validate = gateway.Validation(c.validate)
	if !o.Validate.Valid() {
		return term.Unknown("--validate", c.validate, validationNames())
	}
	if c.noValidation {
		o.Validate = gateway.ValidationOff
	}
	o.ValidateTools = map[string]gateway.Validation{}
	for _, pair := range c.validateTool {
		name, strength, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return term.BadInput("such as --validate-tool search=strict", "--validate-tool %q is not NAME=STRENGTH", pair)
		}
		if !gateway.Validation(strength).Valid() {
			return term.Unknown("--validate-tool", strength, validationNames())
		}
		o.ValidateTools[name] = gateway.Validation(strength)
	}
	return nil
}

func readProfile(name string) (*gateway.Rules, error) {
	p, err := config.ReadProfile(name, config.Source{})
	if err != nil {
		return nil, service.BadFile("--profile", err)
	}
	return p.Rules, nil
}

func (c *wrapCommand) child(p *service.Sinks, args []string) stdio.Child {
	child := stdio.Child{
		Command: args[0], Args: args[1:], Guard: term.GuardCommand(), Restart: stdio.RestartPolicy{Tries: c.restart},
		Stderr: c.env.Err, RedactStderr: c.mode != string(gateway.ModeObserve),
	}
	if c.JSONLogs {
		child.Stderr = &service.LogLines{Log: p.Log, Name: c.name}
	}
	return child
}
