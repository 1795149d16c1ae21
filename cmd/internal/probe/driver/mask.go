package driver

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/internal/redact"
)

// mask hides the secrets that the server was given, and the random part of the name of the scratch folder, which would make texts differ
// between runs.
type mask struct {
	secrets    []hidden // hidden everywhere; the longest first, in case one is the prefix of another
	everywhere *strings.Replacer
	beside     []placed
}

// hidden is a text to hide and its replacement.
type hidden struct{ what, by string }

// placed is an ordinary word or a number that is hidden only after its name.
type placed struct {
	value string
	where *regexp.Regexp
}

// concealed replaces a given value that is too ordinary for its presence to be a leak.
const concealed = "[hidden]"

// The least lengths of a secret. Shorter values occur in answers by chance; long values, and mixes of letters and digits, do not.
const (
	leastSecret = 6
	leastMixed  = 8
	leastLong   = 16
)

// newMask returns the mask for a target and its scratch folder.
func newMask(t Target, scratch string) *mask {
	m := new(mask)
	for _, name := range slices.Sorted(maps.Keys(t.Headers)) {
		value, scheme := t.Headers[name], name
		if first, bare, ok := strings.Cut(value, " "); ok { // as in Bearer …
			value, scheme = bare, first
		}
		m.hide(name, scheme, value)
	}
	for _, variable := range t.Env {
		name, value, _ := strings.Cut(variable, "=")
		m.hide(name, name, value)
	}
	if name := filepath.Base(scratch); strings.HasPrefix(name, scratchPrefix) {
		m.secrets = append(m.secrets, hidden{name, scratchPrefix + "0"})
	}
	slices.SortStableFunc(m.secrets, func(a, b hidden) int { return len(b.what) - len(a.what) })
	var pairs []string
	for _, h := range m.secrets {
		pairs = append(pairs, h.what, h.by)
	}
	m.everywhere = strings.NewReplacer(pairs...)
	return m
}

// hide adds a secret value in all spellings. An ordinary word, such as the password postgres, is hidden only after its
// name.
func (m *mask) hide(name, scheme, value string) {
	if !redact.Key(name) || len(value) < leastSecret {
		return
	}
	letters, digits, others := ingredients(value)
	by := concealed
	switch {
	case len(value) >= leastLong, len(value) >= leastMixed && letters && digits:
		by = probe.GivenSecret
	case !others && letters != digits:
		m.beside = append(m.beside, placed{value: value,
			where: regexp.MustCompile(`((?i:` + regexp.QuoteMeta(name) + `|` + regexp.QuoteMeta(scheme) + `)[\s"'\\=:]{1,8})` + regexp.QuoteMeta(value))})
		return
	}
	for _, form := range redact.Spellings(value) {
		m.secrets = append(m.secrets, hidden{form, by})
	}
}

func ingredients(value string) (letters, digits, others bool) {
	for _, r := range value {
		letter, digit := unicode.IsLetter(r), unicode.IsDigit(r)
		letters, digits, others = letters || letter, digits || digit, others || !letter && !digit
	}
	return letters, digits, others
}

// over returns the text with secrets replaced. Call it before the text is cut, which could leave part of a secret.
func (m *mask) over(text string) string {
	text = m.everywhere.Replace(text)
	for _, p := range m.beside {
		if strings.Contains(text, p.value) {
			text = p.where.ReplaceAllString(text, "${1}"+concealed)
		}
	}
	return text
}

// overCut is over for a truncated text: it also removes the beginning of a secret at its end.
func (m *mask) overCut(text string) string { return m.over(text[:len(text)-m.begun(text)]) }

// begun returns the length of the longest beginning of a secret at the end of a text.
func (m *mask) begun(text string) (length int) {
	for _, h := range m.secrets {
		if strings.HasSuffix(text, h.what) {
			continue // it is there as a whole
		}
		for n := len(h.what) - 1; n > length; n-- {
			if strings.HasSuffix(text, h.what[:n]) {
				length = n
			}
		}
	}
	return length
}
