package contract

import (
	"bytes"
	"encoding/json"
	"sync"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/phrase"
	"github.com/candor-mcp/candor/spec"
)

// tableSet has the words and phrases of spec/phrases.json. They come from recorded answers and from the messages of common libraries.
type tableSet struct {
	phraseTables `json:"phrases"`
	wordTables   `json:"words"`
	codeTables   `json:"codes"`
	Members      map[string][]string // the names of members by their mark

	marks          map[string]mark
	texts, symbols phrasebook // the phrases of Meanings and Symbols; the rank of a phrase is the index of its meaning
}

// phraseTables match whole words, except in scripts without spaces, and only near the beginning of a text.
type phraseTables struct {
	Opening     phrasebook // begin a text that is an error message
	Predicates  phrasebook // make a sentence a failure
	OwnVoice    phrasebook // describe the tool's own task, as in "Error reading file"; data rarely contains them
	Strong      phrasebook // identify an error even at the start of a longer text
	Empty       phrasebook // begin the answer of a search that found nothing, which is a success
	MissingOnly phrasebook // the same in scripts that the empty phrases do not cover
	Mending     phrasebook // name something that has to be corrected
	Elsewhere   phrasebook // advise a different query, as empty answers do
	Done        phrasebook // describe a success
	Denials     phrasebook // negate a done phrase: "not created"
	Hindered    phrasebook // say that another party did it, or that it was not done
	States      phrasebook // describe the state of an existing thing
	Judgement   phrasebook // begin the regular answer of a tool that judges, such as "Invalid date"
	Calling     phrasebook // follow "Error" in an error message, as in "Error executing"
	CodePlaces  phrasebook // name a position in a text
	Severities  phrasebook // begin a line of a report

	Labels        phrasebook // begin a text that is only an error message
	CallWords     phrasebook // are about the call, the connection to a service, or the service's response
	BadStatusLine phrasebook // begin a line that states an HTTP status
	AnswerLabels  phrasebook // begin the line after it
	ErrorTitles   phrasebook // are in the title of an error page

	UnknownTool   phrasebook // say that the tool does not exist
	UnknownMethod phrasebook // say that the method does not exist, in errors that do not use -32601
	NotThere      phrasebook // say that the named resource or prompt does not exist
	TooEarly      phrasebook // say that the connection is not initialized yet
	BadCursor     phrasebook // are about the cursor of a list
	Starting      phrasebook // describe starting a program
	Dialling      phrasebook // describe opening a connection
	Unset         phrasebook // say that something is not configured
	Unreadable    phrasebook // describe a response that could not be read
	BrokenJSON    phrasebook // describe JSON that could not be parsed, whether the server or the caller sent it
	ArgumentWords phrasebook // are about arguments in general
	Advice        phrasebook // begin a sentence that gives advice and does not describe the failure
	Before        phrasebook // name a step that must precede the call, which is a reason even if it is worded as advice
}

type wordTables struct {
	Reading, Record, Judging, Search, Running             phrase.Set // verbs and nouns in the names of tools
	BadStatus, Kept, Credential, Program, State, Changing phrase.Set
	Place                                                 phrase.Set // the last words of the names of arguments for a file or a folder
	Seeming, Writing                                      phrase.Set // verbs of tools that probably only read, and of tools that do not
	FileKeys, PageKeys, ShellKeys, CodeKeys, ExecKeys     []string   // endings of the names of arguments

	ForeignOpenings   []string // begin error messages in scripts without spaces, or symbols in front of them
	ForeignPredicates []string // make a short sentence in those scripts a failure
}

type codeTables struct {
	Errno, Exception map[string]candor.Code
	ErrnoAdvice      map[string]string // suggestions in the place of the code's own
	Status           map[int]candor.Code
	Meanings         []meaning // of texts, the most specific first
	Symbols          []meaning // of error symbols that were split into words; Meanings follow
}

// meaning maps phrases to a code.
type meaning struct {
	Code    candor.Code
	Phrases []string
	Stumble bool // the words of a runtime that failed on an unexpected value
	Weak    bool // the words decide nothing
}

// tables reads the tables on first use.
var tables = sync.OnceValue(func() *tableSet {
	t := &tableSet{marks: make(map[string]mark)}
	if err := json.Unmarshal(spec.Table("phrases"), t); err != nil {
		panic(err) // programmer: a test reads the file
	}
	for m, name := range markNames {
		for _, word := range t.Members[name] {
			t.marks[word] = mark(m)
		}
	}
	t.Symbols = append(t.Symbols, t.Meanings...)
	t.texts.addAll(t.Meanings)
	t.symbols.addAll(t.Symbols)
	return t
})

// addAll adds the phrases of a table of meanings.
func (b *phrasebook) addAll(table []meaning) {
	for rank, m := range table {
		for _, s := range m.Phrases {
			b.Add(phrase.Parse(s), rank)
		}
	}
}

func hasAnyPrefix(text []byte, prefixes []string) bool {
	for _, p := range prefixes {
		if bytes.HasPrefix(text, []byte(p)) {
			return true
		}
	}
	return false
}

func containsAny(text []byte, parts []string) bool {
	for _, p := range parts {
		if bytes.Contains(text, []byte(p)) {
			return true
		}
	}
	return false
}

// maxLines is the number of lines of a message that are searched.
const maxLines = 4

// inSymbols returns the code of the first meaning of a symbol that was split into words, or the zero Code.
func inSymbols(text string) candor.Code {
	t := tables()
	var lines [maxLines]line
	first := len(t.Symbols)
	for i := range readLines(text, &lines) {
		for w := range lines[i].n {
			first = t.symbols.rankAt(&lines[i], w, first, 0)
		}
	}
	if first == len(t.Symbols) {
		return 0
	}
	return t.Symbols[first].Code
}

func inText(text string, book *phrasebook) bool {
	var lines [maxLines]line
	for i := range readLines(text, &lines) {
		if book.within(&lines[i], lineWords) {
			return true
		}
	}
	return false
}

func readLines(text string, lines *[maxLines]line) int {
	rest := []byte(text)
	n := 0
	for ; n < maxLines && len(rest) > 0; n++ {
		rest = lines[n].read(rest, false)
	}
	return n
}
