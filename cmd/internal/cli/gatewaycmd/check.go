package gatewaycmd

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
	"github.com/candor-mcp/candor/internal/plug"
)

// gatewayCheck holds the flags of `candor gateway check`.
type gatewayCheck struct {
	gatewayFlags
	term.FormatFlag
	env     *term.Env
	ledger  string
	connect bool
}

func newGatewayCheck(env *term.Env) *cobra.Command {
	c := &gatewayCheck{env: env}
	cmd := &cobra.Command{
		Use:   "check [--config FILE]",
		Short: "Say what a configuration means, without running it",
		Long: `Read the configuration as candor gateway would and print what was understood. Without --config it is
candor.yaml in the current folder, unless --upstream says what is fronted. Nothing is started, and nothing is
tried on the network unless --connect asks for it: then each server is connected to, but not spoken to.

The exit code is 0 if the configuration can be used, 1 if a server could not be reached, 2 if it is wrong.`,
		Example: `  candor gateway check
  candor gateway check --config candor.yaml --connect
  candor gateway check --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.gatewayFlags.register(cmd)
	c.FormatFlag.Register(cmd, "text", "json")
	cmd.Flags().StringVar(&c.ledger, "ledger", "", "the ledger's folder, or none, as candor gateway takes it")
	cmd.Flags().BoolVar(&c.connect, "connect", false, "try to connect to each server")
	return cmd
}

// understood is a configuration as it was understood; the names are part of what --json promises.
type understood struct {
	Listen    string               `json:"listen"`
	Admin     string               `json:"admin,omitempty"`
	Token     bool                 `json:"token"`
	Ledger    string               `json:"ledger"`
	Drain     string               `json:"drain"`
	Upstreams []understoodUpstream `json:"upstreams"`
}

type understoodUpstream struct {
	Name       string            `json:"name"`
	Path       string            `json:"path"`
	URL        string            `json:"url,omitempty"`
	Command    []string          `json:"command,omitempty"`
	Mode       string            `json:"mode"`
	Dialect    string            `json:"dialect"`
	Speaks     string            `json:"speaks,omitempty"`
	Timeout    string            `json:"timeout"`
	Start      string            `json:"startTimeout"`
	Tools      map[string]string `json:"tools,omitempty"` // their deadlines
	Retries    int               `json:"retries"`
	Breaker    bool              `json:"breaker"`
	Repeats    bool              `json:"repeats"`
	Validation bool              `json:"validation"` // it is not off
	Validate   string            `json:"validate"`
	ToolChecks map[string]string `json:"validateTools,omitempty"`
	Profile    string            `json:"profile,omitempty"`
	Shared     bool              `json:"shared,omitempty"`   // of a command: by all sessions
	Restarts   int               `json:"restarts,omitempty"` // of a command, in a minute
	Masks      int               `json:"masks"`
	Codes      int               `json:"codes"`
	Results    int               `json:"results"`
	Reached    *bool             `json:"reached,omitempty"` // only with --connect
	Why        string            `json:"why,omitempty"`     // it was not
}

func (c *gatewayCheck) run(cmd *cobra.Command) error {
	format, err := c.Value(cmd)
	if err != nil {
		return err
	}
	if c.config == "" && len(c.upstreams) == 0 {
		c.config = "candor.yaml"
	}
	file, err := c.read(c.env.Getenv)
	if err != nil {
		return err
	}
	u, err := c.understand(file)
	if err != nil {
		return err
	}
	missing := false
	if c.connect {
		missing = u.try(term.Context(cmd.Context()), file)
	}
	if err := c.write(u, format); err != nil {
		return err
	}
	if missing {
		return term.Found()
	}
	return nil
}

func (c *gatewayCheck) understand(f *config.File) (*understood, error) {
	named := c.ledger
	if named == "" {
		named = f.Ledger
	}
	dir, err := plug.Folder(named, c.env.Getenv)
	if err != nil {
		return nil, term.BadInput("name a folder with --ledger, or --ledger none", "%s", term.TrimHint(err))
	}
	out := &understood{Listen: f.Listen, Admin: f.Admin, Token: f.Token != "", Ledger: dir, Drain: f.Drain.String()}
	for _, u := range f.Upstreams {
		out.Upstreams = append(out.Upstreams, understandUpstream(u))
	}
	return out, nil
}

func understandUpstream(u config.Upstream) understoodUpstream {
	o := u.Options
	out := understoodUpstream{
		Name: u.Name, Path: "/" + u.Name + "/", Command: shownCommand(u.Command), Mode: orDefault(string(o.Mode), string(gateway.ModeAnnotate)),
		Dialect: "candor", Speaks: o.Speaks, Timeout: timeWords(o.Timeout, gateway.DefaultTimeout),
		Start: timeWords(o.StartTimeout, gateway.DefaultStartTimeout), Retries: max(o.Retry.Attempts-1, 0),
		Breaker: !o.Breaker.Off, Repeats: !o.Repeats.Off, Validation: o.Validate != gateway.ValidationOff,
		Validate: orDefault(string(o.Validate), string(gateway.ValidationLenient)), Profile: u.Profile, Shared: u.Shared, Restarts: u.Restart,
	}
	if u.URL != nil {
		out.URL = config.ShowURL(u.URL)
	}
	if o.Dialect != nil {
		out.Dialect = o.Dialect.Name()
	}
	if o.Rules != nil {
		out.Masks, out.Codes, out.Results = len(o.Rules.Masks), len(o.Rules.Codes), len(o.Rules.Results)
	}
	for name, d := range o.Timeouts {
		if out.Tools == nil {
			out.Tools = map[string]string{}
		}
		out.Tools[name] = timeWords(d, gateway.DefaultTimeout)
	}
	for name, v := range o.ValidateTools {
		if out.ToolChecks == nil {
			out.ToolChecks = map[string]string{}
		}
		out.ToolChecks[name] = string(v)
	}
	return out
}

// timeWords is a deadline as a person says it; 0 stands for the default.
func timeWords(d, otherwise time.Duration) string {
	switch {
	case d < 0:
		return config.None
	case d == 0:
		return otherwise.String()
	default:
		return d.String()
	}
}

// try connects to each server and notes what came of it. It reports whether one is missing.
func (u *understood) try(ctx context.Context, f *config.File) (missing bool) {
	for i, up := range f.Upstreams {
		row := &u.Upstreams[i]
		var err error
		if up.URL != nil {
			err = connect(ctx, up.URL)
		} else {
			_, err = exec.LookPath(up.Command[0])
		}
		reached := err == nil
		row.Reached = &reached
		if err != nil {
			missing, row.Why = true, err.Error()
		}
	}
	return missing
}

// connect opens a connection and closes it again.
func connect(ctx context.Context, target *url.URL) error {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	port := target.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[target.Scheme]
	}
	dial := (&net.Dialer{}).DialContext
	if target.Scheme == "https" {
		dial = (&tls.Dialer{}).DialContext
	}
	c, err := dial(ctx, "tcp", net.JoinHostPort(target.Hostname(), port))
	if err != nil {
		return err
	}
	return c.Close()
}

const connectTime = 5 * time.Second

func (c *gatewayCheck) write(u *understood, format string) error {
	if format == "json" {
		line, err := term.MarshalJSON(u)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.env.Out, "%s\n", line)
		return err
	}
	p := c.env.Colors()
	line := func(name, text string) { fmt.Fprintf(c.env.Out, "%s %s\n", p.Faint(term.Pad(name, 7)), text) }
	line("listen", "http://"+u.Listen)
	if u.Admin != "" {
		line("admin", "http://"+u.Admin)
	}
	line("token", map[bool]string{true: "from the environment", false: config.None}[u.Token])
	line("ledger", u.Ledger)
	line("drain", u.Drain)
	for i := range u.Upstreams {
		u.Upstreams[i].write(c.env, p)
	}
	return nil
}

func (u *understoodUpstream) write(env *term.Env, p term.Colors) {
	target := u.URL
	if target == "" {
		target = strings.Join(u.Command, " ")
	}
	fmt.Fprintf(env.Out, "\n%s is %s\n", p.Name(u.Path), term.Printable(target))
	fmt.Fprintf(env.Out, "  %s\n", strings.Join(u.words(), ", "))
	switch {
	case u.Reached == nil:
	case *u.Reached:
		fmt.Fprintf(env.Out, "  %s\n", p.Good("reached"))
	default:
		fmt.Fprintf(env.Out, "  %s\n", p.Bad("not reached: "+term.Printable(u.Why)))
	}
}

// some is a number of things that is never below zero.
func some(n int, one, many string) string {
	return term.Count(uint64(n), one, many) //nolint:gosec // it counts
}

// words are the settings of an upstream, each in a few words.
func (u *understoodUpstream) words() []string {
	words := []string{u.Mode, "answers in " + u.Dialect, "timeout " + u.Timeout}
	if u.Start != gateway.DefaultStartTimeout.String() {
		words = append(words, "start timeout "+u.Start)
	}
	if u.Speaks != "" {
		words = append(words, "speaks "+u.Speaks)
	}
	if n := len(u.Tools); n > 0 {
		words = append(words, some(n, "tool with its own", "tools with their own"))
	}
	words = append(words, some(u.Retries, "retry", "retries"))
	for _, s := range []struct {
		on   bool
		name string
	}{{u.Breaker, "breaker"}, {u.Repeats, "repeats"}} {
		words = append(words, s.name+map[bool]string{true: " on", false: " off"}[s.on])
	}
	words = append(words, "validation "+u.Validate)
	if n := len(u.ToolChecks); n > 0 {
		words = append(words, some(n, "tool with its own validation", "tools with their own validation"))
	}
	if len(u.Command) > 0 {
		words = append(words, map[bool]string{true: "one server for all sessions", false: "one server for each session"}[u.Shared], some(u.Restarts, "restart", "restarts"))
	}
	words = append(words, some(u.Masks, "mask", "masks"), some(u.Codes, "code rule", "code rules"), some(u.Results, "result rule", "result rules"))
	if u.Profile != "" {
		words = append(words, "profile "+term.Printable(u.Profile))
	}
	return words
}
