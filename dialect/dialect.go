// Package dialect writes and reads errors in the wire shapes of MCP servers.
//
// # When do I need it?
//
// Package boundary and the gateway already use it; choose a dialect there with their Dialect option. Use the package itself to write the
// errors of a server that has no boundary, or to translate between shapes.
//
// # How do I start?
//
// [Lookup] returns a dialect by name and [Detect] the dialect of a value; [Names] lists them. [Dialect.Read] and [Dialect.Write] convert:
//
//	from, ok := dialect.Detect(v)
//	if !ok {
//		return errNoDialect
//	}
//	e, err := from.Read(v)
//	if err != nil {
//		return err
//	}
//	out := dialect.Must("candor").Write(nil, e, dialect.Options{})
//
// # What may I rely on?
//
//   - Nothing is lost. The parts of an error that a shape has no member for are beside it in the canonical error under [MetaKey], so an
//     error that is written in one shape and read back is the same error.
//   - If the visible members and the canonical error differ, the visible ones win, and details.disagreement lists them.
//   - All text that is read is redacted and bounded.
//   - The package is pure: no I/O, no clock, no randomness. [Options] has the values that a shape needs and an error does not hold, such
//     as the time.
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

// Carrier is the kind of message that holds an envelope.
type Carrier uint8

// The carriers.
const (
	CarrierResult   Carrier = iota // an MCP result, marked isError
	CarrierRPCError                // a JSON-RPC response with error
	CarrierDocument                // a whole document, such as an HTTP body
)

// Dialect is one wire shape. The set is closed, see [Names]. A Dialect holds no state and is safe for concurrent use.
//
// Encode and Write accept any error. An error without a code, and nil, are written as UNCODED_ERROR.
type Dialect interface {
	// Name returns the name that [Lookup] accepts.
	Name() string
	// Carrier returns the kind of message that Write produces.
	Carrier() Carrier
	// Encode appends the bare envelope, which has only the members of this shape.
	Encode(dst []byte, e *candor.Error, o Options) []byte
	// Write appends the whole carrier, with the canonical error if the shape has no member for some part.
	Write(dst []byte, e *candor.Error, o Options) []byte
	// Read reads a bare envelope or its carrier, alone or as a JSON-RPC response. An error is of type [*ReadError].
	Read(v wire.Value) (*candor.Error, error)

	// marked reports whether an envelope has the members that identify this shape.
	marked(envelope wire.Value) bool
}

// Pattern selects one of the two forms of the dual dialect.
type Pattern uint8

// The patterns. With PatternAuto, codes that begin with ERR_ use pattern B, all others pattern A.
const (
	PatternAuto Pattern = iota
	PatternA            // the call failed
	PatternB            // the call is reported as a success whose data describes the failure
)

// Options has the values that a writer needs besides the error. The zero value shows the least and assumes nothing about the tool.
type Options struct {
	// ID is the raw id token of the request. If it is nil or not an id, the member is omitted; use the token null if JSON-RPC requires
	// a null.
	ID []byte
	// Response wraps a result into a JSON-RPC response. The rpc dialect always writes one.
	Response bool
	// Complete adds "resultType":"complete", which protocol version 2026-07-28 requires in every result.
	Complete bool
	// NoOutputSchema says that the tool is known to declare no outputSchema, so that structuredContent may hold the envelope. Some
	// clients validate that member even in errors, and would hide the error.
	NoOutputSchema bool
	// Mirror repeats the envelope of the candor dialect in structuredContent, if NoOutputSchema allows it. The other result dialects
	// always do so, because their specifications require it.
	Mirror bool
	// Readable adds the text of [AppendText] as a second block if the first one is JSON.
	Readable bool
	// Sep3313 adds the members of the sep3313 dialect to a result of any other dialect.
	Sep3313 bool
	// Stack selects whether a stack is written.
	Stack candor.StackPolicy
	// PlainRoot shows workspace_root as a path. Otherwise it is a digest, except in the system-error dialect, which shows
	// the path to the session that the error belongs to.
	PlainRoot bool
	// Pattern selects the form of the dual dialect.
	Pattern Pattern
	// Now is the time to write for an error without one, if the shape requires a time.
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

// Must is like [Lookup], but panics if the dialect does not exist. It is for names that are literals in the program.
func Must(name string) Dialect {
	d, err := Lookup(name)
	if err != nil {
		panic(err) // programmer: the name is a literal
	}
	return d
}

// Lookup returns the dialect of that name. The error lists the known names.
func Lookup(name string) (Dialect, error) {
	for _, d := range all {
		if d.Name() == name {
			return d, nil
		}
	}
	return nil, fmt.Errorf("dialect %.64q: unknown (hint: choose one of %s)", name, strings.Join(Names(), ", "))
}

// ReadError says why a value is not an envelope of a dialect.
type ReadError struct {
	Dialect string // the dialect that was tried
	Problem string // the fault, in lower case
	Hint    string // how to fix it
}

// Error returns one line: the dialect, the problem and the hint.
func (e *ReadError) Error() string {
	return "reading " + e.Dialect + ": " + e.Problem + " (hint: " + e.Hint + ")"
}

func refuse(dialect, hint, problem string, args ...any) error {
	return &ReadError{Dialect: dialect, Problem: fmt.Sprintf(problem, args...), Hint: hint}
}
