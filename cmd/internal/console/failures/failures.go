// Package failures reads the failures of a ledger for the console: pages of a filtered list, counts for charts, one
// failure with all that was recorded about it, and new failures as they are written.
//
// The ledger is the only source. What the package keeps in memory or in a cache is built from it and can be deleted.
package failures

import (
	"time"

	"github.com/candor-mcp/candor/ledger"
)

// ID identifies an entry of a ledger.
type ID struct {
	Chain string
	Seq   uint64
}

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
	Server, Tool, Code, Class, Verdict, Origin, Outcome, Session string

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
