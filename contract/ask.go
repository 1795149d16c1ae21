package contract

import (
	"bytes"
	"sort"
	"strings"

	"github.com/candor-mcp/candor/wire"
)

// ask is what the request tells about its answer: which tool, with what, and whether that tool returns
// other people's words. It is only looked at once an answer looks suspicious.
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

// source says whose words a tool returns.
type source uint8

const (
	sourceOwn    source = iota // the tool speaks for itself
	sourceFile                 // the content of a file, or the output of a command
	sourcePage                 // the content behind a URL
	sourceSearch               // hits of a search, an echo, rows
)

// source judges by the words of the tool's name and of its argument names. A tool that reads, with a place to read from,
// returns what it finds there.
func (a ask) source() source {
	name := splitName(a.tool)
	if !name.any(readingWords) {
		return sourceOwn
	}
	keys := a.keys()
	switch {
	case keys.any(fileWords):
		return sourceFile
	case keys.any(pageWords):
		return sourcePage
	case name.any(searchWords):
		return sourceSearch
	default:
		return sourceOwn
	}
}

// runs reports whether the tool runs what it is given, so that an error in its own envelope is its own.
func (a ask) runs() bool { return a.keys().any(runWords) && !a.keys().any(shellWords) }

type nameWords []string

func (n nameWords) any(set map[string]bool) bool {
	for _, w := range n {
		if set[w] {
			return true
		}
	}
	return false
}

func (a ask) keys() nameWords {
	var out nameWords
	for name := range a.args.Members() {
		key, _ := name.Str()
		out = append(out, splitName(key)...)
	}
	return out
}

var (
	readingWords = wordSet("read cat open view load show content contents get run exec execute command script shell diff log query" +
		" fetch download search find grep list echo retrieve scrape crawl extract browse snapshot console tail head lookup greet say")
	searchWords = wordSet("search grep find query echo lookup greet say")
	fileWords   = wordSet("path paths file files filename filepath command cmd script code key object sql statement repo")
	pageWords   = wordSet("url urls uri link href")
	runWords    = wordSet("sql statement code")
	shellWords  = wordSet("command cmd script path file")
)

func wordSet(words string) map[string]bool {
	set := make(map[string]bool)
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// splitName cuts readTextFile, read_text_file and read-text-file into the same words.
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

// maxEchoes bounds how many argument values are looked for.
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

// hide replaces what the answer merely repeats from the arguments by a mark, so that a word of the caller's does not
// count as the server's.
func (a ask) hide(text []byte) (hidden []byte, echoed bool) {
	for _, e := range a.echoes() {
		if bytes.Contains(text, e) {
			text = bytes.ReplaceAll(text, e, []byte{echoWord})
			echoed = true
		}
	}
	return text, echoed
}
