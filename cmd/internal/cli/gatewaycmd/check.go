package gatewaycmd

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
	"github.com/candor-mcp/candor/internal/redact"
)

func newGatewayCheck(env *term.Env) *cobra.Command {
	var f gatewayFlags
	var format term.FormatFlag
	cmd := &cobra.Command{
		Use:   "check [--config FILE]",
		Short: "Check a configuration",
		Long: `Read the configuration as candor gateway would and print its ledger and servers. The default file is candor.yaml in the
current folder, unless --upstream is used. Nothing is started; candor doctor --config candor.yaml tries the servers.

Exit codes: 0 the configuration is valid; 2 it is not.`,
		Example: "  candor gateway check\n  candor gateway check --config candor.yaml --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			as, err := format.Value(cmd)
			if err != nil {
				return err
			}
			if f.config == "" && len(f.upstreams) == 0 {
				f.config = "candor.yaml"
			}
			return checkConfig(env, &f, as == "json")
		},
	}
	f.register(cmd)
	format.Register(cmd, "text", "json")
	return cmd
}

// checkedConfig describes a valid configuration. The member names are part of the output format of --json.
type checkedConfig struct {
	Ledger  string          `json:"ledger"`          // a folder, or none
	Store   string          `json:"store,omitempty"` // to which the ledger is shipped
	Servers []checkedServer `json:"servers"`
}

type checkedServer struct {
	Path   string       `json:"path"`
	Target string       `json:"target"` // the URL or the command, without secrets
	Mode   gateway.Mode `json:"mode"`
}

// checkConfig prints the ledger and the servers of a configuration, one per line or as JSON.
func checkConfig(env *term.Env, f *gatewayFlags, asJSON bool) error {
	file, err := f.read(env)
	if err != nil {
		return err
	}
	dir, store, err := service.Locate(file.Ledger, env.Getenv)
	if err != nil {
		return service.BadLedger(err)
	}
	checked, line := checkedConfig{Ledger: dir}, "the ledger is "+term.Printable(dir)
	if store != nil {
		checked.Store = store.String()
		line += ", shipped to " + term.Printable(checked.Store)
	}
	for _, u := range file.Upstreams {
		server := describeUpstream(u)
		checked.Servers = append(checked.Servers, server)
		line += "\n" + server.String()
	}
	return term.WriteReport(env, asJSON, checked, true, func() { fmt.Fprintln(env.Out, line) })
}

// describeUpstream returns the path, the URL or command, and the mode of an upstream. Secrets are redacted.
func describeUpstream(u config.Upstream) checkedServer {
	target := strings.ReplaceAll(redact.Policy{KeepPaths: true}.Text(strings.Join(u.Command, "\n")), "\n", " ")
	if u.URL != nil {
		target = config.ShowURL(u.URL)
	}
	return checkedServer{"/" + u.Name + "/", target, cmp.Or(u.Options.Mode, gateway.ModeAnnotate)}
}

// String returns the line for people.
func (s checkedServer) String() string {
	return fmt.Sprintf("%s is %s (%s)", s.Path, term.Printable(s.Target), s.Mode)
}
