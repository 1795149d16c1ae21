package ledgercmd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/console/failures"
	"github.com/candor-mcp/candor/internal/repeated"
	"github.com/candor-mcp/candor/ledger"
)

func newShow(c command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show REF|CALL|CHAIN/SEQ|SEQ",
		Short: "Show the entries of one failure or one call",
		Long: `Show all entries with a ref or call id, the other entries of the same call, and those of the same failure by the
server behind a gateway or by the gateway. The beginning of a ref or call id is enough if no other one begins with
it. CHAIN/SEQ is one entry; SEQ alone is enough if there is only one chain. Times are local; with --json they are in
UTC.`,
		Example: `  candor ledger show 6f1c9a
  candor ledger show candor-20261115T040506789Z-0a1b2c3d/17
  candor ledger show 17 --json`,
		Args: term.OneArg("ref, call or number", "candor ledger show REF"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.show(cmd.Context(), args[0]) },
	}
	c.registerJSON(cmd, "print the lines of the ledger unchanged")
	return cmd
}

func (c *command) show(ctx context.Context, asked string) error {
	s, err := c.source(ctx, nil, nil)
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // it was only read
	list, err := find(ctx, s.Reader, asked)
	if err == nil && list[0].id != "" {
		list, err = ofCalls(ctx, s.Reader, list)
	}
	for i := range list {
		if c.json {
			fmt.Fprintf(c.env.Out, "%s\n", list[i].raw)
			continue
		}
		if i > 0 {
			c.say("\n")
		}
		c.showEntry(&list[i].record)
	}
	return err
}

// ofCalls returns the entries with the id of a list, the other entries of the same calls, and those of the same failure by a gateway or by
// the server behind one.
func ofCalls(ctx context.Context, r *ledger.Reader, list []found) ([]found, error) {
	wanted := map[string]bool{list[0].id: true}
	for i := range list {
		wanted[list[i].record.Call] = true
		if l, err := ledger.ParseLine(list[i].raw); err == nil {
			wanted[repeated.Ref(&l)] = true
		}
	}
	delete(wanted, "")
	return entries(ctx, r, ledger.ReadOptions{Keep: func(l *ledger.Line) bool {
		for id := range wanted {
			if bytes.Contains(l.Raw(), []byte(id)) { // most entries are decided without decoding them
				record, err := l.Record()
				return err == nil && (wanted[record.Ref] || wanted[record.Call] || wanted[repeated.Ref(l)])
			}
		}
		return false
	}}, nil)
}

func (c *command) showEntry(r *ledger.Record) {
	p := c.env.Colors()
	c.say("%s  %s\n", p.Bold(fmt.Sprintf("%s/%d", r.Chain, r.Seq)), r.Kind)
	row := func(name, value string) {
		if value != "" {
			c.say("  %s  %s\n", p.Faint(term.Pad(name, 9)), term.Printable(value))
		}
	}
	row("time", r.Time.Local().Format(microLayout))
	if r.Code != "" {
		row("code", fmt.Sprintf("%s (%s %d), %s", r.Code, r.Domain, r.Number, r.Class))
	}
	if !isInternal(r.Kind) {
		row("server", r.Server())
	}
	row("tool", r.Tool)
	if message := failures.MessageOf(r); message != r.Cause {
		row("message", message)
	}
	row("ref", r.Ref)
	row("call", r.Call)
	if r.Retry != nil {
		row("retry", term.RetryWords(*r.Retry))
	}
	if r.Origin != nil {
		row("origin", string(r.Origin.By))
	}
	row("session", r.SessionID)
	row("role", r.Role)
	row("plan", r.PlanHash)
	row("phase", r.PhaseID)
	row("invariant", r.InvariantID)
	row("outcome", string(r.Outcome))
	if r.Attempt > 0 {
		row("attempt", strconv.Itoa(r.Attempt))
	}
	if r.LatencyUS > 0 {
		row("latency", fmt.Sprintf("%.3f ms", float64(r.LatencyUS)/1000))
	}
	if r.Args != nil {
		row("arguments", fmt.Sprintf("%d bytes, %s", r.Args.Bytes, r.Args.Digest))
	}
	row("cause", r.Cause)
	if r.Upstream != nil {
		row("upstream", r.Upstream.Text)
	}
	if r.Envelope != nil {
		row("envelope", r.Envelope.Text)
	}
	var data struct{ Note string }
	if json.Unmarshal(r.Data, &data) == nil && data.Note != "" {
		row("data", "a signed checkpoint")
	} else {
		row("data", string(r.Data))
	}
	row("hash", r.Hash)
}

// Failure returns the failure in the ledger that a ref, a call, CHAIN/SEQ or SEQ names, for a command of another package. If it was
// recorded several times, as the attempts of a call are, it is the last one.
func Failure(ctx context.Context, env *term.Env, dir, asked string) (*ledger.Record, error) {
	c := &command{env: env, dir: &dir}
	s, err := c.source(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	defer s.Close() //nolint:errcheck // it was only read
	list, err := find(ctx, s.Reader, asked)
	if err != nil {
		return nil, err
	}
	for i := range slices.Backward(list) {
		if list[i].record.Kind == ledger.KindFailure {
			return &list[i].record, nil
		}
	}
	return nil, term.BadInput("candor ledger show "+asked+" shows the entry", "%q: not a failure", asked)
}
