package learn

import (
	"strings"
	"unicode"

	"github.com/candor-mcp/candor/internal/lazyregexp"
)

// A tool that returns content of others is believed only if the text says that the tool's own task failed, and names
// it: "Error reading file" from read_file, "Could not fetch https://…" from a tool that returns pages, "Error searching
// Wikipedia" from a server for it. Content may begin with "Error:" or "Failed to fetch user profile", too.

// taskFailed matches the beginning of a sentence about a failed task. The words of the task follow.
var taskFailed = lazyregexp.New(`(?i)^\W*(?:an? )?(?:` +
	`(?:error|errors|exception|failure|problem)\s+(?:while\s+|when\s+|during\s+|in\s+|on\s+|with\s+|for\s+)` +
	`|(?:error|errors|exception|failure|problem)\s+\pL+ing\s+` +
	`|failed\s+to\s+|could\s+not\s+|couldn['’]t\s+|cannot\s+|can['’]t\s+|unable\s+to\s+|not\s+able\s+to\s+)`)

// located matches an error behind the path or address that it is about, as tools write that return several files.
var located = lazyregexp.New(`(?i)^\S*[/\\]\S*:\s+(?:error|failed)\b`)

// taskWords is the number of words in which the task must be named.
const taskWords = 5

// taskNouns are what tools of a kind work on. Content is rarely about a failure to get content.
var taskNouns = map[string][]string{
	"file":    {"file", "path", "directory", "folder", "log", "document"},
	"page":    {"url", "uri", "page", "webpage", "website", "site", "document", "link"},
	"query":   {"query", "statement", "expression", "database", "sql"},
	"search":  {"search", "query", "result"},
	"command": {"command", "process", "shell", "script"},
}

// aboutCall matches a sentence about what the caller or its configuration has to provide. It addresses the reader of
// the answer, which content rarely does in its first line.
var aboutCall = lazyregexp.New(`(?i)\b(arguments?|parameters?|api[ _-]?(key|token)s?|access tokens?|credentials?|environment variables?)\b.{0,80}\b(required|provided?|missing|invalid|must|available|configured?|set|expected)\b` +
	`|\b(no|missing|invalid|provide|requires?)\b.{0,40}\b(arguments?|parameters?|api[ _-]?(key|token)s?|access tokens?|credentials?|environment variables?)\b` +
	`|\bno\b.{0,40}\bconfigured\b|\bunknown tool\b`)

// readsStored reports whether a tool, by its name, returns something that was stored or produced elsewhere. Its own
// failures and such content have the same form.
func readsStored(tool string) bool {
	for _, word := range nameWords(tool) {
		if storedWords[word] {
			return true
		}
	}
	return false
}

var storedWords = wordSet("get read cat open view load show fetch download tail head retrieve scrape crawl extract browse dump export content contents" +
	" log logs run exec execute command script shell terminal eval search find query echo recall lookup note notes memory value")

// tellsTask reports whether a text says that the task of a tool failed, or what the caller has to provide for it.
func tellsTask(server, tool, source, text string) bool {
	return namesTask(server, tool, source, text) || aboutCall.MatchString(sentenceOf(text))
}

// namesTask reports whether a text says that the task of a tool failed.
func namesTask(server, tool, source, text string) bool {
	text = sentenceOf(text)
	if (source == "file" || source == "page") && located.MatchString(text) {
		return true
	}
	begin := taskFailed.Get().FindString(text)
	if begin == "" {
		return false
	}
	nouns := map[string]bool{}
	for _, noun := range append([]string{"tool"}, taskNouns[source]...) {
		nouns[stem(noun)] = true
	}
	for _, name := range []string{server, tool} {
		for _, word := range nameWords(name) {
			if !commonWords[word] {
				nouns[stem(word)] = true
			}
		}
	}
	rest := strings.Fields(text[len(begin):])
	for _, word := range rest[:min(len(rest), taskWords)] {
		if isAddress(word) || nouns[stem(strings.ToLower(strings.TrimFunc(word, unicode.IsPunct)))] {
			return true
		}
		if strings.HasSuffix(word, ":") {
			break // the reason follows
		}
	}
	return false
}

// sentenceOf returns the first line of a text that is not a Markdown title.
func sentenceOf(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return line
		}
	}
	return ""
}

// isAddress reports whether a word is a path or a URL, and not "and/or".
func isAddress(word string) bool {
	word = strings.TrimLeftFunc(word, func(r rune) bool { return unicode.IsPunct(r) && r != '/' && r != '\\' && r != '.' })
	return strings.HasPrefix(word, "/") || strings.HasPrefix(word, "./") || strings.HasPrefix(word, `.\`) || strings.Contains(word, "://") || strings.Contains(word, `:\`)
}

// commonWords are words of names that say nothing about the task. The verbs are those of many contents, as in "Failed to fetch user profile".
var commonWords = wordSet("mcp server api client app go python js ts ai the a an of to for from in by with and or all my new" +
	" get set list read fetch load open show view run exec execute call find search query create add update delete remove make do send start stop use" +
	" data text value info item items user id key name error errors log logs")

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// nameWords splits readTextFile, read_text_file and @scope/read-text-file into words.
func nameWords(name string) (words []string) {
	var word []rune
	flush := func() {
		if len(word) > 1 {
			words = append(words, strings.ToLower(string(word)))
		}
		word = word[:0]
	}
	lower := false
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
		case unicode.IsUpper(r) && lower:
			flush()
			word = append(word, r)
		default:
			word = append(word, r)
		}
		lower = unicode.IsLower(r)
	}
	flush()
	return words
}

// stem removes the endings of a word that differ between "documents" and "document", or "searching" and "search".
func stem(word string) string {
	for _, ending := range []string{"ies", "ing", "ed", "es", "s", "e", "y"} {
		if s, ok := strings.CutSuffix(word, ending); ok && len(s) > 2 {
			if n := len(s); ending == "ing" && s[n-1] == s[n-2] {
				s = s[:n-1]
			}
			return s
		}
	}
	return word
}
