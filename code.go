package candor

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Code is one registered failure, by its number. Domain and symbol identify it on the wire. Use the constants of this package and of
// the packages below codes, or a lookup such as [ParseCode]. The zero Code and the conversion of any other number that is not
// registered are invalid: [Error.Validate] reports them, and on the wire they are UNCODED_ERROR.
type Code int

// The states of a code. A code is never renamed or removed; it is deprecated in favour of another.
const (
	statusActive     = "active"
	statusReserved   = "reserved"
	statusDeprecated = "deprecated"
)

// CodeInfo is what the catalogue holds about a code beyond its identity, class and retry advice.
type CodeInfo struct {
	Sentence  string   // public, fixed and safe for any peer
	Action    string   // a sentence that names the next step
	Since     string   // the release that introduced the code
	Status    string   // "active", "reserved" or "deprecated"
	Effect    string   // "none" if the code is for a call that was refused before it began or was rolled back, else ""
	Successor Code     // the code that replaces a deprecated one, else the zero Code
	Aliases   []string // other spellings in use on the wire; the caller owns the slice
	RPCNumber int      // for a JSON-RPC error: a standard number where the protocol reserves one, else [Code.Number]
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
	status         string
	effect         string
	successor      Code
	aliases        []string
}

// Valid reports whether c is a registered code.
func (c Code) Valid() bool { return c.row() != 0 }

func (c Code) info() *codeInfo { return &catalogue[c.row()] }

// row returns the index of the code in the catalogue, or 0 if it is not registered.
func (c Code) row() uint16 {
	if c < 0 || int(c) >= len(rows) {
		return 0
	}
	return rows[c]
}

// rows has the index in the catalogue of each number up to the highest.
var rows = func() []uint16 {
	rows := make([]uint16, catalogue[len(catalogue)-1].number+1)
	for i := range catalogue {
		rows[catalogue[i].number] = uint16(i)
	}
	return rows
}()

// Symbol returns the stable UPPER_SNAKE name, or "" for an invalid code.
func (c Code) Symbol() string { return c.info().symbol }

// Domain returns the name of the vocabulary the code belongs to.
func (c Code) Domain() string { return c.info().domain }

// Number returns the code's own number, which lies in its domain's range, or 0 for an invalid code.
func (c Code) Number() int { return int(c.info().number) }

// Class returns the class, which says what to do about the failure.
func (c Code) Class() Class { return c.info().class }

// Retry returns the default retry advice.
func (c Code) Retry() Retry { return c.info().retry }

// Info returns the rest of what the catalogue holds about the code.
func (c Code) Info() CodeInfo {
	row := c.info()
	return CodeInfo{
		Sentence:  row.message,
		Action:    row.action,
		Since:     row.since,
		Status:    row.status,
		Effect:    row.effect,
		Successor: row.successor,
		Aliases:   slices.Clone(row.aliases),
		RPCNumber: cmp.Or(int(row.rpc), c.Number()),
	}
}

// String returns "domain/SYMBOL", the full identity.
func (c Code) String() string {
	switch {
	case c == 0:
		return "(no code)"
	case !c.Valid():
		return "(number " + strconv.Itoa(int(c)) + ": not registered)"
	}
	return c.Domain() + "/" + c.Symbol()
}

// MarshalText returns [Code.String], so that a code in a log or a map key is readable.
func (c Code) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads what [ParseCode] reads.
func (c *Code) UnmarshalText(text []byte) (err error) {
	*c, err = ParseCode(string(text))
	return err
}

// Codes yields every registered code in the order of its number.
func Codes() iter.Seq[Code] {
	return func(yield func(Code) bool) {
		for i := range catalogue[1:] {
			if !yield(Code(catalogue[i+1].number)) {
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
func Domains() []Domain { return slices.Clone(domains[:]) }

// LookupCode finds a code by its domain and its symbol or alias. It returns false for an unknown one.
func LookupCode(domain, symbol string) (c Code, ok bool) {
	for _, c := range bySymbol()[symbol] {
		if c.Domain() == domain {
			return c, true
		}
	}
	return 0, false
}

// LookupSymbol finds a code by its symbol or alias. If several domains share it, the first domain in prefer that has it
// wins, then Candor's own. A reader of a dialect passes that dialect's domain.
func LookupSymbol(symbol string, prefer ...string) (c Code, ok bool) {
	found := bySymbol()[symbol]
	if len(found) == 0 {
		return 0, false
	}
	for _, domain := range prefer {
		if c, ok := LookupCode(domain, symbol); ok {
			return c, true
		}
	}
	if c, ok := LookupCode("candor", symbol); ok {
		return c, true
	}
	return found[0], true
}

// ParseCode reads "SYMBOL", "domain/SYMBOL" or a number. It ignores the case of letters.
func ParseCode(text string) (Code, error) {
	text = strings.TrimSpace(text)
	if number, err := strconv.Atoi(text); err == nil {
		if c := Code(number); c.Valid() {
			return c, nil
		}
		return 0, fmt.Errorf("number %d: not registered", number)
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
	return 0, fmt.Errorf("code %q: not registered", text)
}

// spelling returns the registered symbol or alias that equals typed except for the case of its letters, else typed. Not
// all aliases are in capitals.
func spelling(typed string) string {
	for known := range bySymbol() {
		if strings.EqualFold(known, typed) {
			return known
		}
	}
	return typed
}

// bySymbol maps symbols and aliases to codes: symbols first, then aliases, each in the order of numbers. It is built on
// first use, because most programs look up few codes or none.
var bySymbol = sync.OnceValue(func() map[string][]Code {
	found := make(map[string][]Code, len(catalogue))
	for c := range Codes() {
		found[c.Symbol()] = append(found[c.Symbol()], c)
	}
	for c := range Codes() {
		for _, alias := range c.info().aliases {
			found[alias] = append(found[alias], c)
		}
	}
	return found
})

// Class is the action that a caller should take on a failure. It is a closed set: a client that knows these thirteen
// words can act on any error, including one with an unknown code.
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
func (c Class) Valid() bool { return slices.Contains(Classes(), c) }
