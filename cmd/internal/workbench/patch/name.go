package patch

import (
	"strconv"
	"strings"
	"time"
)

// nowhere is the name of the file that is not there.
const nowhere = "/dev/null"

// header is the part of a file patch before its hunks.
type header struct {
	line     int // the first, for messages
	git      string
	old, new string
	created  bool // said by a mode or by the time of a file that is not there
	deleted  bool
	anyName  bool
}

// name reads the name behind "--- " or "+++ ". ok is false if there is none that can be read.
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
	name, _, _ = strings.Cut(text, "\t") // what follows is a time
	return name, name != ""
}

// epoch reports whether a name is followed by the time with which diff -N marks a file that is not there.
func epoch(text string) bool {
	_, stamp, _ := strings.Cut(strings.TrimSuffix(text, "\n"), "\t")
	at, err := time.Parse("2006-01-02 15:04:05.999999999 -0700", stamp)
	return err == nil && at.Equal(time.Unix(0, 0))
}

// names takes two names out of the line "diff --git a/NAME b/NAME", the only line with the name of an empty file. ok is false if
// the two differ, or cannot be separated.
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
	half := len(text) / 2 // both names are equally long: the same name, and prefixes of one letter or none
	if len(text) < 3 || len(text)%2 == 0 || text[half] != ' ' {
		return "", "", false
	}
	return text[:half], text[half+1:], true
}

// strip takes the prefixes off, as git writes them, if both names have them. A file that is not there has whatever the other has.
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

// file decides which file is meant and what becomes of it.
func (h *header) file() (File, error) {
	first, second := h.old, h.new
	if first == "" { // only an empty file has no such lines
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

// copySuffixes mark the copy that people and editors make of a file before they change it, and newSuffixes the copy that they change.
var (
	copySuffixes = []string{".orig", ".old", ".bak", "~"}
	newSuffixes  = []string{".new"}
)

// sameButForCopy returns the name of the file twice if one of the names is that of its copy, as in diff -u x.orig x.
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

// check refuses names that contradict each other or what the header says besides.
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
