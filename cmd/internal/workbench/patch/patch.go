// Package patch reads unified diffs and applies them to bytes. It does no I/O and checks no permissions.
//
// It is stricter than git. A patch comes from an agent, and a patch that was nearly right must not become a change that nobody
// meant: a hunk stands where it says it stands, its counts add up, no line of the patch is passed over in silence, and what is no
// change of text (a rename, a mode, a link) is refused. Hunks are read and applied by go-gitdiff; which file they belong to is
// found out here, because that library drops the first folder of every name in a git diff, and picks one name where two differ.
package patch

import (
	"bytes"
	"fmt"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
)

// The bounds of a patch and of what it may make.
const (
	MaxBytes  = 1 << 20 // of the patch
	MaxFiles  = 64
	MaxHunks  = 10_000  // in all files together
	MaxResult = 8 << 20 // of a file, before and after
)

// Kind is what a patch does to a file.
type Kind string

// The kinds.
const (
	Change Kind = "change"
	Create Kind = "create"
	Delete Kind = "delete"
)

// File is what a patch does to one file. Its zero value changes nothing.
type File struct {
	// Old and New are the names in the patch, without the prefixes a/ and b/ if it has both; "" for /dev/null. They are whatever the
	// author of the patch wrote: nothing has been checked but that one is not empty, and that a [Change] has the same name twice.
	Old, New       string
	Kind           Kind
	Added, Removed int // lines

	hunks []*gitdiff.TextFragment
	// crlf is true if every line of the patch ended in CR LF, its headers too: then the line ends of the file decide.
	crlf bool
	// ends is true if the new file has no line end at its end: then nothing may follow the last hunk.
	ends bool
}

// Name is the name of the file that is changed, created or deleted.
func (f File) Name() string {
	if f.Kind == Delete {
		return f.Old
	}
	return f.New
}

// Parse reads a plain or a git diff of at least one file. The error is PATCH_INVALID and says in which line; its suggestion says
// what to do about the usual slips. text is only read, and not kept.
//
// Where the two names of a file differ only because one is that of a copy, as in diff -u x.orig x, the file itself is meant. A patch whose
// lines all end in CR LF, its headers too, came by a way that has changed them: it applies to the line ends that the file has.
func Parse(text []byte) ([]File, error) { return parse(text, false) }

// ParseOne reads a patch that changes exactly one file, whatever its names are.
func ParseOne(text []byte) (File, error) {
	files, err := parse(text, true)
	if err != nil {
		return File{}, err
	}
	if len(files) != 1 || files[0].Kind != Change {
		return File{}, candor.New(kaiza.PatchInvalid, fmt.Sprintf("The patch is of %d files, and must change exactly one.", len(files)),
			candor.WithSuggestion("Use apply_patch for a patch that changes several files, creates or removes one."))
	}
	return files[0], nil
}

func parse(text []byte, anyName bool) ([]File, error) {
	if len(text) > MaxBytes {
		return nil, invalid(0, "Split the change into several smaller patches.", "it is larger than %d KiB", MaxBytes>>10)
	}
	if err := foreign(text); err != nil {
		return nil, err
	}
	if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		end := "\n"
		if bytes.Contains(text, []byte("\r\n")) && bytes.Count(text, []byte("\r\n")) == bytes.Count(text, []byte("\n")) {
			end = "\r\n"
		}
		text = append(bytes.Clone(text), end...) // a file without a last line end is marked otherwise: see the scanner
	}
	crlf := bytes.Count(text, []byte("\r\n")) == bytes.Count(text, []byte("\n"))
	if crlf {
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	}
	s := newScanner(string(text))
	s.anyName = anyName
	if err := s.scan(); err != nil {
		return nil, err
	}
	for i := range s.files {
		s.files[i].crlf = crlf
	}
	return s.files, nil
}

// invalid is PATCH_INVALID at a line, 0 for the patch as a whole.
func invalid(line int, suggestion, format string, args ...any) error {
	message := "The patch is malformed"
	var options []candor.Option
	if line > 0 {
		message += fmt.Sprintf(" at line %d", line)
		options = append(options, candor.WithDetails(map[string]any{"line": line}))
	}
	if suggestion != "" {
		options = append(options, candor.WithSuggestion(suggestion))
	}
	return candor.New(kaiza.PatchInvalid, message+": "+fmt.Sprintf(format, args...)+".", options...)
}
