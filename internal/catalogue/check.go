package catalogue

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/internal/catalogue/contradiction"
)

// Limits of a catalogue.
const (
	MaxMessage = 160                  // bytes of a public sentence
	MaxAction  = 300                  // bytes of an action
	MaxAfterMs = 7 * 24 * 3600 * 1000 // candor.MaxRetryAfter in milliseconds
)

var (
	symbolForm  = regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$`)
	aliasForm   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)
	domainForm  = regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	versionForm = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+$`)
)

// rpcNumbers are the JSON-RPC numbers that a code may be written with, all of which the protocol defines.
var rpcNumbers = []int{-32700, -32600, -32601, -32602, -32603, -32020, -32021, -32022}

// RPCNumbers returns the JSON-RPC numbers that a code may be written with. The caller owns the slice.
func RPCNumbers() []int { return slices.Clone(rpcNumbers) }

// complete names the domains that contain the whole vocabulary of another system. Every code of that system must be usable, so
// no code of theirs may be reserved.
var complete = []string{"kaiza", "workrail", "blockers", "dual"}

// repeatable names the classes for which the same call may succeed later. The others require a change first, so advice to send the
// same call again would contradict them.
var repeatable = []string{"rate_limited", "unavailable", "timeout", "conflict", "internal"}

// Check checks the whole catalogue and returns every fault it finds, each with its line and code, or nil.
func (c *Catalogue) Check(released []Release) error {
	k := &checker{c: c}
	if c.Version != 1 {
		k.fault(1, "version", "is %d, and only 1 is known", c.Version)
	}
	k.domains()
	for i := range c.Codes {
		k.code(&c.Codes[i])
	}
	k.unique()
	k.order()
	k.released(released)
	return errors.Join(k.faults...)
}

// checker collects all faults of the file, not only the first.
type checker struct {
	c      *Catalogue
	faults []error
}

func (k *checker) fault(line int, who, format string, args ...any) {
	k.faults = append(k.faults, fmt.Errorf("line %d: %s: %s", line, who, fmt.Sprintf(format, args...)))
}

// unless records a fault of a code if ok is false.
func (k *checker) unless(ok bool, code *Code, format string, args ...any) {
	if !ok {
		k.fault(code.Line, code.ID(), format, args...)
	}
}

func (k *checker) domains() {
	last, names := 0, map[string]bool{}
	for _, d := range k.c.Domains {
		switch {
		case !domainForm.MatchString(d.Name):
			k.fault(d.Line, d.Name, "a domain is lower-case words joined by hyphens")
		case names[d.Name]:
			k.fault(d.Line, d.Name, "is listed twice")
		case d.From <= last || d.To < d.From:
			k.fault(d.Line, d.Name, "range %d to %d is empty, or overlaps or precedes the one before", d.From, d.To)
		case d.Title == "" || d.About == "":
			k.fault(d.Line, d.Name, "needs a title and a sentence about it")
		}
		last, names[d.Name] = d.To, true
	}
}

// firstSentence is the first number whose message is a sentence. The numeric taxonomy prescribes messages such as "Navigation failed".
const firstSentence = 3200

func (k *checker) code(c *Code) {
	k.unless(symbolForm.MatchString(c.Symbol), c, "symbol is not UPPER_SNAKE")
	k.unless(knownClass(c.Class), c, "class %q is not in the closed set", c.Class)
	k.unless(c.RPC == 0 || slices.Contains(rpcNumbers, c.RPC), c, "rpc %d is none of %v", c.RPC, rpcNumbers)
	k.unless(versionForm.MatchString(c.Since), c, "since %q is not a version such as 0.1.0", c.Since)
	k.unless(c.Effect == "" || c.Effect == EffectNone, c, "effect %q is not %q", c.Effect, EffectNone)
	k.number(c)
	k.retry(c)
	k.status(c)
	k.texts(c)
}

func (k *checker) number(c *Code) {
	at := slices.IndexFunc(k.c.Domains, func(d Domain) bool { return d.Name == c.Domain })
	if at < 0 {
		k.fault(c.Line, c.ID(), "domain %q is not listed", c.Domain)
		return
	}
	d := k.c.Domains[at]
	k.unless(c.Number >= d.From && c.Number <= d.To, c, "number %d is outside %d to %d", c.Number, d.From, d.To)
}

func (k *checker) retry(c *Code) {
	if !slices.Contains(RetryKinds(), c.Retry) {
		k.fault(c.Line, c.ID(), "retry %q is none of %s", c.Retry, strings.Join(RetryKinds(), ", "))
		return
	}
	if c.Retry == RetryAfterMs {
		k.unless(c.AfterMs > 0 && c.AfterMs <= MaxAfterMs, c, "afterMs %d is not between 1 and %d", c.AfterMs, MaxAfterMs)
	} else {
		k.unless(c.AfterMs == 0, c, "retry %s takes no afterMs", c.Retry)
	}
	k.unless(c.Retry == RetryNever || slices.Contains(repeatable, c.Class), c,
		"class %s asks for something to change first, so it cannot be %s", c.Class, c.Retry)
}

func (k *checker) status(c *Code) {
	switch c.Status {
	case StatusActive:
	case StatusReserved:
		k.unless(!slices.Contains(complete, c.Domain), c, "no code of the domain %s may be reserved", c.Domain)
	case StatusDeprecated:
		next := k.c.Find(c.Successor)
		k.unless(next != nil, c, "is deprecated and needs a successor, a registered domain/SYMBOL, not %q", c.Successor)
		k.unless(next == nil || next.Status == StatusActive, c, "its successor %s is not active", c.Successor)
		return
	default:
		k.fault(c.Line, c.ID(), "status %q is none of active, reserved, deprecated", c.Status)
	}
	k.unless(c.Successor == "", c, "only a deprecated code has a successor")
}

func (k *checker) texts(c *Code) {
	k.unless(sentence(c.Message) || c.Number < firstSentence && sentence(c.Message+"."), c, "message must be one plain sentence that ends with a full stop")
	k.unless(len(c.Message) <= MaxMessage, c, "message has %d bytes, more than %d", len(c.Message), MaxMessage)
	k.unless(prose(c.Action), c, "action must be plain sentences that end with a full stop")
	k.unless(len(c.Action) <= MaxAction, c, "action has %d bytes, more than %d", len(c.Action), MaxAction)
	k.unless(c.Note == "" || prose(c.Note), c, "note must be plain sentences that end with a full stop")
	for _, text := range []string{c.Message, c.Action} {
		phrase, bad := contradiction.Find(c.Retry, text)
		k.unless(!bad, c, "%q contradicts %s: %s", phrase, c.Retry, text)
	}
}

// unique checks that identities, numbers, aliases and sentences are unique. A sentence that two codes share would not distinguish
// them.
func (k *checker) unique() {
	seen := map[string]*Code{}
	claim := func(c *Code, kind, value string) {
		key := kind + " " + value
		if other := seen[key]; other != nil {
			k.fault(c.Line, c.ID(), "%s %q is already that of %s on line %d", kind, value, other.ID(), other.Line)
		}
		seen[key] = c
	}
	for i := range k.c.Codes {
		c := &k.c.Codes[i]
		claim(c, "name", c.ID())
		claim(c, "number", fmt.Sprint(c.Number))
		if sentence(c.Message) {
			claim(c, "message", strings.ToLower(c.Message))
		}
		for _, alias := range c.Aliases {
			k.unless(aliasForm.MatchString(alias), c, "alias %q is not a name", alias)
			claim(c, "name", c.Domain+"/"+alias)
		}
	}
}

func (k *checker) order() {
	for i := range k.c.Codes {
		if c := &k.c.Codes[i]; i > 0 && k.c.Codes[i-1].Number > c.Number {
			k.fault(c.Line, c.ID(), "number %d comes after %d; codes are sorted by number", c.Number, k.c.Codes[i-1].Number)
		}
	}
}
