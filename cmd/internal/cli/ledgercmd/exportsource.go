package ledgercmd

import (
	"context"
	"iter"
	"log/slog"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/view"
	"github.com/candor-mcp/candor/ledger"
)

// exportSource is what is exported: the ledger of one folder, or those of the nodes of a store.
type exportSource struct {
	readers map[string]*ledger.Reader // by node; "" for a folder
	nodes   []string                  // in order
	close   func() error
}

// source opens what is exported.
func (c *exportCommand) source(ctx context.Context, args []string) (*exportSource, error) {
	name, err := c.named(args)
	if err != nil {
		return nil, err
	}
	if fleet.IsLocation(name) {
		return c.storeSource(ctx, name)
	}
	r, err := c.reader(args)
	if err != nil {
		return nil, err
	}
	return &exportSource{readers: map[string]*ledger.Reader{"": r}, nodes: []string{""}, close: r.Close}, nil
}

// storeSource opens a store. Its nodes are read one after the other: chains of two nodes may have the same name, and the
// number of chains that are open at a time is that of one node.
func (c *exportCommand) storeSource(ctx context.Context, url string) (*exportSource, error) {
	at, err := fleet.ParseLocation(url)
	if err != nil {
		return nil, cannotUse(err)
	}
	store, err := c.env.Engines.Open(ctx, at, fleet.OpenOptions{Getenv: c.env.Getenv, Log: slog.New(slog.NewTextHandler(c.env.Err, nil))})
	if err != nil {
		return nil, cannotUse(err)
	}
	chains, err := store.Chains(ctx)
	if err != nil {
		_ = store.Close() // it was only read
		return nil, cannotUse(err)
	}
	byNode := map[string][]fleet.Chain{}
	s := &exportSource{readers: map[string]*ledger.Reader{}, close: store.Close}
	for _, chain := range chains { // sorted by node
		if byNode[chain.Node] == nil {
			s.nodes = append(s.nodes, chain.Node)
		}
		byNode[chain.Node] = append(byNode[chain.Node], chain)
	}
	for node, own := range byNode {
		s.readers[node] = ledger.NewReader(view.New(ctx, store, own))
	}
	return s, nil
}

// cannotUse returns the error for a store that cannot be read.
func cannotUse(err error) *term.Error {
	text, hint := term.SplitHint(err)
	if hint == "" {
		hint = "check the URL, the credentials and that the store is running"
	}
	e := term.BadInput(hint, "%s", text)
	e.Cause = err
	return e
}

// entries returns the entries that the filter accepts, in order of time within each node.
func (s *exportSource) entries(ctx context.Context, f *entryFilter, since time.Time, skipped func(string, int64)) iter.Seq2[term.ExportLine, error] {
	return func(yield func(term.ExportLine, error) bool) {
		for _, node := range s.nodes {
			r := s.readers[node]
			keep, err := f.keep(ctx, r)
			if err != nil {
				yield(term.ExportLine{}, err)
				return
			}
			for l, err := range r.Entries(ctx, ledger.ReadOptions{Since: since, Keep: keep, Skipped: skipped}) {
				if !yield(term.ExportLine{Node: node, Line: l}, err) {
					return
				}
			}
		}
	}
}
