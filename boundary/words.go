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

// withWords adds the text that the author of a handler wrapped around a known error to its public message: "loading profile: The file
// does not exist." The text of the wrapped error describes the machine and is omitted. See docs/decisions/008.
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

// words collects the texts that an author wrapped around other errors with fmt.Errorf and errors.Join.
type words struct {
	own []string
	any bool // at least one of them contains a letter
}

const maxWordsDepth = 32

// of returns the text of an error in which known errors are replaced by their public messages.
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
		for text != "" { // %.0w omits the text of a cause, and %v may repeat it
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

// leaf returns the text for an error that wraps no other: its public message, or its own text if it has no known code.
func (w *words) leaf(err error) string {
	if candor.KnownCode(err).Valid() || isSystems(err) {
		return candor.From(err).Message()
	}
	return w.add(err.Error())
}

// add records a text of the author and returns it.
func (w *words) add(text string) string {
	if strings.ContainsFunc(text, unicode.IsLetter) {
		w.own, w.any = append(w.own, text), true
	}
	return text
}

// safe reports whether each text of the author, redacted alone, also occurs in the redacted whole. If not, a secret may span the
// author's text and the error that was replaced.
func (w *words) safe(err error) bool {
	whole := contract.Redact(err.Error())
	for _, text := range w.own {
		if !strings.Contains(whole, strings.TrimSpace(contract.Redact(text))) {
			return false
		}
	}
	return true
}

// inferred caches the interpretation of texts. Servers often repeat the same texts, and interpreting one takes much longer than all
// other steps. The rules are pure, so the same text always has the same result.
var inferred inferredTexts

const (
	maxInferred = 512 // texts of one generation
	maxPhrase   = 512 // maximum size of a cached text in bytes
)

// inferredTexts keeps two generations. A text that was not requested during one of them is discarded.
type inferredTexts struct {
	mu       sync.Mutex
	now, old map[string]*candor.Error // a nil value means that the text gives no code
}

// read returns the error for a text, or nil if the text gives no code.
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

// inferText interprets a text by the rules for texts of any server. A code in a text is marked as inferred, because the text may
// quote another party. For the same reason the tool and the session in a text are ignored.
func inferText(text string) *candor.Error {
	e := readText(text)
	if e == nil || e.Code() == candor.CodeUnknownToolFailure {
		return nil
	}
	return e.With(candor.WithOrigin(e.Origin().By, true), candor.WithCallInfo(candor.CallInfo{}))
}

// maxSuspect is the maximum size of an answer that is checked, because texts that report a failure are short.
const maxSuspect = 256 << 10

// suspects reports whether an answer to a method is checked for failures that are reported as successes.
func (b *Boundary) suspects(method string, size int) bool {
	return b.o.Suspected && method == "tools/call" && size <= maxSuspect
}

// suspect records and counts a successful answer that looks like a failure. The answer is sent unchanged, because a tool may return
// data about errors. Request may be nil.
func (b *Boundary) suspect(ctx context.Context, request *wire.Message, response []byte, x exchange) {
	asked := contract.Exchange{Response: wire.Parse(response, wire.Limits{AllowLoneSurrogates: true}), Request: request}
	if found := contract.Classify(&asked); found.Certainty == contract.Suspected && found.Verdict == contract.VerdictMasked {
		b.suppress(ctx, contract.Interpret(&asked, found), found.Verdict, x)
	}
}
