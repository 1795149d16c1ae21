// Package foreign reads the failures of servers that use none of the dialects. It returns the facts that the peer sent, field by
// field, and does not interpret them: package contract does.
//
// Real servers wrap the same few facts in many shapes: a sentence behind the prefixes of one or two SDKs, a validator's report as
// text or JSON, an upstream's error body appended to a sentence, an HTML page, a stack. The readers here remove those layers and
// keep each fact in a separate field. A fact that occurs in several layers is taken from the outermost one that states it.
//
// The package is pure: any input gives a result, nothing panics, and no clock is read. At most [MaxText] bytes of a text and
// [MaxJSON] bytes of JSON are read, and a result holds at most [MaxIssues] issues, which limits the cost of a hostile peer.
package foreign

import (
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/limits"
	"github.com/candor-mcp/candor/internal/truncate"
	"github.com/candor-mcp/candor/wire"
)

// Limits of the input and of the result.
const (
	MaxText   = 8 << 10   // bytes of one text block; later bytes are not read
	MaxJSON   = 256 << 10 // bytes of one JSON text
	MaxIssues = 32
	MaxNested = 3 // JSON in a string in JSON in …
)

// Said holds the facts in a peer's failure. The zero value holds none. Texts are the peer's own and may hold secrets; the
// constructors of package candor redact them.
type Said struct {
	// Text is the sentence for people, without wrappers, embedded bodies and stacks.
	Text string
	// First is the sentence of the first of several text blocks, which states the failure; later blocks give advice. It is "" for a
	// single block.
	First string
	// Symbols are the code words in the peer's spelling, outermost first.
	Symbols []string
	// Prefixed reports whether a text begins with a code word: "[CODE] …", "CODE: …".
	Prefixed bool
	// Number is a JSON-RPC-like number, from a text prefix or a member. Numbered reports whether it is set.
	Number   int64
	Numbered bool
	// Status is an HTTP status from 100 to 599, or 0.
	Status int
	// Errno is the symbolic name of a system error, such as ENOENT or EAI_AGAIN.
	Errno string
	// Disconnected reports whether the text has words for a broken connection without an errno: "fetch failed", "EOF".
	Disconnected bool
	// Exception is the name of a type such as TypeError or FileNotFoundError.
	Exception string
	// Retryable is the peer's advice about another attempt, or nil.
	Retryable *bool
	// RetryAfter is the requested delay. Delayed reports whether it is set.
	RetryAfter time.Duration
	Delayed    bool
	// RetryAt is the time of the next attempt, if the peer gave one instead of a delay.
	RetryAt time.Time
	// Issues are the failing fields. Path is a JSON Pointer into the arguments, or into the whole request if
	// OfRequest is set.
	Issues    []candor.Issue
	OfRequest bool
	// OfOutput reports a validator's complaint about the tool's own result, and OfAnswer one about the response of a service behind
	// the tool. Both are not about an argument, so Issues is empty.
	OfOutput, OfAnswer bool
	// Page reports whether the peer sent an HTML page.
	Page bool
	// Suggestion is the peer's advice.
	Suggestion string
	// RequestID is the peer's reference for this failure.
	RequestID string
	// Stack is a stack trace in the text or in a member.
	Stack string
	// Tool is the tool that a wrapper names.
	Tool string
	// UnknownTool reports whether the peer says that the tool does not exist.
	UnknownTool bool
	// Masked reports whether the sentence does not name the cause, as "Internal error".
	Masked bool
}

// ReadText reads one text block. args are the arguments of the call, or the zero Value if they are not known; they only help to
// distinguish names of arguments from other words.
func ReadText(text string, args wire.Value) Said {
	r := newReader(args)
	return r.finish(r.text(text))
}

// ReadValue reads a JSON payload: error.data, structuredContent, a whole result, or a text block that is JSON.
func ReadValue(v wire.Value, args wire.Value) Said {
	r := newReader(args)
	return r.finish(r.value(v))
}

// ReadRPC reads the members of a JSON-RPC error. data is the zero Value if it is missing.
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

// reader collects the facts. The first value of a field is kept, because callers read from the outside in.
type reader struct {
	said       Said
	args       arguments
	nested     int  // depth of nested JSON texts
	nodes      int  // number of JSON values read
	validation bool // a prefix said that the text is about arguments
	either     bool // the issues are those of the branches of a union
	answer     bool // the sentence complains about the response of a service behind the tool
	cut        string
	toks       []token // tokens of cut, which several readers use
}

// maxRaw is the maximum length of a text before redaction. It is longer than any text of an error, because a cut before redaction
// may split a secret, whose first part would not be recognised.
const maxRaw = 4 * limits.Message

// maxNodes is the maximum number of JSON values that are read.
const maxNodes = 2000

func newReader(args wire.Value) *reader { return &reader{args: argumentsOf(args)} }

// finish completes the result and limits every text.
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
	}
	s.First, s.Suggestion = clip(s.First, maxRaw), clip(s.Suggestion, maxRaw)
	s.Stack = clip(s.Stack, limits.Stack)
	return r.said
}

// fromIssues returns the sentence of a failure that consists of issues only.
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
	name = clip(strings.TrimSpace(name), limits.CallInfo)
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

// keep sets *where to text if it is empty.
func keep(where *string, text string) {
	if *where == "" {
		*where = strings.TrimSpace(text)
	}
}

// clip cuts s to limit bytes at a rune boundary. It adds no mark; the constructors of candor do.
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

// str returns the text of a string value, or "" for other types.
func str(v wire.Value) string {
	if v.Type() != wire.TypeString {
		return ""
	}
	s, _ := v.Str()
	return s
}

// lowerASCII returns s in lower case, changing only ASCII letters, so that positions do not change.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if isUpper(c) {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
