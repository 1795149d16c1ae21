package pgstore

import (
	"context"
	"fmt"
	"iter"
	"math"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

// rolePrefix begins the name of a node's role; the node's name follows.
const rolePrefix = "candor_node_"

const (
	maxPage      = 8 << 20 // bytes that a page can have; candor.page returns less
	lineOverhead = 64      // bytes of memory that a line needs beside its own
)

type store struct {
	pool   *pgxpool.Pool
	config *pgxpool.Config
	role   string // that logs in
}

// Close waits until the calls that are running have ended.
func (s *store) Close() error {
	s.pool.Close()
	return nil
}

// Append calls the function for the node that has logged in, or the one for operators if the chain is another node's.
func (s *store) Append(ctx context.Context, chain fleet.Chain, after fleet.Head, lines [][]byte) error {
	if _, err := fleet.CheckLines(chain, after, lines); err != nil {
		return err
	}
	if len(lines) == 0 {
		return s.checkHead(ctx, chain, after)
	}
	if after.Seq > math.MaxInt64 {
		return candor.New(candor.CodeInvalidArguments, "The number of the expected entry is too large.")
	}
	call, args := "SELECT stored, head FROM candor.append($1, $2, $3, $4)", []any{chain.Name, int64(after.Seq), after.Hash[:], lines}
	if s.role != rolePrefix+chain.Node {
		call, args = "SELECT stored, head FROM candor.append_as($5, $1, $2, $3, $4)", append(args, chain.Node)
	}
	var stored bool
	var last []byte
	if err := s.durably(ctx, call, args, &stored, &last); err != nil || stored {
		return err
	}
	head, err := headOf(chain, last)
	if err != nil {
		return err
	}
	return &fleet.ConflictError{Chain: chain, Head: head}
}

// checkHead is an append of no lines.
func (s *store) checkHead(ctx context.Context, chain fleet.Chain, after fleet.Head) error {
	head, err := s.Head(ctx, chain)
	if err == nil && head != after {
		err = &fleet.ConflictError{Chain: chain, Head: head}
	}
	return err
}

// headOf returns the head of a chain with this last line, or the zero head if there is none.
func headOf(chain fleet.Chain, last []byte) (fleet.Head, error) {
	if last == nil {
		return fleet.Head{}, nil
	}
	return fleet.HeadOf(chain, last)
}

// durably runs one statement that returns one row. A warning is an error: that is how a server reports that it has stopped waiting for its
// standbys, and the statement then succeeds although its effect may be on one machine only.
func (s *store) durably(ctx context.Context, call string, args []any, into ...any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return storeError(err)
	}
	defer conn.Release()
	notes := conn.Conn().PgConn().CustomData()
	delete(notes, warningKey)
	if err := conn.QueryRow(ctx, call, args...).Scan(into...); err != nil {
		return storeError(err)
	}
	if text, warned := notes[warningKey]; warned {
		return candor.New(candor.CodeUnavailable, fmt.Sprintf("PostgreSQL did not confirm that the change is durable: %v.", text))
	}
	return nil
}

// Head also makes the entry durable: the caller may have lost the answer to the call that appended it.
func (s *store) Head(ctx context.Context, chain fleet.Chain) (fleet.Head, error) {
	if err := chain.Check(); err != nil {
		return fleet.Head{}, err
	}
	var last []byte
	if err := s.durably(ctx, "SELECT candor.head($1, $2)", []any{chain.Node, chain.Name}, &last); err != nil {
		return fleet.Head{}, err
	}
	return headOf(chain, last)
}

// Chains returns the chains that the role may read.
func (s *store) Chains(ctx context.Context) ([]fleet.Chain, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	rows, err := s.pool.Query(ctx, "SELECT node, name FROM candor.chain_list()")
	if err != nil {
		return nil, storeError(err)
	}
	chains, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (chain fleet.Chain, err error) {
		return chain, row.Scan(&chain.Node, &chain.Name)
	})
	return chains, storeError(err)
}

// Lines reads page by page and holds no connection while the caller handles a line.
func (s *store) Lines(ctx context.Context, chain fleet.Chain, after uint64) iter.Seq2[fleet.Stored, error] {
	return func(yield func(fleet.Stored, error) bool) {
		end, err := s.chainEnd(ctx, chain)
		for err == nil && after < end {
			var lines []fleet.Stored
			if lines, err = s.readPage(ctx, chain, after, end); err != nil || len(lines) == 0 {
				break // the rest was removed in the meantime
			}
			for _, stored := range lines {
				if !yield(stored, nil) {
					return
				}
				after = stored.Position
			}
		}
		if err != nil {
			yield(fleet.Stored{Chain: chain}, err)
		}
	}
}

func (s *store) chainEnd(ctx context.Context, chain fleet.Chain) (uint64, error) {
	if err := chain.Check(); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var end *int64
	if err := s.pool.QueryRow(ctx, "SELECT candor.chain_end($1, $2)", chain.Node, chain.Name).Scan(&end); err != nil {
		return 0, storeError(err)
	}
	if end == nil || *end < 0 {
		return 0, nil
	}
	return uint64(*end), nil
}

// readPage returns the first lines after a position. A hostile server cannot make a caller read the same lines forever, or fill its memory:
// positions increase, and the size of a page is limited.
func (s *store) readPage(ctx context.Context, chain fleet.Chain, after, through uint64) ([]fleet.Stored, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	rows, err := s.pool.Query(ctx, "SELECT at, content FROM candor.page($1, $2, $3, $4)", chain.Node, chain.Name, after, through)
	if err != nil {
		return nil, storeError(err)
	}
	defer rows.Close()
	var lines []fleet.Stored
	size := 0
	for rows.Next() {
		stored := fleet.Stored{Chain: chain}
		if err := rows.Scan(&stored.Position, &stored.Line); err != nil {
			return nil, storeError(err)
		}
		size += len(stored.Line) + lineOverhead
		if stored.Position <= after || size > maxPage {
			return nil, candor.New(candor.CodeDataCorrupt, fmt.Sprintf("PostgreSQL returned lines of chain %s that were not asked for.", chain))
		}
		after = stored.Position
		lines = append(lines, stored)
	}
	return lines, storeError(rows.Err())
}

// Remove needs the role candor_operator.
func (s *store) Remove(ctx context.Context, chain fleet.Chain, through uint64) error {
	if err := chain.Check(); err != nil {
		return err
	}
	number := int64(min(through, math.MaxInt64)) //nolint:gosec // limited
	var none any
	return s.durably(ctx, "SELECT candor.remove($1, $2, $3)::text", []any{chain.Node, chain.Name, number}, &none)
}
