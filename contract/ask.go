package contract

import (
	"bytes"
	"slices"
	"sort"
	"strings"

	"github.com/candor-mcp/candor/wire"
)

// ask describes the call: the tool, its arguments and the kind of content that the tool returns. It is used only once an answer
// looks suspicious.
type ask struct {
	known bool
	tool  string
	args  wire.Value
}

func askOf(request *wire.Message) ask {
	if request == nil || !request.MethodIs("tools/call") {
		return ask{}
	}
	a := ask{known: true, args: request.Params().Path("arguments")}
	a.tool, _ = request.Params().Path("name").Str()
	return a
}

// Source is the kind of content that a tool returns, by the names of the tool and its arguments. The words of a tool that reads
// files or pages may be those of their authors. It is "" if the call is unknown.
type Source string

const (
	sourceOwn    Source = "own"       // the tool's own words
	sourceExec   Source = "query"     // the result of a query or an expression
	sourceSearch Source = "search"    // search results, an echo, stored notes
	sourcePage   Source = "page"      // the content behind a URL
	sourceFile   Source = "file"      // the content of a file or a log
	sourceShell  Source = "command"   // the output of a command
	sourceJudge  Source = "judgement" // a judgement about the input, such as whether it is valid
)

// Own reports whether the tool returns its own words.
func (s Source) Own() bool { return s == sourceOwn }

// source returns the kind of content, by the words in the tool's name and in its argument names. A tool that reads and has a path
// or URL argument returns the content found there; a tool that judges may well answer "not valid".
func (a ask) source() Source {
	name := splitName(a.tool)
	switch {
	case name.any(runningWords) && a.given(shellKeys):
		return sourceShell
	case name.any(judgingWords):
		return sourceJudge
	case name.any(readingWords) && a.given(fileKeys):
		return sourceFile
	case name.any(runningWords) && a.given(codeKeys):
		return sourceShell
	case (name.any(runningWords) || name.any(searchWords)) && a.given(execKeys):
		return sourceExec
	case name.any(readingWords) && a.given(pageKeys):
		return sourcePage
	case name.any(searchWords) || name.any(recordWords):
		return sourceSearch
	default:
		return sourceOwn
	}
}

// borrowed reports whether the payload is the content of a file or the output of a command, even if it is JSON with an error in
// it.
func (s Source) borrowed() bool { return s == sourceFile || s == sourceShell }

type nameWords []string

func (n nameWords) any(set map[string]bool) bool {
	for _, w := range n {
		if set[w] {
			return true
		}
	}
	return false
}

// given reports whether the name of an argument has one of these endings: file_path, filePath and path all end in path.
func (a ask) given(endings []string) bool {
	for name := range a.args.Members() {
		key, _ := name.Str()
		key = foldName(key)
		for _, e := range endings {
			if strings.HasSuffix(key, e) {
				return true
			}
		}
	}
	return false
}

var (
	readingWords = wordSet("read cat open view load show content contents get fetch download tail head retrieve scrape crawl extract browse dump export")
	recordWords  = wordSet("log logs logcat errors exceptions failures transcript lyrics article faq clause diff")
	judgingWords = wordSet("validate check lint is has verify compare same explain translate summarize summarise describe review diagnose diagnostics" +
		" analyze analyse detect classify reverse upper lower")
	searchWords  = wordSet("search grep find query echo lookup recall greet say ask")
	runningWords = wordSet("run exec execute command script shell start process terminal eval evaluate query sql psql")
	fileKeys     = []string{"path", "paths", "file", "files", "filename", "filenames"}
	pageKeys     = []string{"url", "urls", "uri", "link", "href"}
	shellKeys    = []string{"command", "cmd", "script"}
	codeKeys     = []string{"code"}
	execKeys     = []string{"sql", "query", "expression", "function", "statement", "cypher", "soql"}
)

func wordSet(words string) map[string]bool {
	set := make(map[string]bool)
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// splitName splits readTextFile, read_text_file and read-text-file into the same words.
func splitName(s string) nameWords {
	var out nameWords
	var word []byte
	flush := func() {
		if len(word) > 0 {
			out = append(out, strings.ToLower(string(word)))
			word = word[:0]
		}
	}
	for i := range min(len(s), 128) {
		c := s[i]
		switch {
		case c >= 'A' && c <= 'Z':
			if i > 0 && (s[i-1] < 'A' || s[i-1] > 'Z') {
				flush()
			}
			word = append(word, c)
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			word = append(word, c)
		default:
			flush()
		}
	}
	flush()
	return out
}

// doneBy returns the verb in the tool's name of which word is the past participle: close for closed in close_issue, cancel for
// cancelled in cancelOrder. It returns "" otherwise.
func (a ask) doneBy(word string) string {
	stem, ok := strings.CutSuffix(word, "ed")
	if !ok || len(stem) < 3 {
		return ""
	}
	for _, verb := range splitName(a.tool) {
		switch verb {
		case stem, stem + "e", strings.TrimSuffix(stem, "i") + "y", stem[:len(stem)-1]: // locked, closed, denied, cancelled and stopped
			return verb
		}
	}
	return ""
}

// about reports whether a word is the tool's subject: a word of its name other than the verb, or an argument.
func (a ask) about(word, verb string) bool {
	if word == string(echoWord) {
		return true
	}
	return slices.ContainsFunc(splitName(a.tool), func(part string) bool {
		return part != verb && (part == word || sameStem(part, word))
	})
}

// maxEchoes is the number of argument values that are searched for.
const maxEchoes = 64

// echoes returns the argument values long enough to be recognised, longest first.
func (a ask) echoes() [][]byte {
	var out [][]byte
	collectTexts(a.args, 0, &out)
	sort.SliceStable(out, func(i, k int) bool { return len(out[i]) > len(out[k]) })
	return out
}

func collectTexts(v wire.Value, depth int, out *[][]byte) {
	if depth > 4 || len(*out) >= maxEchoes {
		return
	}
	switch v.Type() {
	case wire.TypeString:
		s, _ := v.StrBytes()
		if s = bytes.TrimSpace(s); len(s) >= 3 {
			*out = append(*out, s)
		}
	case wire.TypeArray:
		for e := range v.Elements() {
			collectTexts(e, depth+1, out)
		}
	case wire.TypeObject:
		for _, e := range v.Members() {
			collectTexts(e, depth+1, out)
		}
	case wire.TypeAbsent, wire.TypeNull, wire.TypeBool, wire.TypeNumber:
	}
}

// listed returns the strings in lists among the arguments.
func (a ask) listed() [][]byte {
	var out [][]byte
	for _, v := range a.args.Members() {
		if v.Type() == wire.TypeArray {
			collectTexts(v, 0, &out)
		}
	}
	return out
}

// judges reports whether the tool reports faults of something else.
func (a ask) judges() bool {
	name := splitName(a.tool)
	return name.any(judgingWords) || name.any(recordWords)
}

// hide replaces text that only repeats the arguments by a mark, so that the caller's words do not count as the server's.
func (a ask) hide(text []byte) (hidden []byte, echoed bool) {
	for _, e := range a.echoes() {
		if bytes.Contains(text, e) {
			text = bytes.ReplaceAll(text, e, []byte{echoWord})
			echoed = true
		}
	}
	return text, echoed
}
