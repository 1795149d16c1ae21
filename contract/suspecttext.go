package contract

import (
	"bytes"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/wire"
)

// Limits of a text that can be an error message. Longer texts are data.
const (
	considered  = 4096 // bytes of a text that are examined
	shortText   = 600
	shortLines  = 6
	oneSentence = 500
)

// looksLikeFailure reports whether a JSON string could be an error message. It is a cheap filter that runs on every success and
// allocates nothing; most answers end here. It reads a short text to the end of its first line; a longer one must begin like an
// error.
func looksLikeFailure(inside []byte) bool {
	if len(inside) > 2*considered {
		return false
	}
	if len(inside) > shortText+shortText/4 { // allow for escapes
		return beginsAsError(inside[:longHead])
	}
	var l line
	rest := l.read(inside, true)
	if l.suspicious(inside) {
		return true
	}
	if len(rest) == 0 || l.n > 12 {
		return false
	}
	l.read(rest, true) // the line after a title
	return tables().OwnVoice.begins(&l) || tables().Strong.begins(&l)
}

// longHead is the number of bytes of a long text that are read, enough for its first words.
const longHead = 40

// beginsAsError reports whether a long text begins like an error. The first letter rules out most texts.
func beginsAsError(head []byte) bool {
	i := skipDecoration(head, true)
	if i == len(head) || strings.IndexByte(errorLetters, head[i]|0x20) < 0 && !bytes.Contains(head, []byte(errorWord)) {
		return false
	}
	var l line
	l.read(head, true)
	return tables().Strong.begins(&l) || tables().OwnVoice.begins(&l)
}

// errorLetters has the first letters of the strong and ownVoice phrases; errorWord is part of the phrases that begin with an ending.
const (
	errorLetters = "edfgucimaprtxsnн"
	errorWord    = "rror"
)

func (l *line) suspicious(text []byte) bool {
	if l.n == 0 {
		return hasAnyPrefix(text, tables().ForeignOpenings)
	}
	return tables().Opening.begins(l) || tables().Predicates.within(l, 40) || l.foreign(text) || l.isStderr()
}

// isStderr reports whether the line begins with "[stderr]" or "stderr:", the label of what a program wrote.
func (l *line) isStderr() bool {
	return l.n > 0 && string(l.word(0)) == "stderr" && l.words[0].Mark != 0
}

// exitLine is the last line of such a text if the program failed.
var exitLine = lazyregexp.New(`(?i)\n\[?exit(?:ed with)? (?:code|status):? -?[1-9]\d*\]?$`)

// reportsExit reports whether the text is what a program wrote to standard error, and its exit code is not zero.
func (v *textView) reportsExit() bool {
	return v.short() && v.first.isStderr() && exitLine.Match(v.text)
}

func (l *line) foreign(text []byte) bool {
	start := text[skipDecoration(text, true):]
	return hasAnyPrefix(start, tables().ForeignOpenings) || containsAny(start[:min(len(start), 120)], tables().ForeignPredicates)
}

// textView is a text that passed looksLikeFailure, prepared for the rules.
type textView struct {
	text   []byte // unescaped, trimmed
	first  line   // the first line, with repeated arguments masked
	lines  int
	echoed bool
	call   callFacts
}

// suspectText applies the rules to a text block, which is a JSON string.
func suspectText(block wire.Value, a callFacts) (string, bool) {
	text, ok := block.Str()
	if !ok {
		return "", false
	}
	v := textView{call: a, text: unquote(bytes.TrimSpace([]byte(text)))}
	v.lines = countLines(v.text, false)
	if v.lines == 0 {
		return "", false
	}
	hidden, rest := v.open()
	if v.first.n == 0 || v.onlyEcho() || v.text[0] == '#' && v.lines > 1 {
		return v.underTitle(rest)
	}
	return v.judge(hidden)
}

// open reads the first line with repeated arguments masked.
func (v *textView) open() (hidden, rest []byte) {
	text := v.text[:min(len(v.text), considered)]
	hidden, v.echoed = v.call.hide(text)
	if end := bytes.IndexByte(hidden, '\n'); end >= 0 {
		v.echoed = bytes.IndexByte(hidden[:end], echoWord) >= 0
	}
	rest = v.first.read(hidden, false)
	return hidden, rest
}

// onlyEcho reports whether the first line only repeats arguments, as a title does.
func (v *textView) onlyEcho() bool {
	for i := range v.first.n {
		if w := v.first.word(i); len(w) != 1 || w[0] != echoWord {
			return false
		}
	}
	return v.lines > 1
}

func (v *textView) underTitle(rest []byte) (string, bool) {
	var second line
	second.read(rest, false)
	short := v.lines <= shortLines && !v.isRecord()
	if tables().OwnVoice.begins(&second) {
		return ruleHeadedText, short
	}
	if v.text[0] != '#' || v.call.source() != sourceOwn {
		return "", false
	}
	// The heading and the text below it both describe a failure.
	if tables().Opening.begins(&v.first) || tables().Predicates.within(&v.first, 8) || tables().Strong.within(&v.first, 4) {
		return ruleHeadedText, tables().Predicates.within(&second, predicateWords) || tables().Strong.begins(&second)
	}
	return ruleHeadedText, short && tables().Strong.begins(&second)
}

// judge decides by the first line and by the probable source of the text.
func (v *textView) judge(hidden []byte) (string, bool) {
	l := &v.first
	from := v.call.source()
	switch {
	case v.reportsStatus():
		return ruleStatusNumber, true
	case v.reportsExit():
		return ruleOwnVoiceText, from != sourceFile && from != sourcePage
	case !from.borrowed() && from != sourcePage && v.refuses(hidden):
		return ruleErrorText, true
	}
	if v.isRecord() || v.tellsSuccess() || v.listsNone() || v.tellsState() || tables().Empty.begins(l) && !l.says(hidden) {
		return "", false
	}
	begins := tables().Opening.begins(l) || hasAnyPrefix(hidden[skipDecoration(hidden, false):], tables().ForeignOpenings)
	within := tables().Predicates.within(l, predicateWords) || l.foreign(hidden)
	if !begins && !within {
		return "", false
	}
	switch from {
	case sourceOwn, sourceExec:
		return v.judgeOwn(begins)
	case sourceSearch, sourcePage, sourceFile, sourceShell, sourceJudge:
		return v.judgeBorrowed(from, begins)
	default:
		return "", false
	}
}

// predicateWords is the number of words in which a sentence must show a failure that it does not begin with.
const predicateWords = 16

func (v *textView) judgeOwn(begins bool) (string, bool) {
	switch {
	case begins && v.short():
		return ruleErrorText, true
	case begins && len(v.text) <= considered && tables().Strong.begins(&v.first):
		return ruleErrorText, true
	case v.lines <= 4 && len(v.text) <= oneSentence:
		return ruleFailureText, true
	default:
		return "", false
	}
}

// judgeBorrowed judges the text of a tool that returns content from other sources. There, an error message belongs to the tool
// only if it describes the tool's task, repeats the arguments, or is the whole text.
func (v *textView) judgeBorrowed(from Source, begins bool) (string, bool) {
	l := &v.first
	oneLine := v.lines <= 2 && len(v.text) <= 300
	switch {
	case tables().OwnVoice.begins(l):
		return ruleOwnVoiceText, v.short() || from == sourceSearch || from == sourcePage
	case from == sourceJudge:
		return ruleErrorText, oneLine && begins && tables().Strong.begins(l) && !tables().Judgement.begins(l) && !v.tellsOfCode()
	case v.echoed && v.short() && !v.listsPaths() && from != sourceShell:
		return ruleOwnVoiceText, true
	case from == sourceSearch || from == sourcePage:
		return ruleFailureText, oneLine && !tables().MissingOnly.begins(l)
	default:
		return ruleErrorText, from == sourceFile && oneLine && begins && tables().Strong.begins(l)
	}
}

// tellsOfCode reports whether the text is about errors in general or about a position in a judged text, such as "Error codes such
// as" or "Error: line 1".
func (v *textView) tellsOfCode() bool {
	l := &v.first
	return string(l.word(0)) == "error" && l.words[0].Mark == 0 && l.n > 1 && !tables().Calling.at(l, 1) || tables().CodePlaces.within(l, predicateWords) || v.repeatsLabel()
}

// isRecord reports whether the text is a list, a log or a card: a line begins with a date, a number or a hash, or several lines
// begin with a bullet or a label.
func (v *textView) isRecord() bool {
	listed, rest := 0, v.text
	for n := 0; n < 4 && len(rest) > 0; n++ {
		first, after, _ := bytes.Cut(rest, []byte("\n"))
		rest = bytes.TrimLeft(after, "\n ")
		if startsAsRecord(first) {
			return true
		}
		if isListed(first) {
			listed++
		}
	}
	return listed > 2 || listed == 2 && v.lines == 2
}

// startsAsRecord reports whether a line begins with a date or a number, as in 2026-11-02, 02/Nov, 10:00 and "1. ", or with a hash.
func startsAsRecord(line []byte) bool {
	hash := hashLine.Get().Find(line)
	return recordLine.Match(line) || hash != nil && bytes.ContainsAny(hash, "0123456789")
}

// isListed reports whether a line has the form "- item", "* item", "| cell" or "Label: value".
func isListed(line []byte) bool {
	label := bytes.ToLower(listedLine.Get().Find(line))
	return len(label) > 0 && !bytes.Contains(label, []byte("err")) && !bytes.Contains(label, []byte("fail"))
}

var (
	recordLine = lazyregexp.New(`^\[?(?:\d{4}-.|\d{1,2}[:/][^ ]|\d{1,2}\. )|^#\d`)
	hashLine   = lazyregexp.New(`^[0-9a-f]{7,}[ :]`)
	listedLine = lazyregexp.New(`^(?:[-*|] |[A-Z][^:]{1,22}: )`)
)

func (v *textView) short() bool { return len(v.text) <= shortText && v.lines <= shortLines }

// tellsSuccess reports whether the first line says that something was done. The first match decides: "not created" is not a
// success, and the words after "successfully completed" are ignored.
func (v *textView) tellsSuccess() bool {
	for i := range min(v.first.n, successWords) {
		if tables().Denials.at(&v.first, i) {
			return false
		}
		if tables().Done.at(&v.first, i) {
			return true
		}
	}
	return v.didItsTask()
}

// successWords is the number of words in which a sentence must show a success.
const successWords = 16

// didItsTask reports whether the first line says that the tool's verb was applied to the tool's subject, as "Issue 12 has been
// closed" does for close_issue. For another tool the same words may explain a failure, and so may "Database is locked" for
// lock_file.
func (v *textView) didItsTask() bool {
	l := &v.first
	if tables().Opening.begins(l) || tables().Hindered.within(l, l.n) {
		return false
	}
	for i := range min(l.n, successWords) {
		verb := v.call.doneBy(string(l.word(i)))
		if verb == "" {
			continue
		}
		for k := range i {
			if v.call.about(string(l.word(k)), verb) {
				return !l.failsFrom(i + 1)
			}
		}
	}
	return false
}

// failsFrom reports whether the words from i on describe a failure.
func (l *line) failsFrom(i int) bool {
	for ; i < l.n; i++ {
		if tables().Predicates.at(l, i) {
			return true
		}
	}
	return false
}

// listsNone reports whether the text is a listing tool's single sentence for an empty list: list_sources answers "No sources
// configured." The sentence must use a word of the tool's name; "No browser connected." does not.
func (v *textView) listsNone() bool {
	name, l := splitName(v.call.tool), &v.first
	if !slices.Contains(name, "list") || v.lines != 1 || l.n < 3 || l.n > 8 || string(l.word(0)) != "no" || !tables().Kept[string(l.word(l.n-1))] {
		return false
	}
	for i := 1; i < l.n-1; i++ {
		if slices.ContainsFunc(name, func(part string) bool { return sameStem(part, string(l.word(i))) }) {
			return true
		}
	}
	return false
}

// tellsState reports whether the text is the answer of a tool that reports a state: for server_status, "The server is down" is a
// regular answer.
func (v *textView) tellsState() bool {
	name, t := splitName(v.call.tool), tables()
	return name.any(t.State) && !name.any(t.Changing) && t.States.within(&v.first, predicateWords) && !t.Opening.begins(&v.first)
}

// sameStem reports whether one word begins with the other, ignoring a plural s: devices and device, specs and specifications.
func sameStem(a, b string) bool {
	const stem = 4
	return len(a) >= stem && len(b) >= stem && (strings.HasPrefix(a, strings.TrimSuffix(b, "s")) || strings.HasPrefix(b, strings.TrimSuffix(a, "s")))
}

// says reports whether an empty answer also names something that has to be corrected.
func (l *line) says(text []byte) bool {
	if tables().Elsewhere.within(l, 40) {
		return false
	}
	return bytes.Contains(text[:min(len(text), lineBytes)], []byte("provided")) || tables().Mending.within(l, 40)
}

// listsPaths reports whether the text begins with a path and not with a sentence: its first 200 bytes are without spaces.
func (v *textView) listsPaths() bool {
	return bytes.IndexByte(v.text[:min(len(v.text), 200)], ' ') < 0
}

// unquote decodes a text that is itself a JSON string, because some servers encode twice.
func unquote(text []byte) []byte {
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return text
	}
	if v, err := wire.ParseValue(text, wire.Limits{}); err == nil {
		if s, ok := v.Str(); ok {
			return bytes.TrimSpace([]byte(s))
		}
	}
	return text
}
