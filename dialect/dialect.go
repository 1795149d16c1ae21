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

// Dialect is one wire shape. The set is closed, see [Names]. A Dialect holds no state and is safe for concurrent use.
//
// Encode and Write accept any error. An error without a code, and nil, are written as UNCODED_ERROR.
type Dialect interface {
	// Name returns the name that [Lookup] accepts.
	Name() string
	// Encode appends the bare envelope, which has only the members of this shape.
	Encode(dst []byte, e *candor.Error, o Options) []byte
	// Write appends the whole carrier, with the canonical error if the shape has no member for some part.
	Write(dst []byte, e *candor.Error, o Options) []byte
	// Read reads a bare envelope or its carrier, alone or as a JSON-RPC response. An error is of type [*ReadError].
	Read(v wire.Value) (*candor.Error, error)

	// marked reports whether an envelope has the members that identify this shape.
	marked(envelope wire.Value) bool
}

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
	// Lean and Brief write the canonical error in these forms; see [candor.JSONOptions].
	Lean, Brief bool
	// Sep3313 adds the members of the sep3313 dialect to a result of any other dialect.
	Sep3313 bool
	// Stack selects whether a stack is written.
	Stack candor.StackPolicy
	// PlainRoot shows workspace_root as a path. Otherwise it is a digest, except in the system-error dialect, which shows
	// the path to the session that the error belongs to.
	PlainRoot bool
	// Pattern selects the form of the dual dialect: 'A', the call failed, or 'B', the call is reported as a success and its data describes
	// the failure. With 0, codes that begin with ERR_ use B, all others A.
	Pattern byte
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

// Detect returns the dialect of a value, which may be a bare envelope, a carrier, or a JSON-RPC response. It looks only at the
// members that identify a dialect. It returns false if no dialect matches; the value may still be a failure, because plain text
// and the shapes of other servers are not dialects.
//
// A result whose blocks are in a dialect is in that dialect, even if it also holds the canonical error; a result that holds only
// the canonical error is candor.
func Detect(v wire.Value) (Dialect, bool) {
	if v.Type() != wire.TypeObject {
		return nil, false
	}
	if isRPCFailure(v) {
		return rpcError{}, true
	}
	if result, ok := resultOf(v); ok {
		return detectResult(result)
	}
	for _, d := range []Dialect{native{}, systemError{}, toolError{}, dual{}, dual{unified: true}, sep3313{}, problem{}} {
		if d.marked(v) {
			return d, true
		}
	}
	return nil, false
}

// isRPCFailure reports whether v is an error of the rpc dialect. A number and a message are not enough, because any server sends
// them. The dialect also has domain and symbol; in a JSON-RPC response one of its numbers is enough.
func isRPCFailure(v wire.Value) bool {
	inner, isResponse := v.Get("error")
	if !isResponse {
		inner = v
	}
	if !(rpcError{}).marked(inner) {
		return false
	}
	data := inner.Path("data")
	if _, embedded := data.Get(MetaKey); embedded {
		return true
	}
	if data.Path("domain").Type() == wire.TypeString && data.Path("symbol").Type() == wire.TypeString {
		return true
	}
	number, _ := inner.Path("code").Int64()
	registered := candor.Code(number).Valid()
	return isResponse && registered && number > 0 && number < 1<<31
}

func detectResult(result wire.Value) (Dialect, bool) {
	for _, d := range []Dialect{systemError{}, toolError{}, dual{}, dual{unified: true}} {
		if _, _, ok := findEnvelope(result, d.marked); ok {
			return d, true
		}
	}
	_, failure := result.Path("_meta").Get(ToolFailureKey)
	_, embedded := result.Path("_meta").Get(MetaKey)
	switch {
	case failure && (sep3313{}).marked(result.Path("_meta", ToolFailureKey)):
		return sep3313{}, true
	case embedded, (native{}).marked(result.Path("structuredContent")):
		return native{}, true
	default:
		return nil, false
	}
}
