package workspace

import (
	"path"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
)

// The longest path and the longest part of one, in bytes: what common systems can hold.
const (
	maxPath    = 4096
	maxSegment = 255
)

// Path is a place in a workspace: relative, clean, with slashes and without "..". Only [Folder.Parse] makes one; the zero Path is the
// workspace itself.
type Path struct{ name string }

// String is the path as it is shown and recorded; "." is the workspace itself.
func (p Path) String() string {
	if p.name == "" {
		return "."
	}
	return p.name
}

// MarshalText writes what [Path.String] says.
func (p Path) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// IsRoot says that the path is the workspace itself.
func (p Path) IsRoot() bool { return p.name == "" }

// Parse turns an argument into a [Path]. An absolute path inside the workspace is made relative. What is refused: nothing at all
// (INVALID_INPUT_VALUE), a name that no file can have or that is made to deceive (INVALID_PATH), a segment ".."
// (PATH_TRAVERSAL_BLOCKED), an absolute path elsewhere (OUTSIDE_WORKSPACE). Parse touches no disk: whether the path exists, and where
// its links lead, is seen when it is used.
func (f *Folder) Parse(name string) (Path, error) {
	if name == "" {
		return Path{}, candor.New(kaiza.InvalidInputValue, "The path is empty.", candor.WithDetails(map[string]any{"field": "path"}))
	}
	if fault := malformed(name); fault != "" {
		return Path{}, candor.New(kaiza.InvalidPath, fault)
	}
	segments := split(name)
	for _, s := range segments {
		if s == ".." {
			return Path{}, candor.New(kaiza.PathTraversalBlocked, "")
		}
		if len(s) > maxSegment {
			return Path{}, candor.New(kaiza.InvalidPath, "A part of the path is longer than 255 bytes.")
		}
	}
	if strings.HasPrefix(name, "/") || filepath.IsAbs(name) {
		inside, ok := f.relative(segments)
		if !ok {
			return Path{}, candor.New(kaiza.OutsideWorkspace, "The absolute path lies outside the workspace.")
		}
		segments = inside
	}
	p := Path{strings.Join(segments, "/")}
	if !p.IsRoot() && !filepath.IsLocal(filepath.FromSlash(p.name)) {
		return Path{}, candor.New(kaiza.InvalidPath, "The path has a name that this system keeps for itself.")
	}
	return p, nil
}

// malformed says what is wrong with a name before it is taken apart, or nothing.
func malformed(name string) string {
	switch {
	case len(name) > maxPath:
		return "The path is longer than 4096 bytes."
	case !utf8.ValidString(name):
		return "The path is not valid UTF-8."
	case strings.ContainsRune(name, 0):
		return "The path holds a NUL byte."
	case strings.ContainsFunc(name, deceptive):
		return "The path holds a control character."
	case strings.ContainsRune(name, '\\'):
		return "The path holds a backslash; separate its parts with slashes."
	}
	return ""
}

// deceptive characters make a path look like another one on a screen where a person approves it.
func deceptive(r rune) bool {
	return unicode.IsControl(r) || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// split cuts a path at its slashes and drops what means "here".
func split(name string) []string {
	var segments []string
	for s := range strings.SplitSeq(name, "/") {
		if s != "" && s != "." {
			segments = append(segments, s)
		}
	}
	return segments
}

// relative cuts the workspace off an absolute path, segment by segment: /w/proj2 does not begin with /w/proj.
func (f *Folder) relative(segments []string) ([]string, bool) {
	for _, root := range []string{f.path, f.given} {
		base := split(filepath.ToSlash(root))
		if len(segments) >= len(base) && strings.Join(segments[:len(base)], "/") == strings.Join(base, "/") {
			return segments[len(base):], true
		}
	}
	return nil, false
}

// parent and base are the folder of a path and its last part.
func (p Path) parent() Path {
	dir := path.Dir(p.name)
	if dir == "." {
		dir = ""
	}
	return Path{dir}
}

func (p Path) base() string { return path.Base(p.name) }

// join is the path of a name in the folder p.
func (p Path) join(name string) Path { return Path{path.Join(p.name, name)} }
