package profile

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/wire"
)

const (
	mostWords = 6  // of a beginning
	leastSaid = 4  // fixed words of a sentence; fewer would match too much
	mostSaid  = 40 // words of a sentence
)

// word is a word of a failure as a regular expression.
type word struct {
	text       string // as in the answer
	expression string
	fixed      bool // the same in every call
}

// argument replaces the value of an argument in a text. It is a private-use character.
const argument = "\uE000"

// wordsOf splits a text into words. Argument values and other parts that may differ between calls are not fixed.
func wordsOf(text string, values []string) []word {
	for _, value := range values {
		text = replaceWhole(text, value)
	}
	var out []word
	for _, field := range strings.Fields(text) {
		switch {
		case strings.Contains(field, argument):
			out = append(out, word{expression: `.+`})
		case varies(field):
			out = append(out, word{text: field, expression: `\S+`})
		default:
			out = append(out, word{text: field, expression: regexp.QuoteMeta(field), fixed: true})
		}
	}
	return out
}

// replaceWhole replaces a value where it is not part of a longer word.
func replaceWhole(text, value string) string {
	var b strings.Builder
	for {
		i := strings.Index(text, value)
		if i < 0 {
			return b.String() + text
		}
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(value):])
		b.WriteString(text[:i])
		if inWord(before) || inWord(after) {
			b.WriteString(value)
		} else {
			b.WriteString(argument)
		}
		text = text[i+len(value):]
	}
}

func inWord(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// valuesOf returns the text values of the arguments, the longest first, without those that are words of a failure.
func valuesOf(o *probe.Observation) []string {
	call := wire.Parse([]byte(o.Request), wire.Limits{})
	arguments := call.Params().Path("arguments")
	if !arguments.Present() {
		if params, err := wire.ParseValue(o.Case.Params, wire.Limits{}); err == nil {
			arguments = params.Path("arguments")
		}
	}
	var out []string
	texts(arguments, 0, func(text string) {
		if len(text) > 1 && !complaint.MatchString(text) {
			out = append(out, text)
		}
	})
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return slices.Compact(out)
}

// maxDepth is the maximum depth of argument values.
const maxDepth = 8

func texts(v wire.Value, depth int, yield func(string)) {
	if text, ok := v.Str(); ok {
		yield(text)
	}
	if depth == maxDepth {
		return
	}
	for item := range v.Elements() {
		texts(item, depth+1, yield)
	}
	for _, member := range v.Members() {
		texts(member, depth+1, yield)
	}
}

// complaint matches words with which failures begin.
var complaint = lazyregexp.New(`(?i)^(error|errors|failed|failure|fail|unable|cannot|can't|could|couldn't|invalid|missing|unknown|exception|traceback|denied|forbidden|unauthorized|not|no|❌|⚠️|✗|✖|🚫)`)

var (
	// outright matches beginnings that need no further word.
	outright = lazyregexp.New(`(?i)^\W*(((fatal|internal)?error|failed|failure|exception|denied|forbidden|unauthorized):|❌|✗|✖|🚫)`)
	// certain matches words after which one further word identifies the failure. Others, as in "No results", need two.
	certain = lazyregexp.New(`(?i)^\W*(error|failed|failure|exception|traceback|unable|cannot|can't|couldn't)\W*$`)
)

// beginnings returns expressions for the first words of a line, the shortest specific one first. Each ends at the end of a word, so that
// "Error" does not match "Errors fixed".
func beginnings(words []word) (out []string) {
	words = words[:min(len(words), mostWords)]
	at := slices.IndexFunc(words, func(w word) bool {
		return !w.fixed || complaint.MatchString(strings.TrimLeftFunc(w.text, unicode.IsPunct))
	})
	if at < 0 || !words[at].fixed {
		return nil
	}
	need := 3
	switch {
	case outright.MatchString(words[at].text):
		need = 1
	case certain.MatchString(words[at].text):
		need = 2
	}
	said := 0
	for i := at; i < len(words); i++ {
		if words[i].fixed {
			said++
		}
		if said >= need && words[i].fixed {
			out = append(out, `^\s*`+joined(words[:i+1])+boundary(words[i].text))
		}
	}
	if len(out) == 0 && len(words) == 1 {
		out = append(out, `^\s*`+words[0].expression+`\s*$`)
	}
	return out
}

// sentence returns an expression for a whole text of one line that does not begin with a word of failure, as in "You need to register first".
// Parts that may differ between calls match anything; enough fixed words must remain.
func sentence(text string, values []string) string {
	text = strings.TrimSpace(text)
	words := wordsOf(text, values)
	if strings.ContainsAny(text, "\r\n") || len(words) > mostSaid {
		return ""
	}
	fixed := 0
	for _, w := range words {
		if w.fixed {
			fixed++
		}
	}
	if fixed < leastSaid {
		return ""
	}
	return `^\s*` + joined(words) + `\s*$`
}

// openings returns expressions for the first words of a message, the longest first, with at least two words.
func openings(words []word) (out []string) {
	words = words[:min(len(words), mostWords)]
	for i, w := range words {
		if !w.fixed {
			break
		}
		if i > 0 {
			out = append(out, "^"+joined(words[:i+1])+boundary(w.text))
		}
	}
	slices.Reverse(out)
	return out
}

func joined(words []word) string {
	parts := make([]string, len(words))
	for i, w := range words {
		parts[i] = w.expression
	}
	return strings.Join(parts, `\s+`)
}

// boundary ends an expression at the end of its last word. A word that ends with punctuation, such as "Error:", needs no mark.
func boundary(last string) string {
	if r, _ := utf8.DecodeLastRuneInString(last); unicode.IsLetter(r) || unicode.IsDigit(r) {
		return `(\s|$)`
	}
	return ""
}

// contraction matches a word with an apostrophe that is not a quote.
var contraction = lazyregexp.New(`^[A-Za-z]+['’](t|s|re|ve|d|ll|m)[.,:;!?]?$`)

// varies reports whether a word may differ between calls: an argument value, a number, or a quoted text.
func varies(word string) bool {
	if contraction.MatchString(word) {
		return false
	}
	return strings.Contains(word, "zz") || strings.ContainsAny(word, "0123456789\"'`/\\{}[]<>=@") || len(word) > 40
}
