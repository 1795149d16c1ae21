package contract

import (
	"bytes"
	"slices"
	"strings"

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
	return ownVoice.begins(&l) || strong.begins(&l)
}

// longHead is the number of bytes of a long text that are read, enough for its first words.
const longHead = 40

// beginsAsError reports whether a long text begins like an error. The first letter rules out most texts.
func beginsAsError(head []byte) bool {
	i := skipDecoration(head, true)
	if i == len(head) || !errorLetters[head[i]|0x20] && !bytes.Contains(head, errorWord) {
		return false
	}
	var l line
	l.read(head, true)
	return strong.begins(&l) || ownVoice.begins(&l)
}

// errorLetters are the first letters of the strong and ownVoice phrases; errorWord is part of the phrases that begin with an
// ending.
var (
	errorLetters = lettersOf("error failed detection generation unable could cannot invalid missing unknown access permission rate too unauthorized exception request api command execution script spawn ssh no impossible não не")
	errorWord    = []byte("rror")
)

func lettersOf(words string) (set [256]bool) {
	for w := range strings.FieldsSeq(words) {
		set[w[0]|0x20] = true
	}
	return set
}

func (l *line) suspicious(text []byte) bool {
	if l.n == 0 {
		return hasAnyPrefix(text, foreignOpenings)
	}
	return opening.begins(l) || predicates.within(l, 40) || l.foreign(text)
}

func (l *line) foreign(text []byte) bool {
	start := text[skipDecoration(text, true):]
	return hasAnyPrefix(start, foreignOpenings) || containsAny(start[:min(len(start), 120)], foreignPredicates)
}

// textView is a text that passed looksLikeFailure, prepared for the rules.
type textView struct {
	text   []byte // unescaped, trimmed
	first  line   // the first line, with repeated arguments masked
	lines  int
	echoed bool
	ask    ask
}

// suspectText applies the rules to a text block, which is a JSON string.
func suspectText(block wire.Value, a ask) (Rule, bool) {
	text, ok := block.Str()
	if !ok {
		return "", false
	}
	v := textView{ask: a, text: unquote(bytes.TrimSpace([]byte(text)))}
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
	hidden, v.echoed = v.ask.hide(text)
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

func (v *textView) underTitle(rest []byte) (Rule, bool) {
	var second line
	second.read(rest, false)
	short := v.lines <= shortLines && !v.isRecord()
	if ownVoice.begins(&second) {
		return ruleHeadedText, short
	}
	if v.text[0] != '#' || v.ask.source() != sourceOwn {
		return "", false
	}
	// The heading describes a failure, and the text below it does, too.
	if opening.begins(&v.first) || predicates.within(&v.first, 8) || strong.within(&v.first, 4) {
		return ruleHeadedText, predicates.within(&second, predicateWords) || strong.begins(&second)
	}
	return ruleHeadedText, short && strong.begins(&second)
}

// judge decides by the first line and by the probable source of the text.
func (v *textView) judge(hidden []byte) (Rule, bool) {
	l := &v.first
	from := v.ask.source()
	switch {
	case v.reportsStatus():
		return ruleStatusNumber, true
	case !from.borrowed() && from != sourcePage && v.refuses(hidden):
		return ruleErrorText, true
	}
	if v.isRecord() || v.tellsSuccess() || v.listsNone() || v.repeatsName() || v.tellsState() || empty.begins(l) && !l.says(hidden) {
		return "", false
	}
	begins := opening.begins(l) || hasAnyPrefix(hidden[skipDecoration(hidden, false):], foreignOpenings)
	within := predicates.within(l, predicateWords) || l.foreign(hidden)
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

func (v *textView) judgeOwn(begins bool) (Rule, bool) {
	switch {
	case begins && v.short():
		return ruleErrorText, true
	case begins && len(v.text) <= considered && strong.begins(&v.first):
		return ruleErrorText, true
	case v.lines <= 4 && len(v.text) <= oneSentence:
		return ruleFailureText, true
	default:
		return "", false
	}
}

// judgeBorrowed judges the text of a tool that returns content from other sources. There, an error message belongs to the tool
// only if it describes the tool's task, repeats the arguments, or is the whole text.
func (v *textView) judgeBorrowed(from Source, begins bool) (Rule, bool) {
	l := &v.first
	oneLine := v.lines <= 2 && len(v.text) <= 300
	switch {
	case ownVoice.begins(l):
		return ruleOwnVoiceText, v.short() || from == sourceSearch || from == sourcePage
	case from == sourceJudge:
		return ruleErrorText, oneLine && begins && strong.begins(l) && !judgement.begins(l) && !v.tellsOfCode()
	case v.echoed && v.short() && !v.listsPaths() && from != sourceShell:
		return ruleOwnVoiceText, true
	case from == sourceSearch || from == sourcePage:
		return ruleFailureText, oneLine && !missingOnly.begins(l)
	default:
		return ruleErrorText, from == sourceFile && oneLine && begins && strong.begins(l)
	}
}

// tellsOfCode reports whether the text is about errors in general or about a position in a judged text, such as "Error codes such
// as" or "Error: line 1".
func (v *textView) tellsOfCode() bool {
	l := &v.first
	return string(l.word(0)) == "error" && l.words[0].mark == 0 && l.n > 1 && !calling.at(l, 1) || codePlaces.within(l, predicateWords) || v.repeatsLabel()
}

// calling phrases follow "Error" in an error message, as in "Error executing" and "Error while".
var calling = newPhrasebook(`
	*ing
	while|when|during|in|at|on|from|occurred|calling|code
`)

// codePlaces are phrases for a position in a text.
var codePlaces = newPhrasebook(`
	line|column|col 0|1|2|3|4|5|6|7|8|9|*0|*1|*2|*3|*4|*5|*6|*7|*8|*9
`)

// judgement phrases begin the regular answer of a tool that judges: for a validator, "Invalid date" is a result.
var judgement = newPhrasebook(`
	invalid|missing|unknown
`)

// missingOnly phrases begin an empty search result, in scripts that the empty phrases do not cover.
var missingOnly = newPhrasebook(`
	未找到|找不到|没有找到|見つかりません|찾을
`)

// strong phrases identify an error even at the start of a longer text.
var strong = newPhrasebook(`
	error|failed|failure|fatal
	*error:
	unable to
	could not
	couldn't|cannot
	invalid|missing|unknown
	access|permission denied
	rate limited|limit
	too many requests
	unauthorized|forbidden
	unsupported target|source? language|format|type:
	an unexpected|unknown|internal? error|exception occurred|happened|has|while|when|during
`)

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

func startsAsRecord(line []byte) bool {
	switch {
	case len(line) < 4:
		return false
	case isHash(line):
		return true
	case line[0] >= '0' && line[0] <= '9':
		return hasDate(line)
	case line[0] == '[':
		return hasDate(line[1:])
	case line[0] == '#':
		return line[1] >= '0' && line[1] <= '9'
	default:
		return false
	}
}

// isHash reports whether a line begins with a commit or an address: at least seven hexadecimal digits, one of them decimal.
func isHash(line []byte) bool {
	n, digits := 0, 0
	for n < len(line) && (line[n] >= '0' && line[n] <= '9' || line[n] >= 'a' && line[n] <= 'f') {
		if line[n] <= '9' {
			digits++
		}
		n++
	}
	return n >= 7 && digits > 0 && n < len(line) && (line[n] == ' ' || line[n] == ':')
}

// isListed reports whether a line has the form "- item", "* item", "| cell" or "Label: value".
func isListed(line []byte) bool {
	if len(line) < 3 {
		return false
	}
	if strings.IndexByte("-*|•", line[0]) >= 0 && line[1] == ' ' {
		return true
	}
	colon := bytes.IndexByte(line[:min(len(line), 24)], ':')
	if colon < 2 || line[0] < 'A' || line[0] > 'Z' || colon+1 >= len(line) || line[colon+1] != ' ' {
		return false
	}
	label := bytes.ToLower(line[:colon])
	return !bytes.Contains(label, []byte("err")) && !bytes.Contains(label, []byte("fail"))
}

// hasDate reports whether a line begins like 2026-11-02, 02/Nov, 10:00 or "1. ".
func hasDate(line []byte) bool {
	digits := 0
	for digits < len(line) && line[digits] >= '0' && line[digits] <= '9' {
		digits++
	}
	if digits == 0 || digits+1 >= len(line) {
		return false
	}
	next, after := line[digits], line[digits+1]
	return digits == 4 && next == '-' || digits <= 2 && (next == ':' || next == '/') && after != ' ' || digits <= 2 && next == '.' && after == ' '
}

func (v *textView) short() bool { return len(v.text) <= shortText && v.lines <= shortLines }

// tellsSuccess reports whether the first line says that something was done. The first match decides: "not created" is not a
// success, and the words after "successfully completed" are ignored.
func (v *textView) tellsSuccess() bool {
	for i := range min(v.first.n, successWords) {
		if denials.at(&v.first, i) {
			return false
		}
		if done.at(&v.first, i) {
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
	if opening.begins(l) || hindered.within(l, l.n) {
		return false
	}
	for i := range min(l.n, successWords) {
		verb := v.ask.doneBy(string(l.word(i)))
		if verb == "" {
			continue
		}
		for k := range i {
			if v.ask.about(string(l.word(k)), verb) {
				return !l.failsFrom(i + 1)
			}
		}
	}
	return false
}

// failsFrom reports whether the words from i on describe a failure.
func (l *line) failsFrom(i int) bool {
	for ; i < l.n; i++ {
		if predicates.at(l, i) {
			return true
		}
	}
	return false
}

// hindered phrases say that another party did it, or that it was not done.
var hindered = newPhrasebook(`
	by|unexpectedly|already|elsewhere
	timed out
	access|permission|connection denied|refused|reset|lost
`)

// listsNone reports whether the text is a listing tool's single sentence for an empty list: list_sources answers "No sources
// configured." The sentence must use a word of the tool's name; "No browser connected." does not.
func (v *textView) listsNone() bool {
	name, l := splitName(v.ask.tool), &v.first
	if !name.any(listingWords) || v.lines != 1 || l.n < 3 || l.n > 8 || string(l.word(0)) != "no" || !kept[string(l.word(l.n-1))] {
		return false
	}
	for i := 1; i < l.n-1; i++ {
		if slices.ContainsFunc(name, func(part string) bool { return sameStem(part, string(l.word(i))) }) {
			return true
		}
	}
	return false
}

// repeatsName reports whether the text begins with the tool's subject, as a title does: "Missing: two files" for
// find_missing_files, "Failed jobs" for list_failed_jobs.
func (v *textView) repeatsName() bool {
	l := &v.first
	first := string(l.word(0))
	if !subjects[first] || ownVoice.begins(l) || !slices.Contains(splitName(v.ask.tool), first) {
		return false
	}
	return l.words[0].mark == ':' || l.n > 1 && v.ask.about(string(l.word(1)), first)
}

// tellsState reports whether the text is the answer of a tool that reports a state: for server_status, "The server is down" is a
// regular answer.
func (v *textView) tellsState() bool {
	name := splitName(v.ask.tool)
	return name.any(stateWords) && !name.any(changingWords) && states.within(&v.first, predicateWords) && !opening.begins(&v.first)
}

// states are phrases for the state of an existing thing.
var states = newPhrasebook(`
	is|are|was|were currently|now? down|offline|inactive|disabled|suspended|locked|stopped|paused|closed|archived|unavailable|unreachable|full|busy|dead|expired|blocked|rejected|refused|denied|cancelled
	healthy|unhealthy|degraded
	is|are|was|were not|currently not? running|connected|available|enabled|reachable|loaded|open|installed
`)

var (
	listingWords  = wordSet("list")
	stateWords    = wordSet("status state health")
	changingWords = wordSet("set update change edit put")
	subjects      = wordSet("failed failure failures missing invalid unknown rate quota timeout expired denied rejected blocked unsupported")
	kept          = wordSet("configured connected registered defined loaded set saved installed") // states of listed things
)

// sameStem reports whether one word begins with the other, ignoring a plural s: devices and device, specs and specifications.
func sameStem(a, b string) bool {
	const stem = 4
	return len(a) >= stem && len(b) >= stem && (strings.HasPrefix(a, strings.TrimSuffix(b, "s")) || strings.HasPrefix(b, strings.TrimSuffix(a, "s")))
}

// says reports whether an empty answer also names something that has to be corrected.
func (l *line) says(text []byte) bool {
	if elsewhere.within(l, 40) {
		return false
	}
	return bytes.Contains(text[:min(len(text), lineBytes)], []byte("provided")) || mending.within(l, 40)
}

// elsewhere phrases advise a different query, as empty answers do.
var elsewhere = newPhrasebook(`
	try|use … different|another|other|broader|fewer|again? *
	different|broader query|name|search|term|terms|keyword|keywords|filter|filters
	check the? spelling
`)

var mending = newPhrasebook(`
	please
	provided|configured|supplied|specified|selected|authorized
	must|required|requires
	use|run|call|open|start|connect|join|select … first|and|on|the|one|with
	try|retry|again
`)

// listsPaths reports whether the text begins with a path and not with a sentence: its first 200 bytes have no space.
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
