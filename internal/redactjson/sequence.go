package redactjson

import (
	"strings"

	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/wire"
)

// Sequence reads the texts of one list in order. A label such as "password=" may end one text, and its secret begin the
// next.
type Sequence struct{ tail string }

// Bounds of the texts that are compared.
const (
	maxTail = 64  // bytes of the texts before
	maxWord = 512 // bytes of the word that may be a secret
)

// pathsKept finds secrets only: a path that continues in the next text is none.
var pathsKept = redact.Policy{KeepPaths: true}

// Next returns text without its first word, if the texts before it name that word as a secret. It does not clean the
// text otherwise.
func (q *Sequence) Next(text string) string {
	tail := q.tail
	q.add(text)
	rest := strings.TrimLeft(text, " \t\r\n\"'")
	word := rest[:min(len(rest), maxWord)]
	if i := strings.IndexAny(word, " \t\r\n"); i >= 0 {
		word = word[:i]
	}
	if tail == "" || word == "" {
		return text
	}
	named := !strings.Contains(pathsKept.Text(tail+" "+word), word) ||
		strings.ContainsAny(tail[len(tail)-1:], `=:"'`) && !strings.Contains(pathsKept.Text(tail+word), word)
	if !named || pathsKept.Text(word) != word { // a secret by itself is found anyway
		return text
	}
	return text[:len(text)-len(rest)] + redact.Placeholder + rest[len(word):]
}

// NextOf is Next for the text of a block of content. hidden reports whether a word was removed.
func (q *Sequence) NextOf(block wire.Value) (text string, hidden bool) {
	said, _ := textOf(block)
	text = q.Next(said)
	return text, text != said
}

// add remembers the end of the last line so far.
func (q *Sequence) add(text string) {
	text = strings.TrimRight(text, " \t\r\n")
	line := text[strings.LastIndexByte(text, '\n')+1:]
	if len(line) == len(text) && len(text) < maxTail {
		line = strings.TrimSpace(q.tail + " " + text)
	}
	q.tail = line[max(0, len(line)-maxTail):]
}

// textOf returns an element of a list that is a text, or the text of one that is a block of content.
func textOf(element wire.Value) (text string, ok bool) {
	for _, v := range []wire.Value{element, element.Path("text"), element.Path("resource", "text")} {
		if text, ok = v.Str(); ok {
			return text, true
		}
	}
	return "", false
}
