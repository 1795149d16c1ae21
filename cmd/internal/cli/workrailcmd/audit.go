package workrailcmd

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"os/user"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/ledger"
)

// auditLog records the operator's changes in the ledger. Without a ledger it records nothing.
type auditLog struct {
	ledger *ledger.Ledger
	tool   string
	by     string
	now    func() time.Time
}

// registerLedger adds the flags of a command that writes to the ledger.
func (c *adminCommand) registerLedger(cmd *cobra.Command) {
	c.keep.RegisterCheckpoints(cmd)
	cmd.Flags().StringVar(&c.flags.Ledger, "ledger", "", "folder of the ledger, or none; default $CANDOR_LEDGER, else ledger in the --state folder")
	cmd.Flags().StringVar(&c.by, "by", "", "name of the operator for the ledger; default the current user")
	_ = cmd.MarkFlagDirname("ledger") // fails only for an unknown flag
}

// openLog opens the ledger, which the server writes too. If it fails, nothing may be changed.
func (c *adminCommand) openLog() (*auditLog, error) {
	t := &auditLog{tool: "workbench workrail " + c.cmd.Name(), by: c.by, now: c.env.Now}
	if t.by == "" {
		t.by = "unknown"
		if u, err := user.Current(); err == nil {
			t.by = u.Username
		}
	}
	dir := c.flags.LedgerDir(c.env, c.state)
	if dir == "" {
		return t, nil
	}
	var err error
	t.ledger, err = ledger.Open(dir, c.keep.Options(dir, c.cmd.Name(), c.env.Getenv, slog.New(slog.NewTextHandler(c.env.Err, nil))))
	if err != nil {
		return nil, term.BadInput("name the folder of the ledger with --ledger", "opening the ledger: %s; nothing was changed", term.Cause(err))
	}
	return t, nil
}

// record reserves an entry, makes a change, and records its outcome.
func (t *auditLog) record(ctx context.Context, session string, about map[string]any, change func() error) error {
	if t.ledger == nil {
		return change()
	}
	data := map[string]any{"by": t.by, "at": t.now().UTC().Format(time.RFC3339)}
	maps.Copy(data, about)
	entry := ledger.Entry{Tool: t.tool, SessionID: session, Role: "operator", Data: candor.DetailsOf(data)}
	effect, err := t.ledger.Reserve(ctx, entry)
	if err != nil {
		return term.Cause(err)
	}
	failed := change()
	entry.Outcome = ledger.OutcomeOK
	if failed != nil {
		entry.Outcome, entry.Cause = ledger.OutcomeError, failed.Error()
	}
	_, err = effect.Complete(ctx, entry)
	return errors.Join(failed, err)
}

func (t *auditLog) close() error {
	if t.ledger == nil {
		return nil
	}
	return t.ledger.Close()
}
