package patch

import (
	"strconv"
	"strings"
)

// nowhere is the name that a diff uses for a file that does not exist.
const nowhere = "/dev/null"

// header is the part of a file patch before its hunks.
type header struct {
	line     int // the first line, for messages
	git      string
	old, new string
	created  bool // stated by a mode line
	deleted  bool
}

// name parses the name after "--- " or "+++ ". ok is false if the name is missing or malformed.
func name(text string) (name string, ok bool) {
	text = strings.TrimSuffix(text, "\n")
	if strings.HasPrefix(text, `"`) {
		quoted, err := strconv.QuotedPrefix(text)
		if err != nil {
			return "", false
		}
		name, err = strconv.Unquote(quoted)
		return name, err == nil && name != ""
	}
	name, _, _ = strings.Cut(text, "\t") // a time follows
	return name, name != ""
}

// names parses the two names in the line "diff --git a/NAME b/NAME", the only line that names an empty file. ok is false
// if the two differ or cannot be separated.
func names(text string) (first, second string, ok bool) {
	text = strings.TrimSuffix(text, "\n")
	half := len(text) / 2 // both names are equally long: the same name, with equally long prefixes
	if len(text) < 3 || len(text)%2 == 0 || text[half] != ' ' {
		return "", "", false
	}
	return text[:half], text[half+1:], true
}

// strip removes the prefixes a/ and b/ that git writes if both names have them. If one name is /dev/null, only the other
// needs its prefix.
func strip(first, second string) (string, string) {
	a, hasA := strings.CutPrefix(first, "a/")
	b, hasB := strings.CutPrefix(second, "b/")
	switch {
	case hasA && hasB:
		return a, b
	case hasA && second == nowhere:
		return a, second
	case hasB && first == nowhere:
		return first, b
	}
	return first, second
}

// file determines which file the header names and whether it is changed, created or deleted.
func (h *header) file() (File, error) {
	first, second := h.old, h.new
	if first == "" { // only the patch of an empty file lacks these lines
		var ok bool
		if first, second, ok = names(h.git); !ok {
			return File{}, invalid(h.line, adviceName, "the names of the file are missing, or differ")
		}
	}
	plain := h.git != "" && !prefixed(h.git)
	if !plain {
		first, second = strip(first, second)
	}
	if h.old == "" && first != second {
		return File{}, invalid(h.line, adviceName, "the names of the file differ")
	}
	f := File{Old: first, New: second, Kind: Change}
	switch {
	case first == nowhere && second == nowhere:
		return File{}, invalid(h.line, adviceName, "both names are /dev/null")
	case first == nowhere, h.created:
		f.Old, f.Kind = "", Create
	case second == nowhere, h.deleted:
		f.New, f.Kind = "", Delete
	}
	switch {
	case f.Name() == "" || f.Name() == nowhere:
		return File{}, invalid(h.line, adviceName, "the file has no name")
	case h.created && second == nowhere, h.deleted && first == nowhere, h.created && h.deleted:
		return File{}, invalid(h.line, adviceName, "the header says that the file is created, and that it is deleted")
	}
	return f, nil
}

// prefixed reports whether the names in a line "diff --git" have the usual prefixes.
func prefixed(git string) bool {
	git = strings.TrimPrefix(git, `"`)
	return strings.HasPrefix(git, "a/") && (strings.Contains(git, " b/") || strings.Contains(git, ` "b/`))
}
