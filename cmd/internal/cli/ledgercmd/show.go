package ledgercmd

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/console/failures"
	"github.com/candor-mcp/candor/ledger"
)

// showCommand has the flags of `candor ledger show`.
type showCommand struct {
	*ledgerCommand
	json bool
}

func newShow(l *ledgerCommand) *cobra.Command {
	c := &showCommand{ledgerCommand: l}
	cmd := &cobra.Command{
		Use:   "show REF|CALL|CHAIN/SEQ|SEQ",
		Short: "Show the entries of one failure or one call",
		Long: `Show all entries with a ref or call id, and the other entries of the same call. The beginning of a ref or call id
is enough if no other one begins with it. CHAIN/SEQ is one entry; SEQ alone is enough if there is only one chain.
Times are local; with --json they are in UTC.`,
		Example: `  candor ledger show 6f1c9a
  candor ledger show candor-20261115T040506789Z-0a1b2c3d/17
  candor ledger show 17 --json`,
		Args: term.OneArg("ref, call or number", "candor ledger show REF"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args[0]) },
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "print the lines of the ledger unchanged")
	return cmd
}

func (c *showCommand) run(ctx context.Context, asked string) error {
	r, err := c.reader(nil)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // it was only read
	if asked == "" {
		return noSuchEntry(ctx, r, asked)
	}
	shown, notEntry := c.showEntry(ctx, r, asked)
	if shown > 0 || notEntry != nil && strings.Contains(asked, "/") {
		return notEntry
	}
	if shown, err = c.showRef(ctx, r, asked); err != nil || shown > 0 {
		return err
	}
	switch id, err := completeID(ctx, r, asked); {
	case err != nil:
		return err
	case id != "":
		_, err = c.showRef(ctx, r, id)
		return err
	case notEntry != nil:
		return notEntry
	}
	return noSuchEntry(ctx, r, asked)
}

// noSuchEntry returns the error for an entry that was not found. It may be one of the lines that are not valid.
func noSuchEntry(ctx context.Context, r *ledger.Reader, asked string) error {
	invalid := uint64(0)
	for _, err := range r.Entries(ctx, ledger.ReadOptions{Keep: func(*ledger.Line) bool { return false }, Skipped: func(string, int64) { invalid++ }}) {
		if err != nil {
			return cannotRead(err)
		}
	}
	if invalid > 0 {
		return term.BadInput("run candor ledger verify", "%q: no such entry; %s skipped", asked, term.Count(invalid, "invalid line was", "invalid lines were"))
	}
	return term.BadInput("candor ledger tail lists the last entries with their ref and CHAIN/SEQ", "%q: no such entry", asked)
}

func (c *showCommand) showEntry(ctx context.Context, r *ledger.Reader, asked string) (int, error) {
	chain, seq, err := parseEntry(r, asked)
	if err != nil || seq == 0 {
		return 0, err
	}
	return c.show(ctx, r, ledger.ReadOptions{Chain: chain, Keep: func(l *ledger.Line) bool { return l.Seq == seq }})
}

// showRef shows all entries of a ref or call, and the other entries of the same call.
func (c *showCommand) showRef(ctx context.Context, r *ledger.Reader, asked string) (int, error) {
	calls, found := map[string]bool{asked: true}, false
	mentions := func(l *ledger.Line) bool { return strings.Contains(string(l.Raw()), asked) }
	for l, err := range r.Entries(ctx, ledger.ReadOptions{Keep: mentions}) {
		if err != nil {
			return 0, cannotRead(err)
		}
		record, err := l.Record()
		if err != nil || record.Ref != asked && record.Call != asked {
			continue
		}
		found = true
		if record.Call != "" {
			calls[record.Call] = true
		}
	}
	if !found {
		return 0, nil
	}
	ofCall := func(raw string) bool {
		for call := range calls {
			if strings.Contains(raw, call) {
				return true
			}
		}
		return false
	}
	return c.show(ctx, r, ledger.ReadOptions{Keep: func(l *ledger.Line) bool {
		if !ofCall(string(l.Raw())) { // most entries are decided without decoding them
			return false
		}
		record, err := l.Record()
		return err == nil && (record.Ref == asked || record.Call != "" && calls[record.Call])
	}})
}

func (c *showCommand) show(ctx context.Context, r *ledger.Reader, options ledger.ReadOptions) (shown int, err error) {
	for l, err := range r.Entries(ctx, options) {
		if err != nil {
			return shown, cannotRead(err)
		}
		if c.json {
			fmt.Fprintf(c.env.Out, "%s\n", l.Raw())
		} else if record, err := l.Record(); err == nil {
			if shown > 0 {
				fmt.Fprintln(c.env.Out)
			}
			c.write(&record)
		}
		shown++
	}
	return shown, nil
}

func (c *showCommand) write(r *ledger.Record) {
	p := c.env.Colors()
	fmt.Fprintf(c.env.Out, "%s  %s\n", p.Bold(fmt.Sprintf("%s/%d", r.Chain, r.Seq)), r.Kind)
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(c.env.Out, "  %s  %s\n", p.Faint(term.Pad(name, 9)), term.Printable(value))
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
