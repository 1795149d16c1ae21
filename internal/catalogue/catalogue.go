// Package catalogue reads spec/catalogue.json, the list of all codes, and checks it: identities are unique, numbers are in their
// ranges, texts agree with the retry advice, and no released code is renamed or removed.
//
// It does not import package candor, because candor is generated from it.
package catalogue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode"
)

// Catalogue is the content of spec/catalogue.json.
type Catalogue struct {
	Version int
	Domains []Domain
	Codes   []Code
}

// Domain is one vocabulary and its range of numbers, both ends included.
type Domain struct {
	Name  string `json:"name"`
	From  int    `json:"from"`
	To    int    `json:"to"`
	Title string `json:"title"`
	About string `json:"about"`

	Line int `json:"-"` // line number in the file
}

// Code is one failure. Its identity is (Domain, Symbol); its Number is unique as well.
type Code struct {
	Symbol    string   `json:"symbol"`
	Domain    string   `json:"domain"`
	Number    int      `json:"number"`
	RPC       int      `json:"rpc,omitempty"` // the JSON-RPC number if it differs from Number
	Class     string   `json:"class"`
	Retry     string   `json:"retry"`
	AfterMs   int64    `json:"afterMs,omitempty"`
	Effect    string   `json:"effect,omitempty"` // EffectNone, or "" if the call may have taken effect
	Since     string   `json:"since"`
	Status    string   `json:"status"`
	Successor string   `json:"successor,omitempty"` // domain/SYMBOL that replaces a deprecated code
	Aliases   []string `json:"aliases,omitempty"`
	Message   string   `json:"message"`
	Action    string   `json:"action"`
	Note      string   `json:"note,omitempty"`

	Line int `json:"-"` // line number in the file
}

// The kinds of retry advice, as package candor spells them. A test checks that both agree.
const (
	RetryNever     = "not_retryable"
	RetryImmediate = "retryable_immediate"
	RetryAfterMs   = "retryable_after_ms"
)

// EffectNone is the effect of a code with which a call is refused before it begins, or after which it is rolled back.
const EffectNone = "none"

// The states of a code.
const (
	StatusActive     = "active"
	StatusReserved   = "reserved"
	StatusDeprecated = "deprecated"
)

// Class is a word of the closed set of classes, with its action.
type Class struct{ Name, Do string }

// Classes returns the closed set in the order of the written contract. The caller owns the slice.
func Classes() []Class {
	return []Class{
		{"bad_request", "fix the call"},
		{"not_found", "name something that exists"},
		{"denied", "get permission"},
		{"conflict", "read again, then redo"},
		{"precondition", "do something else first"},
		{"rate_limited", "wait"},
		{"unavailable", "the service cannot be reached now"},
		{"timeout", "no answer came in time"},
		{"cancelled", "the caller cancelled it"},
		{"too_large", "send less"},
		{"unsupported", "not offered here"},
		{"corrupt", "stop, the state is damaged"},
		{"internal", "report it"},
	}
}

// RetryKinds returns the closed set of retry advice. The caller owns the slice.
func RetryKinds() []string { return []string{RetryNever, RetryImmediate, RetryAfterMs} }

// ID returns "domain/SYMBOL".
func (c Code) ID() string { return c.Domain + "/" + c.Symbol }

// RPCNumber returns the number written in a JSON-RPC error.
func (c Code) RPCNumber() int {
	if c.RPC != 0 {
		return c.RPC
	}
	return c.Number
}

// Find returns the code with this "domain/SYMBOL", or nil.
func (c *Catalogue) Find(id string) *Code {
	at := slices.IndexFunc(c.Codes, func(code Code) bool { return code.ID() == id })
	if at < 0 {
		return nil
	}
	return &c.Codes[at]
}

// In returns the codes of one domain, in their order. The caller owns the slice.
func (c *Catalogue) In(domain string) []Code {
	var out []Code
	for _, code := range c.Codes {
		if code.Domain == domain {
			out = append(out, code)
		}
	}
	return out
}

// Symbols returns every symbol once, sorted. Domains may share a symbol. The caller owns the slice.
func (c *Catalogue) Symbols() []string {
	out := make([]string, 0, len(c.Codes))
	for _, code := range c.Codes {
		out = append(out, code.Symbol)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ClassMeaning returns what to do about errors of a class, or "".
func ClassMeaning(name string) string {
	for _, c := range Classes() {
		if c.Name == name {
			return c.Do
		}
	}
	return ""
}

func knownClass(name string) bool {
	return slices.ContainsFunc(Classes(), func(c Class) bool { return c.Name == name })
}

// Load reads a catalogue file. It returns an error for unknown members, because a misspelt one would otherwise be ignored. It does
// not check the content: see [Catalogue.Check].
func Load(path string) (*Catalogue, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the catalogue: %w", err)
	}
	c, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// Parse reads a catalogue. It finds the lines of domains and codes if each begins on a separate line.
func Parse(data []byte) (*Catalogue, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	c := &Catalogue{}
	if err := dec.Decode(c); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("text after the catalogue")
	}
	domains, codes := c.Domains, c.Codes
	number := 0
	for line := range bytes.Lines(data) {
		number++
		switch line = bytes.TrimSpace(line); {
		case bytes.HasPrefix(line, []byte(`{"name":`)) && len(domains) > 0:
			domains[0].Line, domains = number, domains[1:]
		case bytes.HasPrefix(line, []byte(`{"symbol":`)) && len(codes) > 0:
			codes[0].Line, codes = number, codes[1:]
		}
	}
	return c, nil
}

// prose reports whether text is complete, plain sentences: it ends with a full stop and has no line breaks, double spaces, control
// characters or placeholders.
func prose(text string) bool {
	if text == "" || !strings.HasSuffix(text, ".") || text != strings.TrimSpace(text) || strings.Contains(text, "  ") {
		return false
	}
	return !strings.ContainsFunc(text, unicode.IsControl) && !strings.ContainsAny(text, "%<>$")
}

// sentence reports whether text is exactly one such sentence that begins with a capital letter and has no braces of a template.
func sentence(text string) bool {
	if !prose(text) || strings.ContainsAny(text, "{}!?;") || !unicode.IsUpper([]rune(text)[0]) {
		return false
	}
	return !strings.Contains(strings.TrimSuffix(text, "."), ". ")
}
