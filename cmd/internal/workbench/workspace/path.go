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

// Maximum lengths of a path and of a segment in bytes, as on common systems.
const (
	maxPath    = 4096
	maxSegment = 255
)

// Path is a path in a workspace: relative, clean, with slashes and without "..". Paths are made by [Folder.Parse]; the
// zero Path is the workspace itself.
type Path struct{ name string }

// String returns the path as shown and recorded; "." is the workspace itself.
func (p Path) String() string {
	if p.name == "" {
		return "."
	}
	return p.name
}

// MarshalText returns the result of [Path.String].
func (p Path) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// IsRoot reports whether the path is the workspace itself.
func (p Path) IsRoot() bool { return p.name == "" }

// Parse converts an argument to a [Path]. It makes an absolute path inside the workspace relative. The error is
// INVALID_INPUT_VALUE for an empty path, INVALID_PATH for a name that is impossible or deceptive, PATH_TRAVERSAL_BLOCKED
// for a ".." segment, and OUTSIDE_WORKSPACE for an absolute path elsewhere. Parse does not access the disk: existence
// and links are checked when the path is used.
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

// malformed returns the reason why a name is malformed, or "".
func malformed(name string) string {
	switch {
	case len(name) > maxPath:
		return "The path is longer than 4096 bytes."
	case !utf8.ValidString(name):
		return "The path is not valid UTF-8."
	case strings.ContainsRune(name, 0):
		return "The path contains a NUL byte."
	case strings.ContainsFunc(name, deceptive):
		return "The path contains a control character."
	case strings.ContainsRune(name, '\\'):
		return "The path contains a backslash; separate its parts with slashes."
	}
	return ""
}

// deceptive reports whether a character can make a path look like another one to the approver.
func deceptive(r rune) bool {
	return unicode.IsControl(r) || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// split splits a path at its slashes and drops empty and "." segments.
func split(name string) []string {
	var segments []string
	for s := range strings.SplitSeq(name, "/") {
		if s != "" && s != "." {
			segments = append(segments, s)
		}
	}
	return segments
}

// relative removes the workspace from an absolute path, segment by segment: /w/proj2 does not begin with /w/proj.
func (f *Folder) relative(segments []string) ([]string, bool) {
	for _, root := range []string{f.path, f.given} {
		base := split(filepath.ToSlash(root))
		if len(segments) >= len(base) && strings.Join(segments[:len(base)], "/") == strings.Join(base, "/") {
			return segments[len(base):], true
		}
	}
	return nil, false
}

// parent returns the folder of a path.
func (p Path) parent() Path {
	dir := path.Dir(p.name)
	if dir == "." {
		dir = ""
	}
	return Path{dir}
}

func (p Path) base() string { return path.Base(p.name) }

// join returns the path of a name in the folder p.
func (p Path) join(name string) Path { return Path{path.Join(p.name, name)} }
