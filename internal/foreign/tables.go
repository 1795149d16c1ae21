package foreign

import (
	"encoding/json"
	"sync"

	"github.com/candor-mcp/candor/internal/phrase"
	"github.com/candor-mcp/candor/spec"
)

// tableSet has the tables of spec/phrases.json with which facts are found in a text. Pairs are tried in their order.
type tableSet struct {
	Fields      []string          // see grammar
	Signs       []pair            // words of a validator's sentence, and the rule
	Types       map[string]string // the type names of other languages
	Rules       map[string]string // the words of validators for keywords of JSON Schema
	Calls       []pair            // sentences that only say which tool failed: the text before and after its name
	Absences    []pair            // the same for a tool that does not exist
	Validations []string          // prefixes after which the text is about the arguments
	Statuses    map[string]int    // reason phrases that only HTTP uses, in the spelling of the standard
	Clauses     map[string]int    // phrases that count only as a whole clause of a sentence
	Errnos      []pair            // descriptions of system errors, and their names

	Predicates  []string // beginnings that only a validator's sentence has after a name and a colon
	ZodHeads    []string // begin a sentence of zod, valibot and similar validators
	AdviceLeads []string // begin a line of advice
	Broken      []string // words for a lost connection without an errno
	Waits       []pair   // words before a delay; after "bare" ones a number without a unit means seconds
	RetryTimes  []string // words before a point in time
	Fillers     []string // words that may be between the words for a delay and the number
	Speakers    []string // members that hold the sentence for people, the best first

	wordTables `json:"words"`
}

// wordTables are sets of words.
type wordTables struct {
	Never   phrase.Set // are not read as the name of an argument, even after "parameter", unless the request has an argument of that name
	Vague   phrase.Set // name an argument only if the sentence allows no other reading
	Typed   phrase.Set // vague words for a type at the beginning of a validator's sentence: "Number must be less than 5"
	Kinds   phrase.Set // words for an argument of a tool
	Params  phrase.Set // words that rarely mean anything but an argument
	Generic phrase.Set // words for any argument, or for a part of one
	Joints  phrase.Set // words and marks between two names of a list
	Choice  phrase.Set // introduce a list of valid values
	Roots   phrase.Set // words in front of a path that mean the arguments as a whole

	Builtins   phrase.Set // members of a language: "reading 'map'" is about a response, not an argument
	Lists      phrase.Set // members that hold issues
	Containers phrase.Set // members that may hold a failure inside
	Verdicts   phrase.Set // values of status and type that only say that this is a failure
	Moments    phrase.Set // members that hold a point in time; small numbers in them are delays
	ErrnoNames phrase.Set // names of system errors that runtimes print

	Generics phrase.Set // sentences that do not name the cause, without case, full stop and "please try again later"
	Measures phrase.Set // make the number before them an amount
	Sure     phrase.Set // a three-digit number after them is a status
	Likely   phrase.Set // a number after them that HTTP names is a status
	NotHTTP  phrase.Set // make a following status or code something else
}

type pair struct{ Text, Value string }

// UnmarshalJSON reads a list of two texts.
func (p *pair) UnmarshalJSON(raw []byte) error {
	return json.Unmarshal(raw, &[]any{&p.Text, &p.Value})
}

// tables reads the tables on first use.
var tables = sync.OnceValue(func() *tableSet {
	var file struct{ Texts tableSet }
	if err := json.Unmarshal(spec.Table("phrases"), &file); err != nil {
		panic(err) // programmer: a test reads the file
	}
	return &file.Texts
})
