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

// checkText checks every text file: no TODO without an issue number, and nothing of [forbiddenText].
func checkText(fsys fs.FS) ([]violation, error) {
	var found []violation
	err := walk(fsys, func(name string, data []byte) error {
		if bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 { // not text
			return nil
		}
		number := 0
		for line := range bytes.Lines(data) {
			number++
			found = append(found, checkLine(fmt.Sprintf("%s:%d", name, number), bytes.TrimRight(line, "\r\n"))...)
			if isHandWritten(name) && todo.Match(line) && !todoIssue.Match(line) {
				found = append(found, violation{fmt.Sprintf("%s:%d", name, number), "an open end without an issue number",
					"without an issue it is forgotten; write its number, like (#12), or do it now"})
			}
		}
		return nil
	})
	return found, err
}

// isHandWritten reports whether a file is not recorded data and not a part of this package, which must name what it looks for.
func isHandWritten(name string) bool {
	return !strings.Contains("/"+name, "/testdata/") && !strings.HasPrefix(name, "internal/tools/shape/") && path.Ext(name) != ".json"
}

func checkLine(at string, line []byte) []violation {
	var found []violation
	for _, f := range forbiddenText {
		if m := f.pattern.Find(line); m != nil {
			found = append(found, violation{at, fmt.Sprintf("%q %s", bytes.TrimSpace(m), f.what), f.why})
		}
	}
	return found
}
