package shape

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// forbiddenText are patterns that no file of the repository may match. They are written so that they do not match themselves.
var forbiddenText = []struct {
	pattern *regexp.Regexp
	what    string
	why     string
}{
	{regexp.MustCompile(`(?:^|[^\w.~-])/(?:work)(?:/|[^\w-]|$)`), "names a folder of one machine",
		"the repository must build anywhere; use a path relative to it, or one that is clearly made up (/srv/…)"},
	{regexp.MustCompile(`/root/(?:go|\.cache|\.npm|\.pyenv)\b`), "names a folder of one machine",
		"the repository must build anywhere; ask the tool for its folder (go env)"},
	{regexp.MustCompile(`\b(?:proxy|sum|index)\.golang\.org\b|\bregistry\.(?:npmjs\.org|npmjs\.com|yarnpkg\.com)\b|\bdeb\.debian\.org\b|\bfiles\.pythonhosted\.org\b|\bpypi\.org\b`),
		"names a package registry's host", "which registry serves the packages is the reader's choice, set in their own tools"},
	{regexp.MustCompile(`^(?:<{7} |>{7} |={7}$)`), "is a conflict mark", "an unfinished merge"},
}

var (
	todo      = regexp.MustCompile(`(?:^|[^\w.])(?:TODO|FIXME|XXX)(?:$|[^\w])`)
	todoIssue = regexp.MustCompile(`(?:TODO|FIXME|XXX)\(#\d+\)`)
)

const maxTodos = 5 // per folder

// Text checks every text file: no TODO without an issue number, no more than five of them in a
// folder, and nothing of [forbiddenText].
func Text(fsys fs.FS) ([]Violation, error) {
	var found []Violation
	todos := map[string]int{}
	err := walk(fsys, func(name string, data []byte) error {
		if bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 { // not text
			return nil
		}
		number := 0
		for line := range bytes.Lines(data) {
			number++
			found = append(found, checkLine(fmt.Sprintf("%s:%d", name, number), bytes.TrimRight(line, "\r\n"))...)
			if isHandWritten(name) && todo.Match(line) {
				todos[path.Dir(name)]++
				if !todoIssue.Match(line) {
					found = append(found, Violation{fmt.Sprintf("%s:%d", name, number), "an open end without an issue number",
						"without an issue it is forgotten; write its number, like (#12), or do it now"})
				}
			}
		}
		return nil
	})
	for dir, n := range todos {
		if n > maxTodos {
			found = append(found, Violation{dir, fmt.Sprintf("%d open ends, more than %d", n, maxTodos), "put them in issues"})
		}
	}
	return found, err
}

// isHandWritten reports whether a file is neither recorded data nor a part of this package, which must name what it looks for.
func isHandWritten(name string) bool {
	return !strings.Contains("/"+name, "/testdata/") && !strings.HasPrefix(name, "internal/shape/") && path.Ext(name) != ".json"
}

func checkLine(at string, line []byte) []Violation {
	var found []Violation
	for _, f := range forbiddenText {
		if m := f.pattern.Find(line); m != nil {
			found = append(found, Violation{at, fmt.Sprintf("%q %s", bytes.TrimSpace(m), f.what), f.why})
		}
	}
	return found
}
