package view_test

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

// memory is a store in memory, without the methods that these tests do not need. A test changes it as an attacker with access to
// an engine could: a line may hold anything.
type memory struct {
	fleet.Store
	mu    sync.Mutex
	lines map[fleet.Chain][][]byte
}

func newMemory() *memory { return &memory{lines: map[fleet.Chain][][]byte{}} }

func (s *memory) Append(_ context.Context, chain fleet.Chain, _ fleet.Head, lines [][]byte) error {
	s.Edit(chain, func(old [][]byte) [][]byte { return append(old, lines...) })
	return nil
}

func (s *memory) Head(_ context.Context, chain fleet.Chain) (fleet.Head, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := s.lines[chain]
	if len(lines) == 0 {
		return fleet.Head{}, nil
	}
	return fleet.HeadOf(chain, lines[len(lines)-1])
}

func (s *memory) Chains(context.Context) ([]fleet.Chain, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Keys(s.lines), fleet.Chain.Compare), nil
}

func (s *memory) Lines(_ context.Context, chain fleet.Chain, after uint64) iter.Seq2[fleet.Stored, error] {
	s.mu.Lock()
	lines := s.lines[chain]
	s.mu.Unlock()
	return func(yield func(fleet.Stored, error) bool) {
		for i := after; i < uint64(len(lines)); i++ {
			if !yield(fleet.Stored{Chain: chain, Position: i + 1, Line: lines[i]}, nil) {
				return
			}
		}
	}
}

func (s *memory) Remove(_ context.Context, chain fleet.Chain, through uint64) error {
	s.Edit(chain, func(lines [][]byte) [][]byte {
		return slices.DeleteFunc(lines, func(line []byte) bool { return seqOf(line) <= through })
	})
	return nil
}

// Edit replaces the lines of a chain by what change returns. An empty result removes the chain.
func (s *memory) Edit(chain fleet.Chain, change func(lines [][]byte) [][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines[chain] = change(slices.Clone(s.lines[chain]))
	if len(s.lines[chain]) == 0 {
		delete(s.lines, chain)
	}
}
