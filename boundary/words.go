package boundary

import (
	"strings"
	"unicode"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/usercode"
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
