package patch

import (
	"strconv"
	"strings"
	"time"
)

// nowhere is the name that a diff uses for a file that does not exist.
const nowhere = "/dev/null"

// header is the part of a file patch before its hunks.
type header struct {
	line     int // the first line, for messages
	git      string
	old, new string
	created  bool // stated by a mode line, or by the time stamp of a missing file
	deleted  bool
	anyName  bool
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

// epoch reports whether a name is followed by the time with which diff -N marks a file that does not exist.
func epoch(text string) bool {
	_, stamp, _ := strings.Cut(strings.TrimSuffix(text, "\n"), "\t")
	at, err := time.Parse("2006-01-02 15:04:05.999999999 -0700", stamp)
	return err == nil && at.Equal(time.Unix(0, 0))
}

// names parses the two names in the line "diff --git a/NAME b/NAME", the only line that names an empty file. ok is false
// if the two differ or cannot be separated.
func names(text string) (first, second string, ok bool) {
	text = strings.TrimSuffix(text, "\n")
	if strings.HasPrefix(text, `"`) {
		quoted, err := strconv.QuotedPrefix(text)
		if err != nil || !strings.HasPrefix(text[len(quoted):], " ") {
			return "", "", false
		}
		first, _ = name(quoted)
		second, _ = name(text[len(quoted)+1:])
		return first, second, first != "" && second != ""
	}
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
	if h.git == "" {
		first, second = sameButForCopy(first, second)
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
	return f, h.check(first, second, f)
}

// copySuffixes mark the copy that people and editors make of a file before they change it; newSuffixes mark the copy
// that they change.
var (
	copySuffixes = []string{".orig", ".old", ".bak", "~"}
	newSuffixes  = []string{".new"}
)

// sameButForCopy returns the name of the file twice if one of the names is that of a copy, as in diff -u x.orig x.
func sameButForCopy(first, second string) (string, string) {
	for _, suffix := range copySuffixes {
		if first == second+suffix {
			return second, second
		}
	}
	for _, suffix := range newSuffixes {
		if second == first+suffix {
			return first, first
		}
	}
	return first, second
}

// prefixed reports whether the names in a line "diff --git" have the usual prefixes.
func prefixed(git string) bool {
	git = strings.TrimPrefix(git, `"`)
	return strings.HasPrefix(git, "a/") && (strings.Contains(git, " b/") || strings.Contains(git, ` "b/`))
}

// check refuses names that contradict each other or the other lines of the header.
func (h *header) check(first, second string, f File) error {
	switch {
	case f.Name() == "" || f.Name() == nowhere:
		return invalid(h.line, adviceName, "the file has no name")
	case h.created && second == nowhere, h.deleted && first == nowhere, h.created && h.deleted:
		return invalid(h.line, adviceName, "the header says that the file is created, and that it is deleted")
	case first != second && first != nowhere && second != nowhere && !h.anyName:
		return invalid(h.line, adviceName, "the two names differ, and a patch cannot rename a file here")
	}
	return nil
}
