// Package fleet is the record of many nodes: each node ships the lines of its own ledger to a store that all nodes
// share, where an operator reads and verifies them.
//
// A store holds the bytes of the nodes' ledgers, one chain per writer, and decides nothing about them. A fleet is
// verified from these bytes alone: a store that loses, repeats or changes a line is found out like a damaged disk.
package fleet

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"iter"
)

// Chain identifies a chain in a store: the node that writes it, and its name in the node's ledger. One node may write many chains.
type Chain struct {
	Node string `json:"node"`
	Name string `json:"chain"`
}

// String returns NODE/CHAIN.
func (c Chain) String() string { return c.Node + "/" + c.Name }

// Compare orders chains by node and name.
func (c Chain) Compare(o Chain) int {
	return cmp.Or(cmp.Compare(c.Node, o.Node), cmp.Compare(c.Name, o.Name))
}

// Head is the last entry of a chain. The zero value is the head of a chain without entries.
type Head struct {
	Seq  uint64
	Hash [sha256.Size]byte
}

// Stored is one line as a store returns it. Nothing about it has been checked.
type Stored struct {
	Chain Chain
	// Position increases from line to line of a chain, in the order in which the store accepted them. Its unit is that of the store.
	Position uint64
	// Line has no line feed. It is valid until the next iteration.
	Line []byte
}

// Store is an engine that keeps the lines of many nodes. Its methods are safe for concurrent use.
//
// The class of a candor error says how to continue: unavailable and timeout mean that the same call may succeed later,
// denied that the credentials do not suffice. Their messages are for an operator; see [Reason].
type Store interface {
	// Append adds lines to the end of a chain if after is its head, and otherwise adds none and returns a [*ConflictError]. When it returns
	// nil, all lines are as durable as [Store.Durability] says. After any other error some or all of the lines may have been stored: the
	// caller reads the head again and continues there. No two calls with the same head succeed.
	Append(ctx context.Context, chain Chain, after Head, lines [][]byte) error

	// Head returns the last entry of a chain. It reads the entry itself, never a counter.
	Head(ctx context.Context, chain Chain) (Head, error)

	// Chains returns every chain that has at least one line, sorted by node and name.
	Chains(ctx context.Context) ([]Chain, error)

	// Lines returns the lines of a chain with positions greater than after, in the order of the store, up to the end that the chain has
	// during the call. With after = 0 it returns all lines, including those that no honest node has written.
	Lines(ctx context.Context, chain Chain, after uint64) iter.Seq2[Stored, error]

	// Remove removes the entries of a chain up to and including seq, for retention. A node has no right to do this.
	Remove(ctx context.Context, chain Chain, through uint64) error

	// Durability returns what a nil error of Append means, as far as it could be verified at this moment.
	Durability(ctx context.Context) (Durability, error)

	// Setup creates what the store needs, such as a stream or tables, and changes nothing that exists and is as it
	// should be. It needs the rights of an operator.
	Setup(ctx context.Context, o SetupOptions) error

	// Grant returns the least rights that a node needs, as text for the configuration of the engine.
	Grant(node string) (string, error)

	Close() error
}

// ConflictError means that the head of a chain is not the expected one. The chain was not changed.
type ConflictError struct {
	Chain Chain
	Head  Head // the real one
}

// Error returns a sentence with the chain and its real head.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("chain %s ends with entry %d in the store, which is not the expected one", e.Chain, e.Head.Seq)
}

// Durability is what the acknowledgement of a store means.
type Durability struct {
	// Replicas is the number of machines that have a line before it is acknowledged; a majority of the store's machines for a quorum.
	Replicas int `json:"replicas"`
	// Synced means that each of them has synced it to its disk.
	Synced bool `json:"synced"`
	// Quorum means that every acknowledged line survives the loss of any minority of at least three machines, power
	// cuts included. It is true only if that was verified.
	Quorum bool `json:"quorum"`
	Gap
}

// Gap says why a store does not promise a quorum. The zero Gap means that it does.
type Gap struct {
	// Reason is one sentence, and Change is the next step of an operator.
	Reason string `json:"reason,omitempty"`
	Change string `json:"change,omitempty"`
	// Unverified means that the reason may pass by itself: a machine did not answer, or is behind. Nothing was found that is wrong.
	Unverified bool `json:"unverified,omitempty"`
}

// Wrong returns a gap that stays until an operator changes something.
func Wrong(reason, change string) Gap { return Gap{Reason: reason, Change: change} }

// Unverified returns a gap that may pass by itself.
func Unverified(reason, change string) Gap {
	return Gap{Reason: reason, Change: change, Unverified: true}
}

// SetupOptions configures a new store.
type SetupOptions struct {
	Replicas int   // copies of each line; 0 means three, or one where there is only one machine
	MaxBytes int64 // at which the store refuses more; 0 means no limit for a new store, and leaves that of an existing one
}
