// Package foreign reads the failures of servers that speak no dialect of ours. It says what the
// peer said, field by field, and decides nothing: what a failure means is for package contract.
//
// Real servers wrap the same few facts in many shapes: a sentence behind the prefixes of one or
// two SDKs, a validator's report as text or JSON, an upstream's error body glued to a sentence, an
// HTML page, a stack. The readers here peel those layers and keep each fact in a separate field.
// A fact that stands in several layers is taken from the outermost one that states it.
//
// Reading is total and pure: any input has an answer, nothing panics, no clock is read. At most
// [MaxText] bytes of a text and [MaxJSON] bytes of JSON are considered, and an answer holds at most
// [MaxIssues] issues, so that a hostile peer costs little.
package foreign

import (
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/truncate"
	"github.com/candor-mcp/candor/wire"
)

// Bounds of what is considered and of what is answered.
const (
	MaxText   = 8 << 10   // of one text block; the rest is not read
	MaxJSON   = 256 << 10 // of one JSON text
	MaxIssues = 32
	MaxNested = 3 // JSON in a string in JSON in …
)

// Said is what a peer's failure says, found in its bytes. The zero value says nothing. Texts are the peer's
// own and may hold secrets; the constructors of package candor redact them.
type Said struct {
	// Shape names the most specific variant, "plain" if it is just a sentence; Layers are all that were
	// recognised, outermost first.
	Shape  string
	Layers []string
	// Text is the sentence for people: wrappers, embedded bodies and stacks are taken off.
	Text string
	// First is what the first of several text blocks says: the failure itself, where those behind it advise. "" if there is one only.
	First string
	// Symbols are the code words in the peer's spelling, outermost first.
	Symbols []string
	// Number is a JSON-RPC-like number, from a text prefix or a member; Numbered is true if there is one.
	Number   int64
	Numbered bool
	// Status is an HTTP status from 100 to 599, or 0.
	Status int
	// Errno is the symbolic name of a system error, such as ENOENT or EAI_AGAIN.
	Errno string
	// Disconnected reports words for a broken connection that name no errno: "fetch failed", "EOF".
	Disconnected bool
	// Exception is the name of a type such as TypeError or FileNotFoundError.
	Exception string
	// Retryable is what the peer says about trying again, nil if it says nothing.
	Retryable *bool
	// RetryAfter is the wait it asks for; Delayed distinguishes zero from none.
	RetryAfter time.Duration
	Delayed    bool
	// RetryAt is the moment it names instead of a wait; zero if none.
	RetryAt time.Time
	// Issues are the failing fields. Path is a JSON Pointer into the arguments, or into the whole request if
	// OfRequest is set.
	Issues    []candor.Issue
	OfRequest bool
	// OfOutput reports a validator's complaint about the tool's own result, and OfAnswer one about the answer of a service behind the
	// tool. Neither names an argument, so there are no Issues.
	OfOutput, OfAnswer bool
	// Page reports an HTML page in the place of an answer.
	Page bool
	// Suggestion is what the peer advises.
	Suggestion string
	// RequestID is the peer's own reference for this failure.
	RequestID string
	// Stack is a stack trace that stood in the text or in a member.
	Stack string
	// Tool is the tool that a wrapper names.
	Tool string
	// UnknownTool reports that the tool itself is said not to exist.
	UnknownTool bool
	// Masked reports a sentence that hides the cause on purpose: "Internal error".
	Masked bool
}

// ReadText reads one text block. args are the arguments of the call, the zero Value if they are not known;
// they only help to tell names of arguments from other words.
func ReadText(text string, args wire.Value) Said {
	r := newReader(args)
	return r.finish(r.text(text))
}

// ReadValue reads a JSON payload: error.data, structuredContent, a whole result, or a text block that is JSON.
func ReadValue(v wire.Value, args wire.Value) Said {
	r := newReader(args)
	return r.finish(r.value(v))
}

// ReadRPC reads the members of a JSON-RPC error. data is the zero Value if there is none.
func ReadRPC(code int64, message string, data wire.Value, args wire.Value) Said {
	r := newReader(args)
	r.number(code)
	text := r.text(message)
	if data.Present() && !data.IsNull() {
		if inner := r.value(data); text == "" {
			text = inner
		}
	}
	return r.finish(text)
}

// reader collects the facts. The first value of a field is kept: callers read from the outside in.
type reader struct {
	said       Said
	args       arguments
	nested     int  // JSON texts we are inside of
	nodes      int  // JSON values looked at
	validation bool // a wrapper said that what follows is about arguments
	answer     bool // the sentence finds fault with the answer of a service behind the tool
	cut        string
	toks       []token // of the text cut, which several readers look at in turn
}

// maxRaw bounds a text that is not redacted yet. It is longer than any text of an error: who cuts before redacting may cut a
// secret, and leave its first bytes where nothing gives them away any more.
const maxRaw = 4 * candor.MaxMessage

// maxNodes bounds the JSON values that are looked at.
const maxNodes = 2000

func newReader(args wire.Value) *reader { return &reader{args: argumentsOf(args)} }

// finish closes the reading: the shape has a name and every text its bound.
func (r *reader) finish(text string) Said {
	s := &r.said
	s.Text = clip(strings.TrimSpace(text), maxRaw)
	if s.Text == "" {
		s.Text = r.fromIssues()
	}
	tool, masked := isMasked(s.Text)
	s.Masked = masked && len(s.Symbols) == 0 && s.Status == 0 && s.Errno == ""
	if s.Masked {
		keep(&s.Tool, tool)
		r.shape(ShapeMasked)
	}
	if s.Shape == "" {
		s.Shape = ShapePlain
	}
	s.First, s.Suggestion = clip(s.First, maxRaw), clip(s.Suggestion, maxRaw)
	s.Stack = clip(s.Stack, candor.MaxStack)
	return r.said
}

// fromIssues is the sentence of a failure that consists of issues only.
func (r *reader) fromIssues() string {
	var parts []string
	for _, is := range r.said.Issues {
		if is.Message != "" {
			parts = append(parts, strings.TrimPrefix(dotted(is.Path)+": "+is.Message, ": "))
		}
	}
	return clip(strings.Join(parts, "; "), maxRaw)
}

func (r *reader) number(n int64) {
	if !r.said.Numbered {
		r.said.Number, r.said.Numbered = n, true
	}
}

func (r *reader) symbol(name string) {
	name = clip(strings.TrimSpace(name), candor.MaxCallInfo)
	if name == "" || len(r.said.Symbols) == maxSymbols {
		return
	}
	for _, have := range r.said.Symbols {
		if have == name {
			return
		}
	}
	r.said.Symbols = append(r.said.Symbols, name)
}

const maxSymbols = 8

func (r *reader) status(n int) {
	if r.said.Status == 0 && n >= 100 && n <= 599 {
		r.said.Status = n
	}
}

func (r *reader) retryable(yes bool) {
	if r.said.Retryable == nil {
		r.said.Retryable = &yes
	}
}

// keep sets *where to text if nothing stands there yet.
func keep(where *string, text string) {
	if *where == "" {
		*where = strings.TrimSpace(text)
	}
}

// clip cuts s to limit bytes on a rune border. It adds no mark: the constructors of candor do.
func clip(s string, limit int) string {
	return s[:truncate.Border(s, limit)]
}

// parse reads s as JSON if it looks like an object, an array or a string.
func parse(s string) (wire.Value, bool) {
	if len(s) < 2 || len(s) > MaxJSON {
		return wire.Value{}, false
	}
	if c := s[0]; c != '{' && c != '[' && c != '"' {
		return wire.Value{}, false
	}
	v, err := wire.ParseValue([]byte(s), wire.Limits{MaxBytes: MaxJSON, MaxDepth: 64, AllowLoneSurrogates: true})
	return v, err == nil
}

// str is the text of a string value, bounded; "" for other types.
func str(v wire.Value) string {
	if v.Type() != wire.TypeString {
		return ""
	}
	s, _ := v.Str()
	return s
}

// lowerASCII is lower case byte for byte, so that positions stay what they were.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if isUpper(c) {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
