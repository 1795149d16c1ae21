package contract

import (
	"bytes"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/phrase"
	"github.com/candor-mcp/candor/wire"
)

// readWords reads sentences written for people. A sentence that describes the failure takes precedence over one that gives advice.
func readWords(h *answerText) Evidence {
	if h.Masked {
		return Evidence{} // the sentence does not name the cause, as in "Unknown error"
	}
	m, words := h.meaningOf(h.first)
	if m == nil {
		m, words = h.meaningOf(h.text)
	}
	if m == nil {
		return Evidence{}
	}
	code := h.placed(m.Code)
	if m.Weak {
		return weakly(code, "the words “"+words+"”")
	}
	if m.Stumble && h.schema.fit() == fitNo && h.isTool() {
		code = candor.CodeInvalidArguments // a server that does not validate fails on arguments that do not fit
	}
	return fairly(code, "the words “"+words+"”")
}

// placed returns the equivalent of a code about arguments or sign-in for a call that is not a tool call.
func (h *answerText) placed(code candor.Code) candor.Code {
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

// meaningOf returns the highest-ranked meaning in the text and the words that matched, or nil.
func (h *answerText) meaningOf(text string) (m *meaning, words string) {
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

// search looks for a meaning in the descriptive sentences of the text, or in the advising ones.
func (h *answerText) search(text string, advising bool) (m *meaning, words string) {
	best := len(tables().Meanings)
	rest := []byte(text)
	for n := 0; n < maxSentences && len(rest) > 0; n++ {
		var l line
		rest = l.readSentence(rest)
		if l.n == 0 || (tables().Advice.begins(&l) && !tables().Before.within(&l, lineWords)) != advising {
			continue
		}
		if rank, at := h.bestMeaning(&l, best); rank < best {
			best, words = rank, l.quote(at)
		}
	}
	if best == len(tables().Meanings) {
		return nil, ""
	}
	return &tables().Meanings[best], words
}

// bestMeaning returns the rank of the best meaning in a sentence that is consistent with the call, and the index of its first
// word.
func (h *answerText) bestMeaning(l *line, below int) (rank, at int) {
	var skip phrase.Ranks
	for {
		rank, at = below, 0
		for i := range l.n {
			if r := tables().texts.rankAt(l, i, rank, skip); r < rank {
				rank, at = r, i
			}
		}
		if rank == below || h.accepts(tables().Meanings[rank].Code, l) {
			return rank, at
		}
		skip |= 1 << rank
	}
}

// maxSentences is the number of sentences of a message that are searched.
const maxSentences = 16

// accepts reports whether a meaning is consistent with the call. Servers also use the words for a bad argument, a missing key or a
// missing program for other things; the tool's schema shows whether such an argument exists.
func (h *answerText) accepts(code candor.Code, l *line) bool {
	if code == candor.CodeConfigInvalid && h.call.known {
		return !h.namesProperty(l) && h.schema.schema.Type() == wire.TypeObject // an address that the caller did not send
	}
	if (isOfFile(code) || isOfFile(tables().Errno[h.Errno])) && h.ofOwnFile() {
		return code == candor.CodeConfigurationMissing
	}
	unknown := func() bool { return !h.isTool() || !h.schema.known() } // most codes need no search of the schema
	switch code {
	case candor.CodeInvalidArguments:
		return unknown() || h.schema.fit() == fitNo || l.has(echoWord) || tables().ArgumentWords.within(l, lineWords) || h.namesProperty(l) || h.quotesPart()
	case candor.CodeConfigurationMissing, candor.CodeUpstreamUnauthenticated:
		return unknown() || !h.namesOneOf(l, tables().Credential)
	case candor.CodeDependencyMissing:
		return !l.has(echoWord) || unknown() || !h.namesOneOf(l, tables().Program)
	default:
		return true
	}
}

// has reports whether a word of the line contains the given mark.
func (l *line) has(mark byte) bool {
	for i := range l.n {
		if bytes.IndexByte(l.word(i), mark) >= 0 {
			return true
		}
	}
	return false
}

// namesProperty reports whether a sentence contains the name of a property or its last word, as "Invalid ID" does for projectId.
func (h *answerText) namesProperty(l *line) bool {
	for i := range l.n {
		word := string(l.word(i))
		if h.schema.has(word) || h.schema.hasTail(word) || i+1 < l.n && h.schema.has(word+string(l.word(i+1))) {
			return true
		}
	}
	return false
}

// namesOneOf reports whether a sentence contains one of the words and the tool has a property that ends in that word.
func (h *answerText) namesOneOf(l *line, words map[string]bool) bool {
	for i := range l.n {
		if word := string(l.word(i)); words[word] && h.schema.hasTail(word) {
			return true
		}
	}
	return false
}

// readSentence is like [line.read], but stops at the end of a sentence.
func (l *line) readSentence(text []byte) (rest []byte) {
	end := sentenceEnd(text)
	l.read(text[:min(end, lineBytes)], false)
	return text[max(min(end, lineBytes), 1):]
}

// sentenceEnd returns the index after the first newline or sentence mark followed by white space, or len(text).
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

// quoted is the number of words that [line.quote] returns.
const quoted = 5

// quote returns a few words from word i on, as they were matched.
func (l *line) quote(i int) string {
	var parts []string
	for k := i; k < min(l.n, i+quoted); k++ {
		if w := string(l.word(k)); w[0] != echoWord && w[0] != placeWord {
			parts = append(parts, w)
		}
	}
	return strings.Join(parts, " ")
}
