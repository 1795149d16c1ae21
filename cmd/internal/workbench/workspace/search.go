package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
)

// Limits of one search.
const (
	maxMatches     = 1000
	defaultMatches = 100
	maxFiles       = 200_000
	maxFolderDepth = 64
	maxSearched    = 256 << 20 // bytes read
	maxLine        = 256       // bytes of a line in the result
	maxPattern     = 1000
	maxGlob        = 256
	maxBraces      = 4 // each brace multiplies the alternatives of a glob
	maxCommas      = 32
)

// Query describes a search.
type Query struct {
	Pattern    string // RE2, matched line by line
	Literal    bool   // Pattern is a text, not an expression
	Glob       string // selects files by path, such as src/**/*.go; without a slash it matches names in any folder; empty selects all
	In         Path   // folder to search; the zero Path is the whole workspace
	MaxMatches int    // at most 1000; 0 means 100
}

// Match is one matching line.
type Match struct {
	Path Path   `json:"path"`
	Line int    `json:"line"` // from 1
	Text string `json:"text"` // without control characters, at most 256 bytes
}

// Matches is the result of a search, ordered by folder, name and line.
type Matches struct {
	Found   []Match
	Files   int    // files searched
	Skipped int    // files skipped: binary, too large, hard-linked or unreadable
	Cut     int    // long lines of which only the beginning was searched
	Stopped string // the reason if it ended early: "matches", "files", "bytes" or "time"
}

// Search searches the files of the workspace line by line. It does not follow links, skips .git and binary files, and
// limits files, bytes and matches. If the deadline of ctx expires, Search returns the matches found so far; if ctx is
// cancelled, it returns an error. A malformed pattern or glob is INVALID_INPUT_VALUE with the position.
func (f *Folder) Search(ctx context.Context, q Query) (Matches, error) {
	s, err := newSearch(ctx, f, q)
	if err != nil {
		return Matches{}, err
	}
	dir, err := f.folder(q.In)
	if err != nil {
		return Matches{}, err
	}
	defer dir.Close() //nolint:errcheck // opened for reading
	if err := s.folder(dir, q.In, maxFolderDepth); err != nil {
		return Matches{}, f.access(q.In, err, kaiza.FileReadFailed)
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return Matches{}, candor.New(candor.CodeCancelled, "", candor.WithCause(ctx.Err()))
	}
	return s.matches, nil
}

// search is the state of a search.
type search struct {
	ctx     context.Context
	in      *Folder
	pattern pattern
	glob    string
	base    []string // the folders that all matches of the glob are in
	limit   int
	bytes   int64
	work    int // bytes matched since the last check of the time
	matches Matches
}

func newSearch(ctx context.Context, f *Folder, q Query) (*search, error) {
	s := &search{matches: Matches{Found: []Match{}}, ctx: ctx, in: f, glob: anywhere(q.Glob), limit: q.MaxMatches}
	s.base = baseOf(s.glob)
	switch {
	case q.MaxMatches < 0 || q.MaxMatches > maxMatches:
		return nil, badQuery("max_matches", fmt.Sprintf("The number of matches must be from 0 to %d.", maxMatches), "")
	case q.MaxMatches == 0:
		s.limit = defaultMatches
	}
	var err error
	if s.pattern, err = newPattern(q); err != nil {
		return nil, err
	}
	return s, checkGlob(q.Glob)
}

// anywhere normalizes a glob: without a slash it matches names in any folder, and with a trailing slash everything
// below.
func anywhere(glob string) string {
	switch {
	case glob == "":
		return ""
	case !strings.Contains(glob, "/"):
		return "**/" + glob
	case strings.HasSuffix(glob, "/"):
		glob += "**"
	}
	return strings.TrimPrefix(strings.TrimPrefix(glob, "./"), "/") // ./src and /src mean src
}

// baseOf returns the folders that a glob begins with.
func baseOf(glob string) []string {
	base, _ := doublestar.SplitPattern(glob)
	return split(base)
}

// leads reports whether a folder is above or below the base of the glob.
func (s *search) leads(at Path) bool {
	for i, segment := range split(at.name) {
		if i < len(s.base) && s.base[i] != segment {
			return false
		}
	}
	return true
}

func checkGlob(glob string) error {
	switch {
	case len(glob) > maxGlob || strings.Count(glob, "{") > maxBraces || strings.Count(glob, ",") > maxCommas:
		return badQuery("glob", fmt.Sprintf("The glob must have at most %d bytes, %d braces and %d commas.", maxGlob, maxBraces, maxCommas), "")
	case glob != "" && !doublestar.ValidatePattern(glob):
		return badQuery("glob", "The glob is not valid.", invalidPrefix(glob))
	}
	return nil
}

// invalidPrefix returns the shortest prefix of a glob that cannot be completed to a valid one, or the whole glob.
func invalidPrefix(glob string) string {
	for end := range glob {
		begin := glob[:end]
		if begin != "" && !doublestar.ValidatePattern(begin) && !doublestar.ValidatePattern(begin+"]") && !doublestar.ValidatePattern(begin+"}") &&
			!doublestar.ValidatePattern(begin+"a]") && !doublestar.ValidatePattern(begin+"a") {
			return begin
		}
	}
	return glob
}

func badQuery(field, message, at string) error {
	details := map[string]any{"field": field}
	if at != "" {
		details["at"] = at
	}
	return candor.New(kaiza.InvalidInputValue, message, candor.WithDetails(details))
}

// done reports whether a limit is reached, and records which.
func (s *search) done() bool {
	switch {
	case s.matches.Stopped != "":
	case s.ctx.Err() != nil:
		s.matches.Stopped = "time"
	case len(s.matches.Found) >= s.limit:
		s.matches.Stopped = "matches"
	case s.matches.Files+s.matches.Skipped >= maxFiles:
		s.matches.Stopped = "files"
	case s.bytes >= maxSearched:
		s.matches.Stopped = "bytes"
	}
	return s.matches.Stopped != ""
}

// folder searches a folder and its subfolders. It returns an error only if the outermost folder cannot be read.
func (s *search) folder(dir *os.Root, at Path, depth int) error {
	names, more, err := readNames(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if s.done() {
			return nil
		}
		info, err := dir.Lstat(name)
		if err != nil {
			continue // removed in the meantime
		}
		switch kindOf(info) {
		case KindFile:
			s.file(dir, at.join(name), name)
		case KindFolder:
			if name != ".git" && depth > 1 && s.leads(at.join(name)) {
				s.below(dir, at, name, depth)
			}
		case KindLink, KindOther:
		}
	}
	if more && !s.done() {
		s.matches.Stopped = "files"
	}
	return nil
}

func (s *search) below(dir *os.Root, at Path, name string, depth int) {
	child, err := enter(dir, name)
	if err == nil {
		err = errors.Join(s.folder(child, at.join(name), depth-1), child.Close())
	}
	if err != nil {
		s.matches.Skipped++
	}
}

func (s *search) file(dir *os.Root, p Path, name string) {
	if s.glob != "" && !doublestar.MatchUnvalidated(s.glob, p.name) {
		return
	}
	file, err := s.in.readPlain(dir, p, name)
	if err != nil || bytes.IndexByte(file.Content[:min(len(file.Content), 8000)], 0) >= 0 {
		s.matches.Skipped++
		return
	}
	s.matches.Files++
	s.bytes += file.Size
	number := 0
	for line := range bytes.Lines(file.Content) {
		number++
		if s.work += len(line); s.work > s.pattern.reach {
			if s.work = 0; s.ctx.Err() != nil {
				s.matches.Stopped = "time"
				return
			}
		}
		found, cut := s.pattern.match(bytes.TrimRight(line, "\r\n"))
		if cut {
			s.matches.Cut++
		}
		if !found {
			continue
		}
		if s.done() {
			return
		}
		s.matches.Found = append(s.matches.Found, Match{Path: p, Line: number, Text: showLine(bytes.TrimRight(line, "\r\n"))})
	}
}

// showLine returns a line that is safe to show on a terminal.
func showLine(line []byte) string {
	cut := line[:min(len(line), maxLine+utf8.UTFMax)]
	text := strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r == utf8.RuneError, deceptive(r):
			return '\ufffd'
		}
		return r
	}, string(cut))
	if len(text) <= maxLine && len(cut) == len(line) {
		return text
	}
	const mark = "…"
	for end := maxLine - len(mark); ; end-- {
		if end <= len(text) && (end == len(text) || utf8.RuneStart(text[end])) {
			return text[:end] + mark
		}
	}
}
