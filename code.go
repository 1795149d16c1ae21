package candor

import (
	"fmt"
	"iter"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/candor-mcp/candor/internal/codetable"
)

// Code is one registered failure, identified by its domain and symbol. A Code is one of the variables of this package or of
// the packages below codes, the result of a lookup, or the zero Code, which is not registered: a program cannot make up a code.
//
// Codes are comparable and may be used as map keys and in switch statements.
type Code struct {
	i uint16 // index into the generated catalogue; 0 means no code
}

// CodeAt returns the code in a row of the generated catalogue. It is for the generated packages below codes: a Row cannot be
// made outside this module.
func CodeAt(row codetable.Row) Code { return Code{row.Index()} }

// Status is the state of a code in the catalogue.
type Status uint8

// The states of a code. A code is never renamed or removed; it is deprecated in favour of another.
const (
	StatusActive Status = iota
	StatusReserved
	StatusDeprecated
)

// String returns the spelling used in the catalogue.
func (s Status) String() string {
	switch s {
	case StatusActive:
		return "active"
	case StatusReserved:
		return "reserved"
	case StatusDeprecated:
		return "deprecated"
	default:
		return fmt.Sprintf("Status(%d)", uint8(s))
	}
}

// codeInfo is a row of the generated catalogue.
type codeInfo struct {
	symbol, domain string
	number, rpc    int32
	class          Class
	retry          Retry
	message        string
	action         string
	since          string
	status         Status
	successor      uint16
	aliases        []string
}

// domainInfo is a row of the generated table of domains.
type domainInfo struct {
	name     string
	from, to int32
	title    string
}

// Valid reports whether c is a registered code. Only the zero Code is not.
func (c Code) Valid() bool { return c.i != 0 }

func (c Code) info() *codeInfo { return &catalogue[c.i] }

// Symbol returns the stable UPPER_SNAKE name, or "" for the zero Code.
func (c Code) Symbol() string { return c.info().symbol }

// Domain returns the name of the vocabulary the code belongs to.
func (c Code) Domain() string { return c.info().domain }

// Number returns the code's own number, which lies in its domain's range.
func (c Code) Number() int { return int(c.info().number) }

// RPCNumber returns the number to write in a JSON-RPC error: a standard one where the protocol
// reserves one for this failure, else [Code.Number].
func (c Code) RPCNumber() int {
	if n := c.info().rpc; n != 0 {
		return int(n)
	}
	return c.Number()
}

// Class returns the class, which says what to do about the failure.
func (c Code) Class() Class { return c.info().class }

// Retry returns the default retry advice.
func (c Code) Retry() Retry { return c.info().retry }

// Sentence returns the public sentence. It is fixed and safe for any peer.
func (c Code) Sentence() string { return c.info().message }

// Action returns a sentence that says what to do next.
func (c Code) Action() string { return c.info().action }

// Since returns the release that introduced the code.
func (c Code) Since() string { return c.info().since }

// Status returns whether the code is active, reserved or deprecated.
func (c Code) Status() Status { return c.info().status }

// Successor returns the code that replaces a deprecated one, else the zero Code.
func (c Code) Successor() Code { return Code{c.info().successor} }

// Aliases returns other spellings in use on the wire. The caller owns the slice.
func (c Code) Aliases() []string { return append([]string(nil), c.info().aliases...) }

// String returns "domain/SYMBOL", the full identity.
func (c Code) String() string {
	if !c.Valid() {
		return "(no code)"
	}
	return c.Domain() + "/" + c.Symbol()
}

// MarshalText returns [Code.String], so that a code in a log or a map key is readable.
func (c Code) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// Codes yields every registered code in the order of its number.
func Codes() iter.Seq[Code] {
	return func(yield func(Code) bool) {
		for _, i := range index().byNumber {
			if !yield(Code{i}) {
				return
			}
		}
	}
}

// Domain describes one vocabulary and the numbers it owns.
type Domain struct {
	Name     string
	From, To int
	Title    string
}

// Domains returns every domain in the order of its numbers. The caller owns the slice.
func Domains() []Domain {
	out := make([]Domain, len(domains))
	for i, d := range domains {
		out[i] = Domain{Name: d.name, From: int(d.from), To: int(d.to), Title: d.title}
	}
	return out
}

// LookupCode finds a code by its domain and its symbol or alias. It returns false for an unknown one.
func LookupCode(domain, symbol string) (c Code, ok bool) {
	for _, i := range index().bySymbol[symbol] {
		if catalogue[i].domain == domain {
			return Code{i}, true
		}
	}
	return Code{}, false
}

// LookupSymbol finds a code by its symbol or alias. If several domains share it, the first domain in prefer that has it wins,
// then Candor's own. A reader of a dialect passes that dialect's domain.
func LookupSymbol(symbol string, prefer ...string) (c Code, ok bool) {
	found := index().bySymbol[symbol]
	if len(found) == 0 {
		return Code{}, false
	}
	for _, domain := range prefer {
		if c, ok := LookupCode(domain, symbol); ok {
			return c, true
		}
	}
	if c, ok := LookupCode("candor", symbol); ok {
		return c, true
	}
	return Code{found[0]}, true
}

// LookupNumber finds a code by its own number.
func LookupNumber(number int) (c Code, ok bool) {
	order := index().byNumber
	at := sort.Search(len(order), func(k int) bool { return int(catalogue[order[k]].number) >= number })
	if at < len(order) && int(catalogue[order[at]].number) == number {
		return Code{order[at]}, true
	}
	return Code{}, false
}

// ParseCode reads "SYMBOL", "domain/SYMBOL" or a number. It ignores the case of letters.
func ParseCode(text string) (Code, error) {
	text = strings.TrimSpace(text)
	if number, err := strconv.Atoi(text); err == nil {
		if c, ok := LookupNumber(number); ok {
			return c, nil
		}
		return Code{}, fmt.Errorf("number %d: not registered", number)
	}
	domain, symbol, full := strings.Cut(text, "/")
	if !full {
		domain, symbol = "", text
	}
	symbol = spelling(symbol)
	if c, ok := LookupCode(strings.ToLower(domain), symbol); ok {
		return c, nil
	}
	if c, ok := LookupSymbol(symbol); ok && !full {
		return c, nil
	}
	return Code{}, fmt.Errorf("code %q: not registered", text)
}

// spelling returns the registered symbol or alias that equals typed except for the case of its letters, else typed. Not all
// aliases are in capitals.
func spelling(typed string) string {
	for known := range index().bySymbol {
		if strings.EqualFold(known, typed) {
			return known
		}
	}
	return typed
}

// codeIndex is built on first use, because most programs look up few codes or none.
type codeIndex struct {
	byNumber []uint16
	bySymbol map[string][]uint16 // in the order of numbers; symbols first, then aliases
}

var index = sync.OnceValue(func() codeIndex {
	ix := codeIndex{bySymbol: make(map[string][]uint16, len(catalogue))}
	for i := 1; i < len(catalogue); i++ {
		ix.byNumber = append(ix.byNumber, uint16(i))
	}
	sort.Slice(ix.byNumber, func(a, b int) bool {
		return catalogue[ix.byNumber[a]].number < catalogue[ix.byNumber[b]].number
	})
	for _, i := range ix.byNumber {
		ix.bySymbol[catalogue[i].symbol] = append(ix.bySymbol[catalogue[i].symbol], i)
	}
	for _, i := range ix.byNumber {
		for _, alias := range catalogue[i].aliases {
			ix.bySymbol[alias] = append(ix.bySymbol[alias], i)
		}
	}
	return ix
})

// Class is the action that a caller should take on a failure. It is a closed set: a client that knows these thirteen words can act
// on any error, including one whose code it has never seen.
type Class string

// The classes, each with the action it asks for.
const (
	ClassBadRequest   Class = "bad_request"  // fix the call
	ClassNotFound     Class = "not_found"    // name something that exists
	ClassDenied       Class = "denied"       // get permission
	ClassConflict     Class = "conflict"     // read again, then redo
	ClassPrecondition Class = "precondition" // do something else first
	ClassRateLimited  Class = "rate_limited" // wait
	ClassUnavailable  Class = "unavailable"  // the service cannot be reached now
	ClassTimeout      Class = "timeout"      // no answer came in time
	ClassCancelled    Class = "cancelled"    // the caller cancelled it
	ClassTooLarge     Class = "too_large"    // send less
	ClassUnsupported  Class = "unsupported"  // not offered here
	ClassCorrupt      Class = "corrupt"      // stop, the state is damaged
	ClassInternal     Class = "internal"     // report it
)

// Classes returns the closed set in the order of the written contract.
// The caller owns the slice.
func Classes() []Class {
	return []Class{
		ClassBadRequest, ClassNotFound, ClassDenied, ClassConflict, ClassPrecondition,
		ClassRateLimited, ClassUnavailable, ClassTimeout, ClassCancelled, ClassTooLarge,
		ClassUnsupported, ClassCorrupt, ClassInternal,
	}
}

// Valid reports whether c is one of [Classes].
func (c Class) Valid() bool {
	switch c {
	case ClassBadRequest, ClassNotFound, ClassDenied, ClassConflict, ClassPrecondition,
		ClassRateLimited, ClassUnavailable, ClassTimeout, ClassCancelled, ClassTooLarge,
		ClassUnsupported, ClassCorrupt, ClassInternal:
		return true
	default:
		return false
	}
}
