package ledgercmd

import (
	"context"
	"errors"
	"slices"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/view"
	"github.com/candor-mcp/candor/ledger"
)

// source is what a command reads: the ledger of one folder, or those of the nodes of a store.
type source struct {
	*ledger.Reader             // of all nodes together
	nodes          []node      // in order
	store          fleet.Store // nil for a folder
	view           *view.FS    // nil for a folder
}

// node is one of the ledgers of a source.
type node struct {
	name   string // "" for a folder
	reader *ledger.Reader
}

// source opens the folder or store that args or --ledger names, with the named nodes or all.
func (c *command) source(ctx context.Context, args, nodes []string) (*source, error) {
	name, err := c.named(args)
	if err != nil {
		return nil, err
	}
	if fleet.IsLocation(name) {
		store, _, err := c.env.OpenStore(ctx, name)
		if err != nil {
			return nil, err
		}
		s, err := storeSource(ctx, store, nodes)
		if err != nil {
			return nil, errors.Join(term.StoreError(err), store.Close())
		}
		return s, nil
	}
	if len(nodes) > 0 {
		return nil, term.BadInput("leave it out, or name the URL of a store", "--node: a folder has the ledger of one node")
	}
	r, err := c.reader(args)
	if err != nil {
		return nil, err
	}
	return &source{Reader: r, nodes: []node{{"", r}}}, nil
}

// storeSource reads the nodes of a store one after the other: chains of two nodes may have the same name, and the number
// of chains that are open at a time is that of one node.
func storeSource(ctx context.Context, store fleet.Store, nodes []string) (*source, error) {
	chains, err := store.Chains(ctx)
	if err != nil {
		return nil, err
	}
	var known []string
	byNode := map[string][]fleet.Chain{}
	for _, c := range chains { // sorted by node
		if byNode[c.Node] == nil {
			known = append(known, c.Node)
		}
		byNode[c.Node] = append(byNode[c.Node], c)
	}
	for _, name := range nodes {
		if !slices.Contains(known, name) {
			return nil, term.Unknown("--node", name, known)
		}
	}
	s := &source{store: store}
	wanted := slices.DeleteFunc(chains, func(c fleet.Chain) bool { return len(nodes) > 0 && !slices.Contains(nodes, c.Node) })
	s.view = view.New(ctx, store, wanted)
	s.Reader = ledger.NewReader(s.view)
	for _, name := range known {
		if len(nodes) == 0 || slices.Contains(nodes, name) {
			s.nodes = append(s.nodes, node{name, ledger.NewReader(view.New(ctx, store, byNode[name]))})
		}
	}
	return s, nil
}

// node returns the node that writes a chain, or "" for a folder.
func (s *source) node(chain string) string {
	if s.view == nil {
		return ""
	}
	return s.view.Node(chain)
}

// failed returns the error for a source that cannot be read.
func (s *source) failed(err error) error {
	if s.store != nil {
		return term.StoreError(err)
	}
	return cannotRead(err)
}

// Close closes the folder or the store.
func (s *source) Close() error {
	if s.store != nil {
		return s.store.Close()
	}
	return s.Reader.Close()
}
