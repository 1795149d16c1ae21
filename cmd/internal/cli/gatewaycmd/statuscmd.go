package gatewaycmd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
)

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
		Use:   "status [NAME] [--admin ADDRESS | --config FILE]",
		Short: "Show the state of a running gateway",
		Long: `Ask a running gateway for its status at its admin address, by default the one in candor.yaml in the current
folder. A table has for each upstream the state of its circuit breaker, the calls since the start of the gateway,
how many of them failed, were masked as a success, or only look like a failure, the retries that a client made
against the advice of the error, and the percentiles of the latency of tool calls in the last five minutes. Below
it are the server and its protocol version, its processes and their last exit, and the last failure. With NAME only
that upstream is shown.

Exit codes: 0 the gateway answered; 1 it did not answer; 2 its address or the upstream is unknown.`,
		Example: `  candor gateway status
  candor gateway status github
  candor gateway status --admin 127.0.0.1:8766 --json`,
		Args: term.MaxArgs(1, "candor gateway status github"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd, args) },
	}
	c.FormatFlag.Register(cmd, "text", "json")
	cmd.Flags().StringVar(&c.admin, "admin", "", "admin address of the gateway")
	cmd.Flags().StringVar(&c.config, "config", "candor.yaml", "configuration file of the gateway")
	cmd.MarkFlagsMutuallyExclusive("admin", "config")
	return cmd
}

func (c *gatewayStatusCommand) run(cmd *cobra.Command, args []string) error {
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
	if len(args) > 0 {
		if err := status.only(args[0]); err != nil {
			return err
		}
	}
	return term.WriteReport(c.env, format == "json", status, true, func() { writeStatus(c.env, status, time.Now()) })
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

// only removes all upstreams but one.
func (s *GatewayStatus) only(name string) error {
	var names []string
	for _, u := range s.Upstreams {
		if u.Name == name {
			s.Upstreams = []upstreamStatus{u}
			return nil
		}
		names = append(names, u.Name)
	}
	return term.Unknown("upstream", name, names)
}
