package boundary

import (
	"sync"

	"github.com/candor-mcp/candor"
)

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
