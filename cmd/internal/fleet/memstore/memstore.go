// Package memstore keeps the record of a fleet in memory, for tests. It behaves like an engine, and lets a test change what it holds as
// an attacker with access to the engine could.
package memstore

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"sync"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/ledger"
)

// Store is a store in memory. The zero value is not usable; see [New].
type Store struct {
	mu        sync.Mutex
	position  uint64
	chains    map[fleet.Chain][]line
	followers map[chan fleet.Stored]struct{}

	// Rights is what CheckRights returns.
	Rights []fleet.RightCheck
	// Err, if not nil, is returned by every method that reads or writes.
	Err error
	// Configured is the option of the last call of Setup.
	Configured *fleet.SetupOptions
}

type line struct {
	position uint64
	text     []byte
}

var _ fleet.Store = (*Store)(nil)

// New returns an empty store.
func New() *Store {
	return &Store{chains: map[fleet.Chain][]line{}, followers: map[chan fleet.Stored]struct{}{}}
}

// Engine returns an engine that always opens this store.
func (s *Store) Engine() fleet.Engine { return engine{s} }

type engine struct{ store *Store }

// Open returns the store.
func (e engine) Open(context.Context, fleet.Location, fleet.OpenOptions) (fleet.Store, error) {
	return e.store, nil
}

// Append implements [fleet.Store].
func (s *Store) Append(_ context.Context, chain fleet.Chain, after fleet.Head, lines [][]byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Err != nil {
		return s.Err
	}
	if head := s.head(chain); head != after {
		return &fleet.ConflictError{Chain: chain, Head: head}
	}
	for _, text := range lines {
		s.position++
		s.chains[chain] = append(s.chains[chain], line{s.position, slices.Clone(text)})
		for to := range s.followers {
			to <- fleet.Stored{Chain: chain, Position: s.position, Line: slices.Clone(text)}
		}
	}
	return nil
}

// Head implements [fleet.Store].
func (s *Store) Head(_ context.Context, chain fleet.Chain) (fleet.Head, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.head(chain), s.Err
}

func (s *Store) head(chain fleet.Chain) fleet.Head {
	lines := s.chains[chain]
	if len(lines) == 0 {
		return fleet.Head{}
	}
	last, err := ledger.ParseLine(lines[len(lines)-1].text)
	if err != nil {
		return fleet.Head{}
	}
	return fleet.Head{Seq: last.Seq, Hash: last.Hash}
}

// Chains implements [fleet.Store].
func (s *Store) Chains(context.Context) ([]fleet.Chain, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []fleet.Chain
	for chain, lines := range s.chains {
		if len(lines) > 0 {
			names = append(names, chain)
		}
	}
	slices.SortFunc(names, func(a, b fleet.Chain) int { return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Name, b.Name)) })
	return names, s.Err
}

// Lines implements [fleet.Store].
func (s *Store) Lines(ctx context.Context, chain fleet.Chain, after uint64) iter.Seq2[fleet.Stored, error] {
	s.mu.Lock()
	lines, err := s.chains[chain], s.Err
	s.mu.Unlock()
	return func(yield func(fleet.Stored, error) bool) {
		if err != nil {
			yield(fleet.Stored{}, err)
			return
		}
		for _, l := range lines {
			if ctx.Err() != nil {
				yield(fleet.Stored{}, ctx.Err())
				return
			}
			if l.position > after && !yield(fleet.Stored{Chain: chain, Position: l.position, Line: l.text}, nil) {
				return
			}
		}
	}
}

// Follow implements [fleet.Store].
func (s *Store) Follow(ctx context.Context) iter.Seq2[fleet.Stored, error] {
	lines := make(chan fleet.Stored, 4096)
	s.mu.Lock()
	s.followers[lines] = struct{}{}
	s.mu.Unlock()
	return func(yield func(fleet.Stored, error) bool) {
		defer func() {
			s.mu.Lock()
			delete(s.followers, lines)
			s.mu.Unlock()
		}()
		for {
			select {
			case <-ctx.Done():
				return
			case l := <-lines:
				if !yield(l, nil) {
					return
				}
			}
		}
	}
}

// Remove implements [fleet.Store].
func (s *Store) Remove(_ context.Context, chain fleet.Chain, through uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chains[chain] = slices.DeleteFunc(slices.Clone(s.chains[chain]), func(l line) bool {
		parsed, err := ledger.ParseLine(l.text)
		return err == nil && parsed.Seq <= through
	})
	return s.Err
}

// Durability implements [fleet.Store]: nothing in memory is durable.
func (s *Store) Durability(context.Context) (fleet.Durability, error) {
	return fleet.Durability{Replicas: 1, Gap: fleet.Wrong("the store is in memory", "use another engine")}, nil
}

// Setup implements [fleet.Store] and remembers the options.
func (s *Store) Setup(_ context.Context, o fleet.SetupOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Configured = &o
	return s.Err
}

// Grant implements [fleet.Store].
func (s *Store) Grant(node string) (string, error) {
	if !fleet.ValidNode(node) {
		return "", errors.New("not the name of a node")
	}
	return "allow " + node + "\n", nil
}

// CheckRights implements [fleet.Store].
func (s *Store) CheckRights(context.Context, string) ([]fleet.RightCheck, error) {
	return s.Rights, s.Err
}

// Close implements [fleet.Store]. The lines stay.
func (s *Store) Close() error { return nil }

// Edit replaces the lines of a chain by what change returns, without any check. An empty result removes the chain.
func (s *Store) Edit(chain fleet.Chain, change func(lines [][]byte) [][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var texts [][]byte
	for _, l := range s.chains[chain] {
		texts = append(texts, slices.Clone(l.text))
	}
	delete(s.chains, chain)
	for _, text := range change(texts) {
		s.position++
		s.chains[chain] = append(s.chains[chain], line{s.position, text})
	}
}
