package memstore_test

import (
	"context"
	"errors"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/memstore"
)

func TestAppendNeedsTheHead(t *testing.T) {
	s := memstore.New()
	chain := fleet.Chain{Node: "n", Name: "c"}
	err := s.Append(context.Background(), chain, fleet.Head{Seq: 1}, [][]byte{[]byte("x")})
	if conflict := (*fleet.ConflictError)(nil); !errors.As(err, &conflict) {
		t.Fatalf("Append after a head that does not exist = %v, want a conflict", err)
	}
	if d, err := s.Durability(context.Background()); err != nil || d.Quorum {
		t.Errorf("Durability = %+v, %v, want no quorum", d, err)
	}
}
