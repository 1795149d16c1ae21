package boundary

import (
	"context"
	"strings"
	"sync"
	"unicode"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/usercode"
	"github.com/candor-mcp/candor/wire"
)

// withWords puts the words that the author of a handler wrapped around a known error in front of its public sentence: "loading profile:
// The file does not exist." The wrapped error's own text is about the machine and stays out. See docs/decisions/008.
func (b *Boundary) withWords(e *candor.Error, err error) *candor.Error {
	if b.o.HideErrorText {
		return e
	}
	var w words
	text := w.of(err, 0)
	if !w.any || !w.safe(err) {
		return e
	}
	return e.With(candor.WithMessage(text))
}

// words collects what an author wrote around other errors with fmt.Errorf and errors.Join.
type words struct {
	own []string
	any bool // at least one of them says something
}

const maxWordsDepth = 32

// of returns the text of an error in which known errors are replaced by their public sentences.
func (w *words) of(err error, depth int) string {
	inner := usercode.Wrapped(err)
	if len(inner) == 0 || depth == maxWordsDepth {
		return w.leaf(err)
	}
	rest := err.Error()
	if usercode.Joined(err) {
		parts := make([]string, len(inner))
		for i, one := range inner {
			parts[i] = w.of(one, depth+1)
		}
		return strings.Join(parts, "; ")
	}
	var out strings.Builder
	for i, one := range inner {
		text := one.Error()
		for text != "" { // the text of a cause may be left out, by %.0w, or be there twice, by %v
			before, after, found := strings.Cut(rest, text)
			if !found {
				break
			}
			out.WriteString(w.add(before))
			out.WriteString(w.of(one, depth+1))
			if rest = after; i < len(inner)-1 {
				break
			}
		}
	}
	out.WriteString(w.add(rest))
	return out.String()
}

// leaf returns what may be said of an error that the author did not write: the public sentence, or its text if nothing is known of it.
func (w *words) leaf(err error) string {
	if candor.KnownCode(err).Valid() || isSystems(err) {
		return candor.From(err).Message()
	}
	return w.add(err.Error())
}

// add notes a text of the author and returns it.
func (w *words) add(text string) string {
	if strings.ContainsFunc(text, unicode.IsLetter) {
		w.own, w.any = append(w.own, text), true
	}
	return text
}

// safe reports that redaction finds in the parts what it finds in the whole: a secret may reach from the author's words into the
// error that was cut out.
func (w *words) safe(err error) bool {
	whole := contract.Redact(err.Error())
	for _, text := range w.own {
		if !strings.Contains(whole, strings.TrimSpace(contract.Redact(text))) {
			return false
		}
	}
	return true
}

// inferred remembers what texts were read as. Servers fail in the same words again and again, and reading a text takes many
// times as long as all the rest; the rules are pure, so the same text always means the same.
var inferred inferredTexts

const (
	maxInferred = 512 // texts of one generation
	maxPhrase   = 512 // bytes of a text worth keeping
)

// inferredTexts keeps two generations: what was not asked for during one of them is forgotten.
type inferredTexts struct {
	mu       sync.Mutex
	now, old map[string]*candor.Error // nil: nothing can be inferred
}

// read returns what a text says, or nil if it says nothing but itself.
func (t *inferredTexts) read(text string) *candor.Error {
	if len(text) > maxPhrase {
		return inferText(text)
	}
	t.mu.Lock()
	e, ok := t.now[text]
	if !ok {
		if e, ok = t.old[text]; ok {
			t.keep(text, e)
		}
	}
	t.mu.Unlock()
	if ok {
		return e
	}
	e = inferText(text)
	t.mu.Lock()
	t.keep(text, e)
	t.mu.Unlock()
	return e
}

func (t *inferredTexts) keep(text string, e *candor.Error) {
	if t.now == nil || len(t.now) >= maxInferred {
		t.now, t.old = make(map[string]*candor.Error, maxInferred), t.now
	}
	t.now[text] = e
}

// inferText reads a text by the rules that are applied to any other server's texts. A code in a text is inferred, because the text may quote
// another party, and for the same reason a text does not say which tool or session failed.
func inferText(text string) *candor.Error {
	e := readText(text)
	if e == nil || e.Code() == candor.CodeUnknownToolFailure {
		return nil
	}
	return e.With(candor.WithOrigin(e.Origin().By, true), candor.WithCallInfo(candor.CallInfo{}))
}

// maxSuspect bounds the answers that are read again: what a tool says of its own failure is short.
const maxSuspect = 256 << 10

// suspects reports whether an answer to a method is read for failures that leave as successes.
func (b *Boundary) suspects(method string, size int) bool {
	return b.o.Suspected && method == "tools/call" && size <= maxSuspect
}

// suspect records and counts a successful answer that looks like a failure. The answer leaves as it is: what a tool returns may be
// data about errors. Request may be nil.
func (b *Boundary) suspect(ctx context.Context, request *wire.Message, response []byte, x exchange) {
	asked := contract.Exchange{Response: wire.Parse(response, wire.Limits{AllowLoneSurrogates: true}), Request: request}
	if found := contract.Classify(&asked); found.Certainty == contract.Suspected && found.Verdict == contract.VerdictMasked {
		b.suppress(ctx, contract.Interpret(&asked, found), found.Verdict, x)
	}
}
