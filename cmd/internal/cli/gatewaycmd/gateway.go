// Package gatewaycmd has the commands that stand between servers and their clients: wrap, gateway with check and status, and config.
package gatewaycmd

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
)

// gatewayCommand holds the flags of `candor gateway`.
type gatewayCommand struct {
	service.Flags
	gatewayFlags
	env *term.Env
}

// gatewayFlags say what is fronted; `candor gateway check` has them too.
type gatewayFlags struct {
	config    string
	listen    string
	admin     string
	upstreams []string
	hosts     []string
	tokenEnv  string
	noToken   bool
}

func (f *gatewayFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.config, "config", "", "the file that says what is fronted and how")
	flags.StringVar(&f.listen, "listen", "", "where clients connect; default that of the file, else "+config.DefaultListen)
	flags.StringVar(&f.admin, "admin", "", "where /healthz, /metrics and /status are served, an address of this machine")
	flags.StringArrayVar(&f.upstreams, "upstream", nil, "a server to front without a file, as NAME=URL; may be repeated")
	flags.StringArrayVar(&f.hosts, "host", nil, "a name the gateway is known by, without a file; may be repeated")
	flags.StringVar(&f.tokenEnv, "token-env", "", "the environment variable with the token that clients must bear, without a file")
	flags.BoolVar(&f.noToken, "no-token", false, "want no token though other machines can connect, without a file")
}

func NewGateway(env *term.Env) *cobra.Command {
	c := &gatewayCommand{env: env}
	cmd := &cobra.Command{
		Use:   "gateway (--config FILE | --upstream NAME=URL…)",
		Short: "Front MCP servers over HTTP and make them honest about failure",
		Long: `Front MCP servers that speak streamable HTTP or the older SSE, and servers on standard input and output that
the file has a command for: these are started, one for each session unless they are shared. Each is served under its name, as
http://127.0.0.1:8765/NAME/, and a single one at /mcp as well. Headers, session ids, event ids, status codes
and streaming pass untouched, clean messages as the bytes they are. A failure is recorded in the ledger, is
counted, and leaves with an envelope that says what it is and whether to try again.

By default it listens on this machine alone. An address that other machines reach needs a token from the
environment, or the word that none is wanted, and the names by which it is known.

A SIGTERM or Ctrl-C lets open calls finish, up to the time that the file calls drain, and refuses new ones with
GATEWAY_DRAINING. A SIGHUP reads the file again: new calls follow it, open ones are not disturbed, and a file
with a mistake is refused with the reason while the old one stays in force. What an upstream whose settings did
not change has learnt is kept. Listening addresses and the ledger change only with a new start.`,
		Example: `  candor gateway --upstream github=https://api.example/mcp
  candor gateway --config candor.yaml --admin 127.0.0.1:8766
  candor gateway check --config candor.yaml
  candor gateway status --admin 127.0.0.1:8766
  candor config schema > candor.schema.json`,
		Args: term.NoSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.Flags.Register(cmd)
	c.gatewayFlags.register(cmd)
	cmd.AddCommand(newGatewayCheck(env), newGatewayStatus(env))
	return cmd
}

// read returns what the flags and the file say. It can be called again to see what the file says now.
func (f *gatewayFlags) read(getenv func(string) string) (*config.File, error) {
	file, err := f.fileOrFlags(getenv)
	if err != nil {
		return nil, err
	}
	if f.listen != "" {
		if file.Listen, err = config.ParseListen(f.listen); err != nil {
			return nil, service.BadFlag("--listen", err)
		}
	}
	if f.admin != "" {
		if file.Admin, err = config.ParseAdmin(f.admin); err != nil {
			return nil, service.BadFlag("--admin", err)
		}
	}
	if err := file.CheckReach(); err != nil {
		return nil, service.BadFlag("listening", err)
	}
	return file, nil
}

func (f *gatewayFlags) fileOrFlags(getenv func(string) string) (*config.File, error) {
	switch {
	case f.config == "" && len(f.upstreams) == 0:
		return nil, term.BadInput("candor gateway --upstream github=https://api.example/mcp, or --config candor.yaml", "there is nothing to front")
	case f.config == "":
		return f.flagsOnly(getenv)
	case len(f.upstreams)+len(f.hosts) > 0 || f.tokenEnv != "" || f.noToken:
		return nil, term.BadInput("say it in the file", "--config goes with none of --upstream, --host, --token-env and --no-token")
	}
	file, err := config.Read(f.config, config.Source{Getenv: getenv})
	if err != nil {
		return nil, service.BadFile("--config", err)
	}
	return file, nil
}

func (f *gatewayFlags) flagsOnly(getenv func(string) string) (*config.File, error) {
	token := ""
	if f.tokenEnv != "" {
		if token = getenv(f.tokenEnv); token == "" {
			return nil, term.BadInput("set it where the gateway is started", "--token-env: the environment variable %s is not set", f.tokenEnv)
		}
	}
	seen := map[string]bool{}
	var upstreams []config.Upstream
	for _, pair := range f.upstreams {
		name, address, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, term.BadInput("such as --upstream github=https://api.example/mcp", "--upstream %q is not NAME=URL", pair)
		}
		if err := config.CheckName(name); err != nil {
			return nil, service.BadFlag("--upstream", err)
		}
		target, err := config.ParseURL(address)
		if err != nil {
			return nil, service.BadFlag("--upstream", err)
		}
		if seen[name] {
			return nil, term.BadInput("give each its own name", "--upstream %s stands there twice", name)
		}
		seen[name] = true
		upstreams = append(upstreams, config.At(name, target))
	}
	file := config.Of(token, f.hosts, upstreams...)
	file.NoToken = f.noToken
	return file, nil
}

func (c *gatewayCommand) run(cmd *cobra.Command) error {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGHUP) // from the first moment on: by itself the signal would end the program
	defer signal.Stop(asked)
	file, err := c.read(c.env.Getenv)
	if err != nil {
		return err
	}
	if c.Ledger == "" {
		c.Ledger = file.Ledger
	}
	ctx, stop := term.StopContext(cmd)
	defer stop()
	p, err := c.Open(ctx, c.env, cmd, "gateway")
	if err != nil {
		return err
	}
	defer raiseHeap()()
	defer limitMemory()()
	s, err := newServing(p, file)
	if err == nil {
		if !c.Quiet {
			s.announce()
		}
		err = s.run(ctx, stop, c.reloads(ctx, s, asked))
	}
	closed := p.Close()
	if err == nil && !c.Quiet {
		p.Notice("%s", p.Summary(s.calls()))
	}
	return errors.Join(err, closed)
}

// reloads reads the file again whenever that is asked for, until ctx is done and the channel closed that it returns. The file in
// force is the last that could be used.
func (c *gatewayCommand) reloads(ctx context.Context, s *serving, asked <-chan os.Signal) <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-ctx.Done():
				return
			case <-asked:
				c.reload(s)
			}
		}
	}()
	return ended
}

func (c *gatewayCommand) reload(s *serving) {
	if c.config == "" {
		s.p.Notice("there is no file to read again: the flags are in force")
		return
	}
	file, err := c.read(c.env.Getenv)
	if err != nil {
		c.refuse(s, err)
		return
	}
	s.replace(file)
	s.p.Notice("%s was read again: %s", c.config, some(len(file.Upstreams), "upstream", "upstreams"))
}

// refuse logs why a file is not used: a line for each problem, because a log has no place for pictures of the file.
func (c *gatewayCommand) refuse(s *serving, err error) {
	log := func(reason, hint string) {
		s.p.Log.Error("the file is refused, and what was in force stays", slog.String("file", c.config), slog.String("reason", reason), slog.String("hint", hint))
	}
	if inside, ok := errors.AsType[*config.Error](err); ok {
		for _, p := range inside.Problems {
			log(p.Place()+": "+p.Text, p.Hint)
		}
		return
	}
	hint := ""
	if f, ok := errors.AsType[*term.Error](err); ok {
		hint = f.Hint
	}
	log(err.Error(), hint)
}
