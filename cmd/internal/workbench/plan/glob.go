package plan

import (
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/bmatcuk/doublestar/v4"
)

// Limits of brace expansion. Alternatives are expanded before matching, because nested backtracking would take
// exponential time.
const (
	maxWays     = 64    // per scope
	maxPlanWays = 1_000 // per plan
)

// anyDepth is the segment that matches any number of segments. It is special only as a whole segment.
const anyDepth = "**"

// glob is one compiled scope.
type glob struct {
	written string
	ways    [][]string // segments of each alternative; one match is sufficient
}

// mistake describes an invalid value and how to fix it.
type mistake struct{ text, hint string }

// Error returns the description.
func (m *mistake) Error() string { return m.text }

// compile parses a scope. The error is a *mistake.
func compile(written string) (glob, error) {
	if err := plainGlob(written); err != nil {
		return glob{}, err
	}
	spelt, err := alternatives(written)
	if err != nil {
		return glob{}, err
	}
	g := glob{written: written}
	for _, one := range spelt {
		ways, err := waysOf(one)
		if err != nil {
			return glob{}, err
		}
		g.ways = append(g.ways, ways...)
	}
	return g, nil
}

// plainGlob refuses characters and forms that are not allowed in any scope.
func plainGlob(s string) error {
	switch {
	case strings.TrimSpace(s) == "":
		return &mistake{"the scope is empty, so it can match nothing", "give a file or a glob such as src/**"}
	case len(s) > MaxGlob:
		return &mistake{"the scope is longer than 256 bytes", "name a folder above it"}
	case strings.TrimSpace(s) != s:
		return &mistake{"the scope begins or ends with a space", "leave the space out"}
	case strings.ContainsFunc(s, hidden):
		return &mistake{"the scope has an invisible character", "write it with visible characters only"}
	case strings.Contains(s, `\`):
		return &mistake{"the scope holds a backslash", "write / between folders, and [*] for a star that is one"}
	case strings.HasPrefix(s, "!"):
		return &mistake{"a scope cannot be taken back with !", "list what may be changed, and nothing else"}
	default:
		return nil
	}
}

// waysOf returns the segments to match, for a scope without braces.
func waysOf(s string) ([][]string, error) {
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
	tree := append(slices.Clip(segments), anyDepth, "*") // everything below the folder, but not the folder itself
	switch {
	case below:
		return [][]string{tree}, nil
	case segments[len(segments)-1] == anyDepth:
		return [][]string{append(slices.Clip(segments), "*")}, nil
	case strings.ContainsAny(s, "*?["):
		return [][]string{segments}, nil
	default:
		return [][]string{segments, tree}, nil
	}
}

func checkSegment(s string) error {
	switch {
	case s == "..":
		return &mistake{`the scope climbs with ".."`, "write it relative to the workspace, without .."}
	case s == "." || s == "":
		return &mistake{`the scope has an empty or "." segment, so it can match nothing`, "leave the segment out"}
	case !doublestar.ValidatePattern(s):
		return &mistake{"the scope is not a valid glob", "close every [ and {, and let no [ ] hold a /"}
	default:
		return nil
	}
}

// alternatives expands braces: a{b,c} becomes ab and ac.
func alternatives(s string) ([]string, error) {
	spelt := []string{""}
	for s != "" {
		open := indexOutside(s, "{}")
		if open < 0 {
			return extend(spelt, []string{s})
		}
		end := indexOutside(s[open+1:], "{}")
		if s[open] == '}' || end < 0 || s[open+1+end] == '{' {
			return nil, &mistake{"the braces of the scope do not pair, or stand inside each other", "write {a,b} with both braces, or two scopes"}
		}
		var err error
		inside := s[open+1 : open+1+end]
		if spelt, err = extend(spelt, []string{s[:open]}); err != nil {
			return nil, err
		}
		if spelt, err = extend(spelt, splitOutside(inside)); err != nil {
			return nil, err
		}
		s = s[open+end+2:]
	}
	return spelt, nil
}

func extend(spelt, with []string) ([]string, error) {
	if len(spelt)*len(with) > maxWays {
		return nil, &mistake{"the braces of the scope stand for more than 64 globs", "use * or fewer alternatives"}
	}
	var all []string
	for _, head := range spelt {
		for _, tail := range with {
			all = append(all, head+tail)
		}
	}
	return all, nil
}

// indexOutside is like [strings.IndexAny] but ignores characters inside [ ].
func indexOutside(s, chars string) int {
	class := false
	for i := range len(s) {
		switch {
		case class:
			class = s[i] != ']'
		case s[i] == '[':
			class = true
		case strings.IndexByte(chars, s[i]) >= 0:
			return i
		}
	}
	return -1
}

func splitOutside(s string) []string {
	var parts []string
	for {
		i := indexOutside(s, ",")
		if i < 0 {
			return append(parts, s)
		}
		parts, s = append(parts, s[:i]), s[i+1:]
	}
}

func (g glob) covers(path []string) bool {
	return slices.ContainsFunc(g.ways, func(way []string) bool { return matchSegments(way, path) })
}

// matchSegments matches segment by segment, so only a ** segment crosses a slash. On a mismatch it advances only the
// last **: advancing an earlier one cannot help, so the cost is at most the product of the two lengths.
func matchSegments(way, path []string) bool {
	w, p := 0, 0
	star, from := -1, 0
	for p < len(path) {
		switch {
		case w < len(way) && way[w] == anyDepth:
			star, from = w, p
			w++
		case w < len(way) && doublestar.MatchUnvalidated(way[w], path[p]):
			w++
			p++
		case star >= 0:
			from++
			w, p = star+1, from
		default:
			return false
		}
	}
	for w < len(way) && way[w] == anyDepth {
		w++
	}
	return w == len(way)
}

// everything reports whether the scope matches unrelated sample names, and so probably every file.
func (g glob) everything() bool {
	for _, name := range []string{"q", "Z.9", ".w/k", "m/N/0.j", "v/.y/h/u/2"} {
		if !g.covers(strings.Split(name, "/")) {
			return false
		}
	}
	return true
}

// doubts returns warnings about a scope that is allowed but probably not intended.
func (g glob) doubts() []error {
	var all []error
	if g.everything() {
		all = append(all, &mistake{"the scope covers everything", "name the folders that the plan is about"})
	}
	for segment := range strings.SplitSeq(g.written, "/") {
		if segment != anyDepth && strings.Contains(segment, anyDepth) {
			all = append(all, &mistake{"** matches any depth only as a whole segment; here it is a *", "write **/*.go, not **.go"})
			break
		}
	}
	if mixedScripts(g.written) {
		all = append(all, &mistake{"the scope mixes letters of several scripts, which can look alike", "compare it with the name that is meant, letter by letter"})
	}
	return all
}

// lookalikes lists the scripts with letters that resemble Latin ones.
var lookalikes = []*unicode.RangeTable{unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee, unicode.Coptic, unicode.Lisu}

// mixedScripts reports whether a segment mixes letters of Latin and its lookalikes. A segment in one script, such as
// Greek, is fine.
func mixedScripts(s string) bool {
	for segment := range strings.SplitSeq(s, "/") {
		scripts := 0
		for _, script := range append([]*unicode.RangeTable{unicode.Latin}, lookalikes...) {
			if strings.ContainsFunc(segment, func(r rune) bool { return unicode.Is(script, r) }) {
				scripts++
			}
		}
		if scripts > 1 {
			return true
		}
	}
	return false
}

func mistakeOf(err error) *mistake {
	if m, ok := errors.AsType[*mistake](err); ok {
		return m
	}
	return &mistake{text: err.Error()}
}
