package fleet

import (
	"bytes"
	"fmt"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/ledger"
)

// MaxLine is the maximum size of a line without its line feed, as in spec/ledger.md.
const MaxLine = format.MaxLine - 1

// Check returns an error unless the names of the node and of the chain can be used in a path, a subject or a key. A
// store checks the names before it does anything.
func (c Chain) Check() error {
	if !ValidNode(c.Node) {
		return Fault(candor.CodeInvalidArguments, fmt.Errorf("%q is not the name of a node", c.Node))
	}
	if !format.IsChainName(c.Name) {
		return Fault(candor.CodeInvalidArguments, fmt.Errorf("%q is not the name of a chain", c.Name))
	}
	return nil
}

// CheckLines returns the head that a chain has after lines were appended, or an error unless the lines are entries of
// the chain of which each continues the one before. The first one continues after; if after is the zero head it may
// have any number, because a node may have removed older entries before it began to ship. A store calls CheckLines in
// Append, so that a mistake in the program cannot spoil a chain; a peer that means harm is not stopped by it.
func CheckLines(chain Chain, after Head, lines [][]byte) (Head, error) {
	if err := chain.Check(); err != nil {
		return Head{}, err
	}
	head := after
	for i, line := range lines {
		next, err := follow(chain, head, line)
		if err != nil {
			return Head{}, fmt.Errorf("line %d of %d for chain %s: %w", i+1, len(lines), chain, err)
		}
		head = next
	}
	return head, nil
}

// follow returns the head after line, which must continue a chain with this head.
func follow(chain Chain, head Head, line []byte) (Head, error) {
	if len(line) > MaxLine {
		return Head{}, Fault(candor.CodeTooLarge, fmt.Errorf("it has %d bytes, and the maximum is %d", len(line), MaxLine))
	}
	if bytes.IndexByte(line, '\n') >= 0 {
		return Head{}, Fault(candor.CodeInvalidArguments, fmt.Errorf("it contains a line feed"))
	}
	entry, err := ledger.ParseLine(line)
	switch {
	case err != nil:
		return Head{}, Fault(candor.CodeInvalidArguments, err)
	case !entry.In(chain.Name):
		return Head{}, Fault(candor.CodeInvalidArguments, fmt.Errorf("it belongs to chain %s", entry.Chain()))
	case head != Head{} && (entry.Seq != head.Seq+1 || entry.Prev != head.Hash):
		return Head{}, Fault(candor.CodeInvalidArguments, fmt.Errorf("entry %d does not continue entry %d", entry.Seq, head.Seq))
	}
	return Head{Seq: entry.Seq, Hash: entry.Hash}, nil
}

// HeadOf returns the head of a chain with this last line. The error is DATA_CORRUPT if it is not an entry of the chain,
// which no honest node has written.
func HeadOf(chain Chain, last []byte) (Head, error) {
	entry, err := ledger.ParseLine(last)
	if err == nil && !entry.In(chain.Name) {
		err = fmt.Errorf("belongs to chain %s", entry.Chain())
	}
	if err != nil {
		return Head{}, Fault(candor.CodeDataCorrupt, fmt.Errorf("the last line of chain %s in the store: %w", chain, err))
	}
	return Head{Seq: entry.Seq, Hash: entry.Hash}, nil
}
