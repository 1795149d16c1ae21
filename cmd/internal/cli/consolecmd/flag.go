package consolecmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/console"
)

// Flags are the flags of commands that serve the console of the ledger they write.
type Flags struct {
	listen   string
	tokenEnv string
	open     bool
}

// Register adds the flags.
func (f *Flags) Register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.listen, "console", "", "serve the console at this address; without =ADDRESS at a free port of this machine")
	cmd.Flags().Lookup("console").NoOptDefVal = DefaultListen
	cmd.Flags().StringVar(&f.tokenEnv, "console-token-env", "", "environment variable with a token for the console, with which rules can be written")
	cmd.Flags().BoolVar(&f.open, "console-open", false, "print a link that logs one browser in to the console, once; the default without --console-token-env")
}

// Sources is what a command knows besides the ledger.
type Sources struct {
	Servers  console.ServerSource
	Profiles Profiles // nil offers no rules
}

// Start starts the console if the flags ask for it, and prints its address. Otherwise it returns nil, which may be closed.
func (f *Flags) Start(ctx context.Context, p *service.Sinks, known Sources) (*Running, error) {
	switch {
	case f.listen == "" && (f.tokenEnv != "" || f.open):
		return nil, term.BadInput("add --console", "--console-token-env, --console-open: need --console")
	case f.listen == "":
		return nil, nil //nolint:nilnil // Close accepts it
	case p.Ledger == nil:
		return nil, term.BadInput("leave out --ledger none", "--console: the console needs a ledger")
	}
	o := Options{Dir: p.Dir, Listen: f.listen, Flag: "--console", TokenFlag: "--console-token-env", Log: p.Log, Servers: known.Servers}
	var err error
	if o.Token, err = p.Env.Secret("--console-token-env", f.tokenEnv); err != nil {
		return nil, err
	}
	if o.Token != "" {
		o.Profiles = known.Profiles
	}
	running, err := Start(ctx, p.Env, o)
	if err != nil {
		return nil, err
	}
	if o.Token == "" || f.open {
		p.Notice("console on %s", running.Link())
	} else {
		p.Notice("console on %s", running.Address())
	}
	return running, nil
}
