package bench

import (
	"log/slog"
	"os/user"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/ledger"
)

// Operator has the flags of the commands with which an operator inspects or changes the state of a server.
type Operator struct {
	StateFlags
	Env  *term.Env
	Cmd  *cobra.Command
	JSON bool
	Yes  bool
	By   string // --by; see [Operator.Person]
	Keep service.KeepFlags
}

// RegisterJSON adds --json.
func (o *Operator) RegisterJSON(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print one JSON object")
}

// RegisterDecision adds the flags of a command that changes something, with the help texts of --json and --by.
func (o *Operator) RegisterDecision(cmd *cobra.Command, json, by string) {
	o.Keep.Register(cmd)
	cmd.Flags().BoolVarP(&o.Yes, "yes", "y", false, "do not ask for confirmation")
	cmd.Flags().BoolVar(&o.JSON, "json", false, json)
	cmd.Flags().StringVar(&o.By, "by", "", by+"; default the current user")
}

// Confirm returns nil if the operator agrees.
func (o *Operator) Confirm(question string) error { return o.Env.RequireYes(o.Yes, o.JSON, question) }

// Person returns the name of the operator for the ledger.
func (o *Operator) Person() string {
	if o.By != "" {
		return o.By
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "unknown"
}

// OpenLedger opens the ledger, which the server writes too; the result is nil for --ledger none. If it fails, nothing may be changed.
func (o *Operator) OpenLedger(state *workbench.State, writer string) (*ledger.Ledger, error) {
	dir := o.LedgerDir(o.Env, state)
	if dir == "" {
		return nil, nil //nolint:nilnil // no ledger
	}
	options, err := o.Keep.Options(dir, writer, o.Env.Getenv, slog.New(slog.NewTextHandler(o.Env.Err, nil)))
	if err != nil {
		return nil, err
	}
	l, err := ledger.Open(dir, options)
	if err != nil {
		return nil, term.BadInput("name the folder of the ledger with --ledger", "opening the ledger: %s; nothing was changed", term.Cause(err))
	}
	return l, nil
}

// Stamp formats a time for a list.
func Stamp(t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}
