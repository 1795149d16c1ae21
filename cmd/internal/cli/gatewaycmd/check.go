package gatewaycmd

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
)

// gatewayCheck has the flags of `candor gateway check`.
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
		Short: "Check a configuration and print its settings",
		Long: `Read the configuration as candor gateway would and print the resulting settings. The default file is candor.yaml
in the current folder, unless --upstream is used. Nothing is started. With --connect a connection to each server
is opened and closed again, without sending anything.

Exit codes: 0 the configuration is valid; 1 a server could not be reached; 2 the configuration is not valid.`,
		Example: `  candor gateway check
  candor gateway check --config candor.yaml --connect
  candor gateway check --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.gatewayFlags.register(cmd)
	c.FormatFlag.Register(cmd, "text", "json")
	cmd.Flags().StringVar(&c.ledger, "ledger", "", "folder of the ledger, URL of a store, or none, as for candor gateway")
	cmd.Flags().BoolVar(&c.connect, "connect", false, "try to connect to each server")
	return cmd
}

// settings are the settings of a configuration. The member names are part of the output format of --json.
type settings struct {
	Listen     string             `json:"listen"`
	Admin      string             `json:"admin,omitempty"`
	Token      bool               `json:"token"`      // clients must send one
	AdminToken bool               `json:"adminToken"` // the API allows changes with one
	Ledger     string             `json:"ledger"`
	Share      string             `json:"share,omitempty"` // address, without parameters
	Store      string             `json:"store,omitempty"` // that the ledger is shipped to
	Ack        string             `json:"ack,omitempty"`
	Node       string             `json:"node,omitempty"`
	Drain      string             `json:"drain"`
	Watch      bool               `json:"watch"`
	Upstreams  []upstreamSettings `json:"upstreams"`
}

type upstreamSettings struct {
	Name       string            `json:"name"`
	Path       string            `json:"path"`
	URL        string            `json:"url,omitempty"`
	Command    []string          `json:"command,omitempty"`
	Cwd        string            `json:"cwd,omitempty"`
	Mode       string            `json:"mode"`
	Dialect    string            `json:"dialect"`
	Speaks     string            `json:"speaks,omitempty"`
	Timeout    string            `json:"timeout"`
	Start      string            `json:"startTimeout"`
	Tools      map[string]string `json:"tools,omitempty"` // deadline by tool
	Retries    int               `json:"retries"`
	Breaker    bool              `json:"breaker"`
	Repeats    bool              `json:"repeats"`
	Validation bool              `json:"validation"` // true unless off
	Validate   string            `json:"validate"`
	ToolChecks map[string]string `json:"validateTools,omitempty"`
	Profile    string            `json:"profile,omitempty"`
	Shared     bool              `json:"shared,omitempty"`   // one process for all sessions
	Restarts   int               `json:"restarts,omitempty"` // per minute
	Masks      int               `json:"masks"`
	Codes      int               `json:"codes"`
	Sharing    bool              `json:"sharing,omitempty"` // other gateways hear about its failures
	Results    int               `json:"results"`
	Reached    *bool             `json:"reached,omitempty"` // only with --connect
	Why        string            `json:"why,omitempty"`     // why it could not be reached
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
	u, err := c.settings(file)
	if err != nil {
		return err
	}
	missing := false
	if c.connect {
		missing = u.connect(cmd.Context(), file)
	}
	if err := c.write(u, format); err != nil {
		return err
	}
	if missing {
		return term.Found()
	}
	return nil
}

func (c *gatewayCheck) settings(f *config.File) (*settings, error) {
	dir, at, err := service.Locate(cmp.Or(c.ledger, f.Ledger), c.env.Getenv)
	if err != nil {
		return nil, service.BadLedger(err)
	}
	out := settingsOf(f, dir)
	if at != nil {
		out.Store, out.Ack, out.Node = at.String(), string(at.Mode), at.Node
	}
	return out, nil
}

// settingsOf returns the settings of a file, without secrets.
func settingsOf(f *config.File, ledger string) *settings {
	out := &settings{
		Listen: f.Listen, Admin: f.Admin, Token: f.Token != "", AdminToken: f.AdminToken != "", Ledger: ledger, Share: shownShare(f.Share), Drain: f.Drain.String(), Watch: !f.NoWatch,
		Upstreams: []upstreamSettings{},
	}
	for _, u := range f.Upstreams {
		row := upstreamSettingsOf(u)
		row.Sharing = f.Share != "" && u.IsShared()
		out.Upstreams = append(out.Upstreams, row)
	}
	return out
}

func upstreamSettingsOf(u config.Upstream) upstreamSettings {
	o := u.Options
	out := upstreamSettings{
		Name: u.Name, Path: "/" + u.Name + "/", Command: shownCommand(u.Command), Cwd: u.Dir, Mode: string(cmp.Or(o.Mode, gateway.ModeAnnotate)),
		Dialect: "candor", Speaks: o.Speaks, Timeout: timeWords(o.Timeout, gateway.DefaultTimeout),
		Start: timeWords(o.StartTimeout, gateway.DefaultStartTimeout), Retries: max(o.Retry.Attempts-1, 0),
		Breaker: !o.Breaker.Off, Repeats: !o.Repeats.Off, Validation: o.Validate != gateway.ValidationOff,
		Validate: string(cmp.Or(o.Validate, gateway.ValidationLenient)), Profile: u.Profile, Shared: u.Shared, Restarts: u.Restart,
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
	out.Tools = textMap(o.Timeouts, func(d time.Duration) string { return timeWords(d, gateway.DefaultTimeout) })
	out.ToolChecks = textMap(o.ValidateTools, func(v gateway.Validation) string { return string(v) })
	return out
}

// textMap returns the map with its values as text.
func textMap[V any](m map[string]V, text func(V) string) map[string]string {
	out := make(map[string]string, len(m))
	for name, v := range m {
		out[name] = text(v)
	}
	return out
}

// timeWords formats a deadline; 0 means the default, a negative one none.
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

// connect connects to each server and stores the result. It reports whether one could not be reached.
func (u *settings) connect(ctx context.Context, f *config.File) (missing bool) {
	for i, up := range f.Upstreams {
		row := &u.Upstreams[i]
		var err error
		if up.URL != nil {
			err = dial(ctx, up.URL)
		} else {
			_, err = exec.LookPath(inFolder(up.Dir, up.Command[0]))
		}
		reached := err == nil
		row.Reached = &reached
		if err != nil {
			missing, row.Why = true, err.Error()
		}
	}
	return missing
}

// inFolder returns a command with a relative path as seen from the folder in which it is started. A name stays as it is.
func inFolder(dir, command string) string {
	if dir == "" || filepath.IsAbs(command) || !strings.ContainsRune(command, os.PathSeparator) {
		return command
	}
	return filepath.Join(dir, command)
}

// dial opens a connection and closes it again.
func dial(ctx context.Context, target *url.URL) error {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	port := target.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[target.Scheme]
	}
	dialer := (&net.Dialer{}).DialContext
	if target.Scheme == "https" {
		dialer = (&tls.Dialer{}).DialContext
	}
	c, err := dialer(ctx, "tcp", net.JoinHostPort(target.Hostname(), port))
	if err != nil {
		return err
	}
	return c.Close()
}

const connectTimeout = 5 * time.Second

func (c *gatewayCheck) write(u *settings, format string) error {
	if format == "json" {
		return term.WriteJSONLine(c.env.Out, u)
	}
	p := c.env.Colors()
	line := func(name, text string) { fmt.Fprintf(c.env.Out, "%s %s\n", p.Faint(term.Pad(name, 7)), text) }
	line("listen", "http://"+u.Listen)
	if u.Admin != "" {
		line("admin", "http://"+u.Admin)
	}
	line("token", map[bool]string{true: "from the environment", false: config.None}[u.Token])
	line("ledger", u.Ledger)
	if u.Store != "" {
		line("shipped to", fmt.Sprintf("%s as node %s, ack=%s", u.Store, u.Node, u.Ack))
	}
	if u.Share != "" {
		line("share", u.Share)
	}
	line("drain", u.Drain)
	for i := range u.Upstreams {
		u.Upstreams[i].write(c.env, p)
	}
	return nil
}

func (u *upstreamSettings) write(env *term.Env, p term.Colors) {
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

// count is [term.Count] for an int that is not negative.
func count(n int, one, many string) string {
	return term.Count(uint64(n), one, many) //nolint:gosec // not negative
}

// words describes each setting in a few words.
func (u *upstreamSettings) words() []string {
	words := []string{u.Mode, "dialect " + u.Dialect, "timeout " + u.Timeout}
	if u.Start != gateway.DefaultStartTimeout.String() {
		words = append(words, "start timeout "+u.Start)
	}
	if u.Speaks != "" {
		words = append(words, "speaks "+u.Speaks)
	}
	if n := len(u.Tools); n > 0 {
		words = append(words, count(n, "tool with its own timeout", "tools with their own timeout"))
	}
	words = append(words, count(u.Retries, "retry", "retries"))
	for _, s := range []struct {
		on   bool
		name string
	}{{u.Breaker, "breaker"}, {u.Repeats, "repeats"}} {
		words = append(words, s.name+map[bool]string{true: " on", false: " off"}[s.on])
	}
	words = append(words, "validation "+u.Validate)
	if n := len(u.ToolChecks); n > 0 {
		words = append(words, count(n, "tool with its own validation", "tools with their own validation"))
	}
	if u.Cwd != "" {
		words = append(words, "started in "+term.Printable(u.Cwd))
	}
	if len(u.Command) > 0 {
		words = append(words, map[bool]string{true: "one process for all sessions", false: "one process per session"}[u.Shared], count(u.Restarts, "restart", "restarts"))
	}
	words = append(words, count(u.Masks, "mask", "masks"), count(u.Codes, "code rule", "code rules"), count(u.Results, "result rule", "result rules"))
	if u.Sharing {
		words = append(words, "shared with other gateways")
	}
	if u.Profile != "" {
		words = append(words, "profile "+term.Printable(u.Profile))
	}
	return words
}
