// Package failures reads the failures of a ledger for the console: pages of a filtered list, counts for charts, one
// failure with all that was recorded about it, and new failures as they are written.
//
// The ledger is the only source. What the package keeps in memory or in a cache is built from it and can be deleted.
package failures

import (
	"encoding/json"
	"net/url"
	"strconv"
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
	ID        ID             `json:"-"`
	Time      time.Time      `json:"time"`
	Ref       string         `json:"ref,omitempty"`
	Server    string         `json:"server"`
	Tool      string         `json:"tool,omitempty"`
	Code      string         `json:"code"`
	Class     string         `json:"class,omitempty"`
	Verdict   string         `json:"verdict,omitempty"` // how the failure looked on the wire, see contract.Verdict
	Origin    string         `json:"origin,omitempty"`  // the party that failed
	Outcome   ledger.Outcome `json:"outcome,omitempty"`
	Session   string         `json:"session,omitempty"`
	Message   string         `json:"message"`         // cut after 300 bytes
	Retry     string         `json:"retry,omitempty"` // the kind of retry advice
	Attempt   int            `json:"attempt,omitempty"`
	Latency   time.Duration  `json:"-"`
	Suspected bool           `json:"suspected"` // it only looks like a failure and was passed on as a success

	UpstreamRef string `json:"-"` // of the same failure as the server recorded it; only of an entry that was just read
}

// MarshalJSON adds the parts of the id, the path of the page, and the latency in milliseconds.
func (f Failure) MarshalJSON() ([]byte, error) { //nolint:gocritic // values are marshalled too
	type row Failure
	return json.Marshal(struct {
		Node  string `json:"node,omitempty"` // only in the record of many nodes
		Chain string `json:"chain"`
		Seq   uint64 `json:"seq"`
		row
		LatencyMS float64 `json:"latencyMs,omitempty"`
		Path      string  `json:"path"` // of its page
	}{f.ID.Node(), f.ID.Name(), f.ID.Seq, row(f), float64(f.Latency.Microseconds()) / 1000, f.ID.Path()})
}

// Path returns the path of the failure's page in the console. The chain of a node is NODE.CHAIN in it, so that it is one part of the path;
// a dot occurs in neither of the names.
func (id ID) Path() string {
	return "/failure/" + url.PathEscape(strings.Replace(id.Chain, "/", ".", 1)) + "/" + strconv.FormatUint(id.Seq, 10)
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
	Failures []Failure `json:"failures"`
	Total    uint64    `json:"total"`              // failures that the filter selects
	Next     string    `json:"next,omitempty"`     // cursor of the older failures; "" if there are none
	Previous string    `json:"previous,omitempty"` // cursor of the newer failures; "" if there are none
}

// Summary counts the failures that a filter selects.
type Summary struct {
	Total     uint64        `json:"total"`
	Suspected uint64        `json:"suspected"`
	Masked    uint64        `json:"masked"` // failures in the form of successes, certain and suspected ones
	First     time.Time     `json:"first,omitzero"`
	Last      time.Time     `json:"last,omitzero"`
	Step      time.Duration `json:"-"`           // length of a bucket
	Seconds   float64       `json:"stepSeconds"` // the same
	Buckets   []Bucket      `json:"buckets"`     // in order of time, without gaps, at most 120

	// Counts by name, largest first, at most 100; the rest is named "other".
	Servers  []Count `json:"servers"`
	Tools    []Count `json:"tools"`
	Codes    []Count `json:"codes"`
	Classes  []Count `json:"classes"`
	Verdicts []Count `json:"verdicts"`
	Origins  []Count `json:"origins"`
	Nodes    []Count `json:"nodes,omitempty"` // empty for the ledger of one machine
}

// Bucket counts the failures of a span of time, by class.
type Bucket struct {
	Begin   time.Time         `json:"begin"`
	Total   uint64            `json:"total"`
	Classes map[string]uint64 `json:"classes"`
}

// Count is the number of failures with one name.
type Count struct {
	Name  string `json:"name"`
	Count uint64 `json:"count"`
}
