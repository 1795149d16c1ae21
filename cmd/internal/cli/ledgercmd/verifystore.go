package ledgercmd

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet/view"
	"github.com/candor-mcp/candor/internal/plural"
)

// storeReport is the output of `candor ledger verify URL --json`.
type storeReport struct {
	view.Report
	Checkpoints string    `json:"checkpoints"`        // file
	Compared    time.Time `json:"compared,omitzero"`  // time of the newest checkpoint in it
	Written     bool      `json:"checkpoint_written"` // a new one was added
	Store       string    `json:"store"`              // URL without credentials
}

func (c *verifyCommand) verifyStore(url string) error {
	s, err := c.store(&c.command, url)
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // it was only read
	s.options.Wait = time.Duration(c.wait)
	report := storeReport{Checkpoints: s.file.Name, Store: s.at.String()}
	if known := s.options.Known; known != nil {
		report.Compared = known.Time
	}
	show, clearLine := c.progress()
	if show != nil {
		s.options.Progress = func(p view.Progress) { show("%d of %d nodes, %d MiB", p.Done, p.Nodes, p.Bytes>>20) }
	}
	report.Report, err = view.Verify(c.cmd.Context(), s.Store, s.options)
	clearLine()
	if err != nil {
		return term.StoreError(err)
	}
	if err := c.addCheckpoint(s.file, &report); err != nil {
		return err
	}
	if !c.json {
		c.writeStore(&report)
	}
	return c.finish(report, report.OK)
}

// addCheckpoint adds a checkpoint to the file if nothing was changed in the store.
func (c *verifyCommand) addCheckpoint(file *view.Checkpoints, report *storeReport) error {
	if !report.OK && !report.Incomplete() || c.noCheckpoint {
		return nil
	}
	state, err := view.StateOf(&report.Report, c.env.Now())
	if err != nil {
		return err
	}
	if file.Key.Public == "" {
		if file.Key, err = view.CreateOperatorKey(file.Key.Name); err != nil {
			return term.BadInput("name the operator's key with --operator-key FILE", "%s", err)
		}
	}
	if _, err := file.Append(c.cmd.Context(), state); err != nil {
		text, hint := term.SplitHint(err)
		if hint == "" {
			hint = "name a file that can be written with --checkpoints FILE, or use --no-checkpoint"
		}
		return term.BadInput(hint, "writing the checkpoint: %s", text)
	}
	report.Written = true
	return nil
}

func (c *verifyCommand) writeStore(r *storeReport) {
	p := c.env.Colors()
	for i := range r.Nodes {
		c.say("%s\n", nodeWords(&r.Nodes[i], p))
	}
	for _, d := range r.Damage {
		c.say("%s\n", damageLines(d, p))
	}
	of := "of " + plural.Of(len(r.Nodes), "node")
	if r.Incomplete() {
		c.say("%s: %s %s are as they should be; others are not in the store\n", p.Warn("INCOMPLETE"), plural.Count(r.Entries, "entry", "entries"), of)
	} else {
		c.writeResult(r.OK, r.Entries, of, len(r.Damage))
	}
	c.explain(r)
}

// explain prints what the result was compared with, and the next step.
func (c *verifyCommand) explain(r *storeReport) {
	for _, d := range r.Damage {
		if d.Kind == "unknown-key" {
			c.env.Notify(c.cmd, "a node is known by another key", "rotate keys with candor ledger key rotate; to accept another key, list all keys of the node with --key FILE")
			break
		}
	}
	if slices.ContainsFunc(r.Damage, func(d view.Damage) bool { return d.Unshipped }) {
		c.env.Notify(c.cmd, "the store does not have entries that a node names: the node has not shipped them yet, or they were removed soon after",
			"on the node: candor fleet ship --once DIR URL; then verify again")
	}
	if r.Compared.IsZero() {
		c.env.Notify(c.cmd, "there was no checkpoint to compare with: an older copy of the store, and nodes that are missing, cannot be detected yet",
			"keep "+term.Printable(r.Checkpoints)+" outside the store, and verify again later")
		return
	}
	c.say("compared with the checkpoints up to %s in %s\n", LocalTime(r.Compared), term.Printable(r.Checkpoints))
}

// nodeWords describes a node in one line.
func nodeWords(n *view.Node, p term.Colors) string {
	words := []string{plural.Count(n.Entries, "entry", "entries"), plural.Of(len(n.Chains), "chain")}
	open, pruned := 0, uint64(0)
	for i := range n.Chains {
		if !n.Chains[i].Closed && n.Chains[i].Recovered == "" && n.Chains[i].Damage == nil {
			open++
		}
		pruned += n.Chains[i].Pruned
	}
	if open > 0 {
		words = append(words, fmt.Sprintf("%d not closed", open))
	}
	if pruned > 0 {
		words = append(words, fmt.Sprintf("%d pruned before", pruned))
	}
	if n.New {
		words = append(words, "its key is new here")
	}
	if !n.OK {
		words = append(words, "damaged")
	}
	return fmt.Sprintf("node %s: %s", p.Name(term.Printable(n.Node)), strings.Join(words, ", "))
}
