package workrailcmd

import (
	"context"
	"errors"
	"maps"
	"time"

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

// openLog opens the ledger.
func (c *adminCommand) openLog() (*auditLog, error) {
	l, err := c.OpenLedger(c.state, c.Cmd.Name())
	return &auditLog{ledger: l, tool: "workbench workrail " + c.Cmd.Name(), by: c.Person(), now: c.Env.Now}, err
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
