package gatewaycmd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
)

// GatewayStatus is the state of a running gateway. The member names are part of the output format of --json and /status.
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

// statusPage writes the state of the upstreams.
func (s *server) statusPage(w http.ResponseWriter, _ *http.Request) {
	text, err := term.MarshalJSON(s.status())
	if err != nil {
		http.Error(w, "status could not be written", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	fmt.Fprintf(w, "%s\n", text)
}

func (s *server) status() GatewayStatus {
	f := s.routes.Load()
	sums := f.totals()
	out := GatewayStatus{Draining: s.draining.Load(), Upstreams: []upstreamStatus{}}
	for _, u := range f.file.Upstreams {
		settings := upstreamSettingsOf(u)
		var all []*gateway.Upstream // an upstream has several endpoints while calls from before a reload are open
		for _, d := range f.all() {
			if d.settings.Name == u.Name {
				all = append(all, d.up)
			}
		}
		out.Upstreams = append(out.Upstreams, upstreamStatus{
			Name: u.Name, Mode: settings.Mode, Validate: settings.Validate, ValidateTools: settings.ToolChecks,
			Calls: sums[u.Name].calls, Open: sums[u.Name].open, Late: sums[u.Name].late, Tolerances: gateway.Tolerances(all...),
		})
	}
	return out
}

// gatewayStatusCommand has the flags of `candor gateway status`.
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
		Short: "Show the state of a running gateway",
		Long: `Ask a running gateway for its status at its admin address, by default the one in candor.yaml in the current
folder. For each upstream it shows the calls, the validation level, and the arguments that the server accepted
although they do not match the schema of the tool.

Exit codes: 0 the gateway answered; 1 it did not answer; 2 its address is unknown.`,
		Example: `  candor gateway status
  candor gateway status --admin 127.0.0.1:8766 --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.FormatFlag.Register(cmd, "text", "json")
	cmd.Flags().StringVar(&c.admin, "admin", "", "admin address of the gateway")
	cmd.Flags().StringVar(&c.config, "config", "candor.yaml", "configuration file of the gateway")
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
	status, err := askStatus(cmd.Context(), address)
	if err != nil {
		return &term.Error{Code: term.ExitFound, Text: fmt.Sprintf("no response from http://%s/status: %s", address, term.Printable(err.Error()))}
	}
	if format == "json" {
		return term.WriteJSONLine(c.env.Out, status)
	}
	c.write(status)
	return nil
}

// address returns the admin address of the flag or the file.
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
		return "", term.BadInput("add admin: 127.0.0.1:8766 to the file and restart the gateway", "%s: no admin address", c.config)
	}
	return file.Admin, nil
}

// Limits of a status response.
const (
	statusTimeout = 5 * time.Second
	maxStatus     = 64 << 20
)

func askStatus(ctx context.Context, address string) (*GatewayStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/status", nil)
	if err != nil {
		return nil, err
	}
	client := http.Client{Transport: &http.Transport{}} // no proxy: the address is on this machine
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
		return nil, fmt.Errorf("not a gateway status: %w", err)
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
			term.Printable(u.Mode), "validation " + term.Printable(u.Validate), term.Count(u.Calls, "call", "calls"), fmt.Sprintf("%d open", u.Open), term.Count(u.Late, "late response", "late responses"),
		}, ", "))
		for _, one := range u.Tolerances {
			fmt.Fprintf(c.env.Out, "  %s accepts %s\n", term.Printable(one.Tool), term.Printable(toleranceWords(one)))
		}
	}
}

// toleranceWords describes invalid arguments that a server accepts.
func toleranceWords(t gateway.Tolerance) string {
	var words string
	switch t.Rule {
	case "type":
		words = "type " + t.Got
	case "unknown_key":
		words = "a key that is not in the schema"
	case "required":
		words = "a call without this argument"
	default:
		words = "a value that violates " + t.Rule
	}
	path := t.Path
	if path == "" {
		path = "(arguments)"
	}
	return fmt.Sprintf("%s: %s (%s)", path, words, term.Count(t.Calls, "call", "calls"))
}
