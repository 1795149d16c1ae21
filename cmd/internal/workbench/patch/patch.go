// Package patch reads unified diffs and applies them to bytes. It does no I/O and checks no permissions.
//
// The package is stricter than git, because patches come from agents and a patch that is nearly right must not make an
// unintended change. A hunk must match at its line number, its counts must add up, no line of the patch is ignored, and
// anything but a change of text (a rename, a mode, a link) is refused. Package go-gitdiff reads and applies the hunks; the
// file names are parsed here, because that library drops the first folder of every name in a git diff and picks one name
// if two differ.
package patch

import (
	"bytes"
	"fmt"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
)

// Limits of a patch and of its result.
const (
	MaxBytes  = 1 << 20 // size of the patch
	MaxFiles  = 64
	MaxHunks  = 10_000  // in all files together
	MaxResult = 8 << 20 // size of a file, before and after
)

// Kind is the kind of change that a patch makes to a file.
type Kind string

// The kinds.
const (
	Change Kind = "change"
	Create Kind = "create"
	Delete Kind = "delete"
)

// File is the change of one file by a patch. The zero value changes nothing.
type File struct {
	// Old and New are the names in the patch, without the prefixes a/ and b/ if it has both; "" for /dev/null. They are
	// not validated, except that at least one is not empty and that a [Change] has the same name twice.
	Old, New       string
	Kind           Kind
	Added, Removed int // lines

	hunks []*gitdiff.TextFragment
	// crlf is true if every line of the patch, including its headers, ended in CR LF. Apply then uses the line ends of
	// the file.
	crlf bool
	// ends is true if the new file does not end in a line end. The last hunk must then reach the end of the file.
	ends bool
}

// Name returns the name of the file that is changed, created or deleted.
func (f File) Name() string {
	if f.Kind == Delete {
		return f.Old
	}
	return f.New
}

// Parse reads a plain or git diff of at least one file. The error is PATCH_INVALID and names the line; its suggestion
// covers the common mistakes. Parse does not modify or keep text.
//
// If the two names of a file differ only because one is that of a copy, as in diff -u x.orig x, the file itself is patched.
// A patch whose lines all end in CR LF, including its headers, was converted in transit; it is applied with the line ends of
// the file.
func Parse(text []byte) ([]File, error) { return parse(text, false) }

// ParseOne reads a patch that changes exactly one file. The two names of the file may differ.
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
		text = append(bytes.Clone(text), end...) // a file without a final line end is marked explicitly, see the scanner
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

// invalid returns PATCH_INVALID for a line, or for the whole patch if line is 0.
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
