package plan

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/candor-mcp/candor/internal/lazyregexp"
)

// anyDepth is the segment that matches any number of segments. It is special only as a whole segment.
const anyDepth = "**"

// glob is one compiled scope.
type glob struct {
	written string
	ways    []string // patterns of the scope, and of everything below it; one match is sufficient
}

// mistake describes an invalid value and how to fix it.
type mistake struct{ text, hint string }

// Error returns the description.
func (m *mistake) Error() string { return m.text }

// compile parses a scope.
func compile(written string) (glob, *mistake) {
	if err := plainGlob(written); err != nil {
		return glob{}, err
	}
	ways, err := waysOf(written)
	return glob{written, ways}, err
}

// plainGlob refuses characters and forms that are not allowed in any scope.
func plainGlob(s string) *mistake {
	switch {
	case strings.TrimSpace(s) == "":
		return &mistake{"the scope is empty, so it can match nothing", "give a file or a glob such as src/**"}
	case len(s) > MaxGlob:
		return &mistake{"the scope is longer than 256 bytes", "name a folder above it"}
	case strings.TrimSpace(s) != s:
		return &mistake{"the scope begins or ends with a space", "leave the space out"}
	case strings.ContainsFunc(s, Hidden):
		return &mistake{"the scope has an invisible character", "write it with visible characters only"}
	case strings.Contains(s, `\`):
		return &mistake{"the scope holds a backslash", "write / between folders, and [*] for a star that is one"}
	case strings.ContainsAny(s, "{}"):
		return &mistake{"the scope holds a brace", "write two scopes instead of {a,b}"}
	case strings.HasPrefix(s, "!"):
		return &mistake{"a scope cannot be taken back with !", "list what may be changed, and nothing else"}
	default:
		return nil
	}
}

// waysOf returns the patterns to match.
func waysOf(s string) ([]string, *mistake) {
	if strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~") || len(s) > 1 && s[1] == ':' {
		return nil, &mistake{"the scope is absolute", "write it relative to the workspace"}
	}
	below := strings.HasSuffix(s, "/")
	segments := strings.Split(strings.TrimSuffix(s, "/"), "/")
	for _, segment := range segments {
		if err := checkSegment(segment); err != nil {
			return nil, err
		}
	}
	if inFolder(segments) {
		return nil, &mistake{"a plan cannot cover " + Folder + ", so this scope can match nothing", "leave it out; plans are submitted, not written"}
	}
	if slices.ContainsFunc(segments, isVersionControl) {
		return nil, &mistake{"a plan cannot cover a folder of version control, so this scope can match nothing", "leave it out; commit and configure by hand"}
	}
	s = strings.TrimSuffix(s, "/")
	tree := s + "/" + anyDepth + "/*" // everything below the folder, but not the folder itself
	switch {
	case below:
		return []string{tree}, nil
	case segments[len(segments)-1] == anyDepth:
		return []string{s + "/*"}, nil
	case strings.ContainsAny(s, "*?["):
		return []string{s}, nil
	}
	return []string{s, tree}, nil
}

// class matches a class such as [0-9].
var class = lazyregexp.New(`\[[^\]]*\]`)

func checkSegment(s string) *mistake {
	switch {
	case s == "..":
		return &mistake{`the scope climbs with ".."`, "write it relative to the workspace, without .."}
	case s == "." || s == "":
		return &mistake{`the scope has an empty or "." segment, so it can match nothing`, "leave the segment out"}
	case !doublestar.ValidatePattern(s):
		return &mistake{"the scope is not a valid glob", "close every [, and let no [ ] hold a /"}
	case slices.ContainsFunc(class.Get().FindAllString(s, -1), func(c string) bool { return doublestar.MatchUnvalidated(c, "/") }):
		return &mistake{"a class in the scope matches a /", "list the characters that it matches"}
	default:
		return nil
	}
}

// covers reports whether the scope covers a path. Only a ** segment crosses a slash.
func (g glob) covers(path string) bool {
	return slices.ContainsFunc(g.ways, func(way string) bool { return doublestar.MatchUnvalidated(way, path) })
}
