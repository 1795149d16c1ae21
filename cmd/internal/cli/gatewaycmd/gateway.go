// Package gatewaycmd has the commands that run between servers and their clients: wrap, gateway with check and status, and config.
package gatewaycmd

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/consolecmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
)

// gatewayCommand has the flags of `candor gateway`.
type gatewayCommand struct {
	service.Flags
	gatewayFlags
	console consolecmd.Flags
	env     *term.Env
	files   watchedFiles
}

// gatewayFlags are the flags that `candor gateway` and `candor gateway check` share.
type gatewayFlags struct {
	config    string
	listen    string
	admin     string
	upstreams []string
	hosts     []string
	tokenEnv  string
	noToken   bool
	client    string

	open func(name string) ([]byte, error) // reads the file and its profiles; nil means [config.ReadFile]
}

func (f *gatewayFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.config, "config", "", "configuration file")
	flags.StringVar(&f.listen, "listen", "", "address for clients; default the one in the file, else "+config.DefaultListen)
	flags.StringVar(&f.admin, "admin", "", "address for /healthz, /metrics and /status, on this machine")
	flags.StringArrayVar(&f.upstreams, "upstream", nil, "server as NAME=URL, without --config; may be repeated")
	flags.StringArrayVar(&f.hosts, "host", nil, "host name that clients may use, without --config; may be repeated")
	flags.StringVar(&f.tokenEnv, "token-env", "", "environment variable with the bearer token that clients must send, without --config")
	flags.BoolVar(&f.noToken, "no-token", false, "require no token although other machines can connect, without --config")
}

// NewGateway returns `candor gateway`.
func NewGateway(env *term.Env) *cobra.Command {
	c := &gatewayCommand{env: env}
	cmd := &cobra.Command{
		Use:   "gateway (--config FILE | --upstream NAME=URL…)",
		Short: "Serve MCP servers over HTTP and make them honest about failure",
		Long: `A reverse proxy for MCP servers that use streamable HTTP or the older SSE, and for servers on standard input and
output, which it starts with the command in the file, one process per session unless they are shared. Each server
has the URL http://127.0.0.1:8765/NAME/; a single one is also at /mcp. Headers, session ids, event ids, status
codes and streaming are not changed, and clean messages pass byte for byte. A failure is recorded in the ledger
and counted, and gets an envelope with its code and whether to retry.

By default it listens only on this machine. An address that other machines can reach needs a token from the
environment, or --no-token, and the host names that clients use.

SIGTERM and Ctrl-C let open calls finish, up to the drain time in the file, and refuse new calls with
GATEWAY_DRAINING. The file is read again about a second after it or a profile in it has changed, unless it has
watch: false, and at SIGHUP: new calls use it, open calls are not disturbed. If the file
has a mistake, the reason is logged and the previous configuration stays in use. Upstreams with unchanged settings
keep their state. Listening addresses and the ledger change only at a restart.

If OTEL_EXPORTER_OTLP_ENDPOINT or another variable of OpenTelemetry asks for it, traces, metrics and logs are
exported with OTLP over HTTP. /metrics at the admin address has metrics for Prometheus.`,
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
	term.Choice(cmd, &c.client, "client", "", clientAbout+"; default the one in the file, else auto", gateway.ClientNames())
	c.console.Register(cmd)
	cmd.AddCommand(newGatewayCheck(env), newGatewayStatus(env))
	return cmd
}

// read returns the configuration from flags and file. It reads the file each time.
func (f *gatewayFlags) read(env *term.Env) (*config.File, error) {
	file, err := f.fileOrFlags(env)
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
	if f.client != "" {
		for i := range file.Upstreams {
			file.Upstreams[i].Options.Client = f.client
		}
	}
	if err := file.CheckReach(); err != nil {
		return nil, service.BadFlag("listen "+file.Listen, err)
	}
	return file, nil
}

func (f *gatewayFlags) fileOrFlags(env *term.Env) (*config.File, error) {
	switch {
	case f.config == "" && len(f.upstreams) == 0:
		return nil, term.BadInput("candor gateway --upstream github=https://api.example/mcp, or --config candor.yaml", "no server to serve")
	case f.config == "":
		return f.flagsOnly(env)
	case len(f.upstreams)+len(f.hosts) > 0 || f.tokenEnv != "" || f.noToken:
		return nil, term.BadInput("put it in the file", "--config: cannot be combined with --upstream, --host, --token-env and --no-token")
	}
	file, err := config.Read(f.config, config.Source{Getenv: env.Getenv, ReadFile: f.open})
	if err != nil {
		return nil, service.BadFile("--config", err)
	}
	term.Withhold(file.TokenEnv)
	return file, nil
}

func (f *gatewayFlags) flagsOnly(env *term.Env) (*config.File, error) {
	token, err := env.Secret("--token-env", f.tokenEnv)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var upstreams []config.Upstream
	for _, pair := range f.upstreams {
		name, address, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, term.BadInput("such as --upstream github=https://api.example/mcp", "--upstream %q: not NAME=URL", pair)
		}
		if err := config.CheckName(name); err != nil {
			return nil, service.BadFlag("--upstream", err)
		}
		target, err := config.ParseURL(address)
		if err != nil {
			return nil, service.BadFlag("--upstream", err)
		}
		if seen[name] {
			return nil, term.BadInput("give each server its own name", "--upstream %s: given twice", name)
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
	signal.Notify(asked, syscall.SIGHUP) // before anything else, because the signal would end the process
	defer signal.Stop(asked)
	c.open = c.files.read
	file, err := c.read(c.env)
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
	if os.Getenv("GOGC") == "" {
		defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	}
	defer limitMemory()()
	s, err := newServer(p, file)
	if err == nil {
		if !c.Quiet {
			s.announce()
		}
		checked := s.checkLogins(ctx)
		err = c.serve(ctx, stop, s, asked)
		checked()
	}
	closed := p.Close()
	if err == nil && !c.Quiet {
		p.Notice("%s%s", p.Summary(s.routes.Load().calls()), p.ByServer())
	}
	return errors.Join(err, closed)
}

// serve runs the gateway, with its console.
func (c *gatewayCommand) serve(ctx context.Context, stop func(), s *server, asked <-chan os.Signal) error {
	console, err := c.console.Start(ctx, s.p, consolecmd.Sources{Servers: s, Profiles: s.profile})
	if err != nil {
		return errors.Join(err, s.closeListeners())
	}
	err = s.run(ctx, stop, c.reloads(ctx, s, asked))
	return errors.Join(err, console.Close(context.Background()))
}
