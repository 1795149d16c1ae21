// Package failures reads the failures of a ledger for the console: pages of a filtered list, counts for charts, one
// failure with all that was recorded about it, and new failures as they are written.
//
// The ledger is the only source. What the package keeps in memory or in a cache is built from it and can be deleted.
package failures

import (
	"strings"
	"time"

	"github.com/candor-mcp/candor/ledger"
)

// ID identifies an entry of a ledger, or of the ledgers of many nodes.
type ID struct {
	Chain string // the path of the chain's folder: CHAIN, or NODE/CHAIN
	Seq   uint64
}

// Node returns the node that wrote the entry, or "" for the ledger of one machine.
func (id ID) Node() string { return nodeOf(id.Chain) }

// Name returns the name of the chain in its ledger.
func (id ID) Name() string { return nameOf(id.Chain) }

// nodeOf returns the node in the path of a chain, or "".
func nodeOf(chain string) string {
	node, _, found := strings.Cut(chain, "/")
	if !found {
		return ""
	}
	return node
}

// nameOf returns the path of a chain without the node.
func nameOf(chain string) string { return chain[strings.IndexByte(chain, '/')+1:] }

// Failure is one row of the list.
type Failure struct {
	ID        ID
	Time      time.Time
	Ref       string
	Server    string
	Tool      string
	Code      string
	Class     string
	Verdict   string // how the failure looked on the wire, see contract.Verdict
	Origin    string // the party that failed
	Outcome   ledger.Outcome
	Session   string
	Message   string // cut after 300 bytes
	Retry     string // the kind of retry advice
	Attempt   int
	Latency   time.Duration
	Suspected bool // it only looks like a failure and was passed on as a success
}

// Filter selects failures. An empty member selects all.
type Filter struct {
	Server, Tool, Code, Class, Verdict, Origin, Outcome, Session, Node string

	Ref  string // a prefix
	Text string // occurs in the message, the code, the tool or the server, ignoring case

	Since, Until time.Time // Until is exclusive
}

// Page is a part of the list, newest failures first.
type Page struct {
	Failures []Failure
	Next     string // cursor of the older failures; "" if there are none
	Previous string // cursor of the newer failures; "" if there are none
	Total    uint64 // failures that the filter selects
}

// Summary counts the failures that a filter selects.
type Summary struct {
	Total, Suspected uint64
	Masked           uint64 // failures in the form of successes, certain and suspected ones
	First, Last      time.Time
	Step             time.Duration // length of a bucket
	Buckets          []Bucket      // in order of time, without gaps, at most 120

	Servers, Tools, Codes, Classes, Verdicts, Origins []Count // largest first, at most 100; the rest is named "other"
	Nodes                                             []Count // the same; empty for the ledger of one machine
}

// Bucket counts the failures of a span of time, by class.
type Bucket struct {
	Begin   time.Time
	Total   uint64
	Classes map[string]uint64
}

// Count is the number of failures with one name.
type Count struct {
	Name  string
	Count uint64
}
