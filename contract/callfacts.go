package contract

import (
	"bytes"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/internal/foreign"
	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/wire"
)

// callFacts describes the call: the tool, its arguments and the kind of content that the tool returns. It is used only
// once an answer looks suspicious.
type callFacts struct {
	known bool
	tool  string
	args  wire.Value
}

func callFactsOf(request *wire.Message) callFacts {
	if request == nil || !request.MethodIs("tools/call") {
		return callFacts{}
	}
	a := callFacts{known: true, args: request.Params().Path("arguments")}
	a.tool, _ = request.Params().Path("name").Str()
	return a
}

// Source is the kind of content that a tool returns, by the names of the tool and its arguments. The words of a tool
// that reads files or pages may be those of their authors. It is "" if the call is unknown.
type Source string

const (
	sourceOwn    Source = "own"       // the tool's own words
	sourceExec   Source = "query"     // the result of a query or an expression
	sourceSearch Source = "search"    // search results, an echo, stored notes
	sourcePage   Source = "page"      // the content of a URL
	sourceFile   Source = "file"      // the content of a file or a log
	sourceShell  Source = "command"   // the output of a command
	sourceJudge  Source = "judgement" // a judgement about the input, such as whether it is valid
)

// source returns the kind of content, by the words in the tool's name and in its argument names. A tool that reads and
// has a path or URL argument returns the content found there; a tool that judges may well answer "not valid".
func (a callFacts) source() Source {
	name := splitName(a.tool)
	switch {
	case name.any(tables().Running) && a.given(tables().ShellKeys):
		return sourceShell
	case name.any(tables().Judging):
		return sourceJudge
	case name.any(tables().Reading) && a.given(tables().FileKeys):
		return sourceFile
	case name.any(tables().Running) && a.given(tables().CodeKeys):
		return sourceShell
	case (name.any(tables().Running) || name.any(tables().Search)) && a.given(tables().ExecKeys):
		return sourceExec
	case name.any(tables().Reading) && a.given(tables().PageKeys):
		return sourcePage
	case name.any(tables().Search) || name.any(tables().Record):
		return sourceSearch
	default:
		return sourceOwn
	}
}

// borrowed reports whether the payload is the content of a file or the output of a command, even if it is JSON with an
// error in it.
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
func (a callFacts) given(endings []string) bool {
	for name := range a.args.Members() {
		key, _ := name.Str()
		key = foreign.Fold(key)
		for _, e := range endings {
			if strings.HasSuffix(key, e) {
				return true
			}
		}
	}
	return false
}

// splitName splits readTextFile, read_text_file and read-text-file into the same words.
func splitName(s string) nameWords {
	parts := nameParts.Get().FindAllString(s[:min(len(s), 128)], -1)
	for i, part := range parts {
		parts[i] = strings.ToLower(part)
	}
	return parts
}

var nameParts = lazyregexp.New(`[A-Z]+[a-z0-9]*|[a-z0-9]+`)

// doneBy returns the verb in the tool's name of which word is the past participle: close for closed in close_issue,
// cancel for cancelled in cancelOrder. It returns "" otherwise.
func (a callFacts) doneBy(word string) string {
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
func (a callFacts) about(word, verb string) bool {
	if word == string(echoWord) {
		return true
	}
	return slices.ContainsFunc(splitName(a.tool), func(part string) bool {
		return part != verb && (part == word || sameStem(part, word))
	})
}

// judges reports whether the tool reports faults of something else.
func (a callFacts) judges() bool {
	name := splitName(a.tool)
	return name.any(tables().Judging) || name.any(tables().Record)
}

// hide replaces text that only repeats the arguments by a mark, so that the caller's words do not count as the server's.
func (a callFacts) hide(text []byte) (hidden []byte, echoed bool) {
	for _, value := range foreign.Values(a.args) {
		if bytes.Contains(text, []byte(value)) {
			text = bytes.ReplaceAll(text, []byte(value), []byte{echoWord})
			echoed = true
		}
	}
	return text, echoed
}
