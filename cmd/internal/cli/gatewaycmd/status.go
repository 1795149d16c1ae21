package gatewaycmd

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
)

// GatewayStatus is the state of a running gateway; the names are part of what --json and the page /status promise.
type GatewayStatus struct {
	Draining  bool             `json:"draining"`
	Upstreams []upstreamStatus `json:"upstreams"`
}

type upstreamStatus struct {
	Name          string              `json:"name"`
	Mode          string              `json:"mode"`
	Validate      string              `json:"validate"`
	ValidateTools map[string]string   `json:"validateTools,omitempty"`
	Calls         uint64              `json:"calls"`
	Open          uint64              `json:"open"`
	Late          uint64              `json:"late"`
	Tolerances    []gateway.Tolerance `json:"tolerances"`
}

// statusPage shows what the upstreams do, and what they accept beyond their schemas.
func (s *serving) statusPage(w http.ResponseWriter, _ *http.Request) {
	text, err := term.MarshalJSON(s.status())
	if err != nil {
		http.Error(w, "the status could not be written", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	fmt.Fprintf(w, "%s\n", text)
}

func (s *serving) status() GatewayStatus {
	f := s.front.Load()
	out := GatewayStatus{Draining: s.draining.Load(), Upstreams: []upstreamStatus{}}
	for _, u := range f.file.Upstreams {
		understood := understandUpstream(u)
		row := upstreamStatus{
			Name: u.Name, Mode: understood.Mode, Validate: understood.Validate, ValidateTools: understood.ToolChecks,
			Calls: f.gone[u.Name].calls, Late: f.gone[u.Name].late,
		}
		for _, d := range f.all() {
			if d.settings.Name == u.Name {
				row.add(d.up)
			}
		}
		row.merge()
		out.Upstreams = append(out.Upstreams, row)
	}
	return out
}

// add counts one door to the upstream: there are several while calls that began before a reload go on.
func (u *upstreamStatus) add(up *gateway.Upstream) {
	u.Calls += up.Calls()
	u.Open += uint64(max(0, up.Open())) //nolint:gosec // it is not below zero
	u.Late += up.Late()
	u.Tolerances = append(u.Tolerances, up.Tolerances()...)
}

// merge joins the tolerances that several doors have seen.
func (u *upstreamStatus) merge() {
	sums := map[gateway.Tolerance]uint64{}
	for _, one := range u.Tolerances {
		calls := one.Calls
		one.Calls = 0
		sums[one] += calls
	}
	u.Tolerances = []gateway.Tolerance{}
	for one, calls := range sums {
		one.Calls = calls
		u.Tolerances = append(u.Tolerances, one)
	}
	slices.SortFunc(u.Tolerances, func(a, b gateway.Tolerance) int {
		return cmp.Or(cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Got, b.Got))
	})
}

// gatewayStatusCommand holds the flags of `candor gateway status`.
type gatewayStatusCommand struct {
	term.FormatFlag
	env    *term.Env
	admin  string
	config string
}

func newGatewayStatus(env *term.Env) *cobra.Command {
	c := &gatewayStatusCommand{env: env}
	cmd := &cobra.Command{
		Use:   "status [--admin ADDRESS | --config FILE]",
		Short: "Show what a running gateway does, and what its servers accept",
		Long: `Ask a running gateway for its status at its admin address, which is that of candor.yaml in the current folder
unless --admin or --config say otherwise. For each upstream it shows the calls, the strength of validation, and
the departures from the tools' schemas with which calls have succeeded: what the server accepts though its
schema does not.

The exit code is 0 if the gateway answered, 1 if it did not, 2 if its address is not known.`,
		Example: `  candor gateway status
  candor gateway status --admin 127.0.0.1:8766 --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.FormatFlag.Register(cmd, "text", "json")
	cmd.Flags().StringVar(&c.admin, "admin", "", "the admin address of the gateway")
	cmd.Flags().StringVar(&c.config, "config", "candor.yaml", "the file that the gateway was started with")
	cmd.MarkFlagsMutuallyExclusive("admin", "config")
	return cmd
}

func (c *gatewayStatusCommand) run(cmd *cobra.Command) error {
	format, err := c.Value(cmd)
	if err != nil {
		return err
	}
	address, err := c.address()
	if err != nil {
		return err
	}
	status, err := askStatus(term.Context(cmd.Context()), address)
	if err != nil {
		fmt.Fprintf(c.env.Err, "candor gateway status: no answer from http://%s/status: %s\n", address, term.Printable(err.Error()))
		return term.Found()
	}
	if format == "json" {
		line, err := term.MarshalJSON(status)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.env.Out, "%s\n", line)
		return err
	}
	c.write(status)
	return nil
}

// address returns the admin address that the flags or the file name.
func (c *gatewayStatusCommand) address() (string, error) {
	if c.admin != "" {
		address, err := config.ParseAdmin(c.admin)
		if err != nil {
			return "", service.BadFlag("--admin", err)
		}
		return address, nil
	}
	file, err := config.Read(c.config, config.Source{Getenv: c.env.Getenv})
	if err != nil {
		return "", service.BadFile("--config", err)
	}
	if file.Admin == "" {
		return "", term.BadInput("add admin: 127.0.0.1:8766 to the file and start the gateway again", "%s has no admin address", c.config)
	}
	return file.Admin, nil
}

// Bounds of what a gateway may answer.
const (
	statusTime = 5 * time.Second
	maxStatus  = 64 << 20
)

func askStatus(ctx context.Context, address string) (*GatewayStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, statusTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/status", nil)
	if err != nil {
		return nil, err
	}
	client := http.Client{Transport: &http.Transport{}} // without a proxy: the address is of this machine
	defer client.CloseIdleConnections()
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close() //nolint:errcheck // it was only read
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", res.StatusCode)
	}
	var status GatewayStatus
	if err := json.NewDecoder(io.LimitReader(res.Body, maxStatus)).Decode(&status); err != nil {
		return nil, fmt.Errorf("not a status of a gateway: %w", err)
	}
	return &status, nil
}

func (c *gatewayStatusCommand) write(s *GatewayStatus) {
	p := c.env.Colors()
	if s.Draining {
		fmt.Fprintln(c.env.Out, p.Warn("draining"))
	}
	for _, u := range s.Upstreams {
		fmt.Fprintf(c.env.Out, "%s %s\n", p.Name("/"+term.Printable(u.Name)+"/"), strings.Join([]string{
			term.Printable(u.Mode), "validation " + term.Printable(u.Validate), term.Count(u.Calls, "call", "calls"), fmt.Sprintf("%d open", u.Open), term.Count(u.Late, "late answer", "late answers"),
		}, ", "))
		for _, one := range u.Tolerances {
			fmt.Fprintf(c.env.Out, "  %s accepts %s\n", term.Printable(one.Tool), term.Printable(toleranceWords(one)))
		}
	}
}

// toleranceWords says what a server accepts though its schema does not.
func toleranceWords(t gateway.Tolerance) string {
	var words string
	switch t.Rule {
	case "type":
		words = "type " + t.Got
	case "unknown_key":
		words = "a key that the schema does not know"
	case "required":
		words = "a call without it"
	default:
		words = "a value that breaks " + t.Rule
	}
	path := t.Path
	if path == "" {
		path = "(arguments)"
	}
	return fmt.Sprintf("%s: %s (%s)", path, words, term.Count(t.Calls, "call", "calls"))
}
