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

// railTrail records what a person does to the sessions and keys of a server. The zero value records nothing.
type railTrail struct {
	ledger *ledger.Ledger
	tool   string
	by     string
	now    func() time.Time
}

// registerTrail adds the flags of a command that writes to the trail.
func (c *railCommand) registerTrail(cmd *cobra.Command) {
	c.keep.RegisterCheckpoints(cmd)
	cmd.Flags().StringVar(&c.place.Ledger, "ledger", "", "the folder of the trail, or none; default CANDOR_LEDGER, else ledger in the state folder")
	cmd.Flags().StringVar(&c.by, "by", "", "who does it, for the trail; default the user who runs the command")
	_ = cmd.MarkFlagDirname("ledger") // the flag is ours, so that marking it cannot fail
}

// openTrail opens the trail that the server writes, too. Nothing is changed if it cannot be written.
func (c *railCommand) openTrail() (*railTrail, error) {
	t := &railTrail{tool: "workbench workrail " + c.cmd.Name(), by: c.by, now: c.env.Now}
	if t.by == "" {
		t.by = "unknown"
		if u, err := user.Current(); err == nil {
			t.by = u.Username
		}
	}
	dir := c.place.TrailDir(c.env, c.state)
	if dir == "" {
		return t, nil
	}
	var err error
	t.ledger, err = ledger.Open(dir, c.keep.Options(dir, c.cmd.Name(), c.env.Getenv, slog.New(slog.NewTextHandler(c.env.Err, nil))))
	if err != nil {
		return nil, term.BadInput("name the folder of the trail with --ledger", "the trail cannot be used, and nothing was changed: %s", term.Cause(err))
	}
	return t, nil
}

// record announces a change, makes it, and records how it ended.
func (t *railTrail) record(ctx context.Context, session string, about map[string]any, change func() error) error {
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

func (t *railTrail) close() error {
	if t.ledger == nil {
		return nil
	}
	return t.ledger.Close()
}
