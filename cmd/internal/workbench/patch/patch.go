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
	// not validated, except that at least one is not empty.
	Old, New       string
	Kind           Kind
	Added, Removed int // lines

	hunks []*gitdiff.TextFragment
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
func Parse(text []byte) ([]File, error) {
	files, err := parse(text)
	for _, f := range files {
		if f.Kind == Change && f.Old != f.New {
			return nil, invalid(0, adviceName, "the two names %q and %q differ, and a patch cannot rename a file here", f.Old, f.New)
		}
	}
	return files, err
}

// ParseOne reads a patch that changes exactly one file. The two names of the file may differ.
func ParseOne(text []byte) (File, error) {
	files, err := parse(text)
	if err != nil {
		return File{}, err
	}
	if len(files) != 1 || files[0].Kind != Change {
		return File{}, candor.New(kaiza.PatchInvalid, fmt.Sprintf("The patch is of %d files, and must change exactly one.", len(files)),
			candor.WithSuggestion("Use apply_patch for a patch that changes several files, creates or removes one."))
	}
	return files[0], nil
}

func parse(text []byte) ([]File, error) {
	if len(text) > MaxBytes {
		return nil, invalid(0, adviceSplit, "it is larger than %d KiB", MaxBytes>>10)
	}
	if err := foreign(text); err != nil {
		return nil, err
	}
	if !bytes.HasSuffix(text, []byte("\n")) {
		text = append(bytes.Clone(text), '\n') // a file without a final line end is marked explicitly, see the scanner
	}
	s := newScanner(string(text))
	if err := s.scan(); err != nil {
		return nil, err
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
