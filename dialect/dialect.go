// Package dialect writes and reads errors in the wire shapes that MCP servers speak. Each shape is one file that does
// both.
//
// The rules of the room:
//
//   - Pure: no I/O, no clock, no randomness. What a shape needs and an error does not hold, such as the time, comes in
//     through [Options].
//   - Nothing is lost. What a shape cannot say travels beside it as the canonical error under [MetaKey], so that an error
//     written in one shape and read back is the same error, whatever shapes it passed through.
//   - What is visible is what counts. Where somebody changed the visible members and not the canonical error, the visible ones
//     win and details.disagreement says so.
//   - All text that is read passes the constructors of the root package: it comes out redacted and bounded.
package dialect

import (
	"fmt"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/wire"
)

// MetaKey is the member that holds the canonical error: of a result's _meta, of a JSON-RPC error's data.
const MetaKey = "dev.candor/error"

// Carrier says what an envelope travels in.
type Carrier uint8

// The carriers.
const (
	CarrierResult   Carrier = iota // an MCP result, marked isError
	CarrierRPCError                // a JSON-RPC response with error
	CarrierDocument                // a document of its own, such as an HTTP body
)

// String returns "result", "rpc-error" or "document".
func (c Carrier) String() string {
	switch c {
	case CarrierResult:
		return "result"
	case CarrierRPCError:
		return "rpc-error"
	case CarrierDocument:
		return "document"
	default:
		return "unknown"
	}
}

// Dialect is one wire shape. The set is closed, see [Names]; a Dialect holds no state and may be used by many goroutines.
//
// Encode and Write accept any error. One without a code, and nil, are written as UNCODED_ERROR.
type Dialect interface {
	// Name returns the name that [Lookup] knows.
	Name() string
	// Carrier returns what Write makes.
	Carrier() Carrier
	// Encode appends the bare envelope: the members of this shape and nothing else.
	Encode(dst []byte, e *candor.Error, o Options) []byte
	// Write appends the whole carrier, with the canonical error where the shape cannot say everything.
	Write(dst []byte, e *candor.Error, o Options) []byte
	// Read reads a bare envelope, or the carrier it came in, alone or as a JSON-RPC response. The error is a
	// [ReadError].
	Read(v wire.Value) (*candor.Error, error)

	// marked reports whether an envelope bears the marks of this shape.
	marked(envelope wire.Value) bool
}

// Pattern chooses between the two forms of the dual dialect.
type Pattern uint8

// The patterns. With PatternAuto codes that begin with ERR_ take pattern B, all others pattern A.
const (
	PatternAuto Pattern = iota
	PatternA            // the call failed
	PatternB            // the call is called a success and its data describe the failure
)

// Options is what a writer must know besides the error. The zero value shows the least and promises nothing about the tool.
type Options struct {
	// ID is the raw id token of the request that is answered. Nil, or what is no id, leaves the member out; write the
	// token null where JSON-RPC wants a null.
	ID []byte
	// Response wraps a result into a JSON-RPC response. The rpc dialect always writes one.
	Response bool
	// Complete adds "resultType":"complete", which protocol version 2026-07-28 asks of every result.
	Complete bool
	// NoOutputSchema says that the tool is known to declare no outputSchema, so that structuredContent may hold the envelope. Some
	// clients validate that member even in errors, and would hide the error.
	NoOutputSchema bool
	// Mirror repeats the envelope of the candor dialect in structuredContent, where NoOutputSchema allows it. The other dialects of
	// results always do so: the documents that define them demand it.
	Mirror bool
	// Readable adds the text of [AppendText] as a second block where the first one is JSON.
	Readable bool
	// Sep3313 adds the members of the sep3313 dialect to a result of any other dialect.
	Sep3313 bool
	// Stack says who may see a stack.
	Stack candor.StackPolicy
	// PlainRoot shows workspace_root as a path. Otherwise it is a digest, except in the system-error dialect, which shows
	// the path to the session that the error belongs to.
	PlainRoot bool
	// Pattern chooses the form of the dual dialect.
	Pattern Pattern
	// Now stands in for the time of an error that has none, where a shape demands one.
	Now time.Time
}

// all is the closed set, in the order of the written contract.
var all = []Dialect{
	native{}, systemError{}, toolError{}, rpcError{}, dual{}, dual{unified: true}, sep3313{}, problem{},
}

// Names returns the names of the dialects in the order of the written contract. The caller owns the slice.
func Names() []string {
	names := make([]string, len(all))
	for i, d := range all {
		names[i] = d.Name()
	}
	return names
}

// Must is [Lookup] for a name that is written in the program: it panics if there is no such dialect.
func Must(name string) Dialect {
	d, err := Lookup(name)
	if err != nil {
		panic(err) // programmer: the name is a literal
	}
	return d
}

// Lookup returns the dialect of that name. The error lists the names there are.
func Lookup(name string) (Dialect, error) {
	for _, d := range all {
		if d.Name() == name {
			return d, nil
		}
	}
	return nil, fmt.Errorf("no dialect is called %.64q (hint: choose one of %s)", name, strings.Join(Names(), ", "))
}

// ReadError says why a value is not an envelope of a dialect, and what would be one.
type ReadError struct {
	Dialect string // the dialect that was tried
	Problem string // what is missing or wrong, in lower case
	Hint    string // what to do about it
}

// Error returns one line: the dialect, the problem and the hint.
func (e *ReadError) Error() string {
	return "reading " + e.Dialect + ": " + e.Problem + " (hint: " + e.Hint + ")"
}

func refuse(dialect, hint, problem string, args ...any) error {
	return &ReadError{Dialect: dialect, Problem: fmt.Sprintf(problem, args...), Hint: hint}
}
