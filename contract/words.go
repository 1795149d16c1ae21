package contract

import (
	"bytes"
	"strings"

	"github.com/candor-mcp/candor"
)

// readWords reads the sentences that people wrote. Those that tell what happened count before those that advise.
func readWords(h *heard) finding {
	if h.Masked {
		return finding{} // the sentence hides the cause: "Unknown error"
	}
	m, words := h.meaningOf(h.first)
	if m == nil {
		m, words = h.meaningOf(h.text)
	}
	if m == nil {
		return finding{}
	}
	code := h.placed(m.code)
	if m.stumble && h.schema.fit() == fitNo && h.isTool() {
		code = candor.CodeInvalidArguments // a server without validation stumbles over what does not fit
	}
	return fairly(code, "the words “"+words+"”")
}

// placed gives codes about arguments and sign-in the form that they have outside of tool calls.
func (h *heard) placed(code candor.Code) candor.Code {
	switch {
	case code != candor.CodeInvalidArguments:
		return h.refused(code)
	case h.Numbered && h.Number == -32600:
		return candor.CodeInvalidRequest
	case !h.isTool():
		return candor.CodeInvalidRequestParams
	default:
		return code
	}
}

// meaningOf returns the most telling meaning in the text and the words that were found, nil if there is none.
func (h *heard) meaningOf(text string) (m *meaning, words string) {
	if text == "" {
		return nil, ""
	}
	for _, advising := range []bool{false, true} {
		if m, words = h.search(text, advising); m != nil {
			return m, words
		}
	}
	return nil, ""
}

// search looks through the sentences that tell, or through those that advise.
func (h *heard) search(text string, advising bool) (m *meaning, words string) {
	best := len(textLexicon.table)
	rest := []byte(text)
	for n := 0; n < maxSentences && len(rest) > 0; n++ {
		var l line
		rest = l.readSentence(rest)
		if l.n == 0 || (advice.begins(&l) && !before.within(&l, lineWords)) != advising {
			continue
		}
		if rank, at := h.bestMeaning(&l, best); rank < best {
			best, words = rank, l.quote(at)
		}
	}
	if best == len(textLexicon.table) {
		return nil, ""
	}
	return &textLexicon.table[best], words
}

// bestMeaning returns the place of the most telling meaning in a sentence that the call does not contradict.
func (h *heard) bestMeaning(l *line, below int) (rank, at int) {
	var skip rankSet
	for {
		rank, at = below, 0
		for i := range l.n {
			if r := textLexicon.book.rankAt(l, i, rank, skip); r < rank {
				rank, at = r, i
			}
		}
		if rank == below || h.accepts(textLexicon.table[rank].code, l) {
			return rank, at
		}
		skip |= 1 << rank
	}
}

// maxSentences is how many sentences of a message are read for its meaning.
const maxSentences = 16

// accepts reports whether the call leaves room for a meaning. The words for a bad argument, a missing key and a missing program are the same that
// servers use for other things; the tool's schema tells whether there is such an argument.
func (h *heard) accepts(code candor.Code, l *line) bool {
	if !h.isTool() || !h.schema.known() {
		return true
	}
	switch code {
	case candor.CodeInvalidArguments:
		return h.schema.fit() == fitNo || l.has(echoWord) || argumentWords.within(l, lineWords) || h.namesProperty(l)
	case candor.CodeConfigurationMissing, candor.CodeUpstreamUnauthenticated:
		return !h.namesOneOf(l, credentialWords)
	case candor.CodeDependencyMissing:
		return !l.has(echoWord) || !h.namesOneOf(l, programWords)
	default:
		return true
	}
}

// has reports a line with a word that is the given mark.
func (l *line) has(mark byte) bool {
	for i := range l.n {
		if bytes.IndexByte(l.word(i), mark) >= 0 {
			return true
		}
	}
	return false
}

// namesProperty reports a sentence with the name of a property, or with its last word: "Invalid ID" of projectId.
func (h *heard) namesProperty(l *line) bool {
	for i := range l.n {
		word := string(l.word(i))
		if h.schema.has(word) || h.schema.hasTail(word) || i+1 < l.n && h.schema.has(word+string(l.word(i+1))) {
			return true
		}
	}
	return false
}

// namesOneOf reports a sentence with one of the words, where a property of the tool has that word in its name.
func (h *heard) namesOneOf(l *line, words map[string]bool) bool {
	for i := range l.n {
		if word := string(l.word(i)); words[word] && h.schema.hasTail(word) {
			return true
		}
	}
	return false
}

var (
	credentialWords = wordSet("key token credentials credential password secret")
	programWords    = wordSet("command executable binary program module package browser driver library extension cli")

	// argumentWords say that an argument is meant, whichever it is.
	argumentWords = newPhrasebook(`
		argument|arguments|parameter|parameters|param|params
		input|inputs is|are|was|validation|schema|invalid
		invalid|bad|missing input|inputs
	`)

	// advice begins a sentence that says what to do, not what happened.
	advice = newPhrasebook(`
		please|try|check|ensure|verify|consider|see|refer|visit|contact|hint|tip|note|alternatively|documentation
		make sure
		you can|may|might
		for more|details|help
		if you|the|this|it|not
		to fix|resolve|enable|use|set|configure|get
	`)

	// before tells what has to be done before the call can succeed, which is the reason also where it is put as advice.
	before = newPhrasebook(`
		first
	`)
)

// readSentence is [line.read] up to the end of a sentence.
func (l *line) readSentence(text []byte) (rest []byte) {
	end := sentenceEnd(text)
	l.read(text[:min(end, lineBytes)], false)
	return text[max(min(end, lineBytes), 1):]
}

// sentenceEnd finds a line end, or a full stop with white space behind it.
func sentenceEnd(text []byte) int {
	for i, c := range text[:min(len(text), lineBytes)] {
		switch c {
		case '\n':
			return i + 1
		case '.', '!', '?', ';':
			if i+1 < len(text) && (text[i+1] == ' ' || text[i+1] == '\n') {
				return i + 1
			}
		}
	}
	return len(text)
}

// quoted is how many words of a sentence [line.quote] shows.
const quoted = 5

// quote returns a few words from word i on, as they are matched.
func (l *line) quote(i int) string {
	var parts []string
	for k := i; k < min(l.n, i+quoted); k++ {
		if w := string(l.word(k)); w[0] != echoWord && w[0] != placeWord {
			parts = append(parts, w)
		}
	}
	return strings.Join(parts, " ")
}
