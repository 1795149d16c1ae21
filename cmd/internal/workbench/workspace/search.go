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

// The bounds of one search.
const (
	maxMatches     = 1000
	defaultMatches = 100
	maxFiles       = 200_000
	maxFolderDepth = 64
	maxSearched    = 256 << 20 // bytes read
	maxLine        = 256       // bytes of a line in the answer
	maxPattern     = 1000
	maxGlob        = 256
	maxBraces      = 4 // each brace multiplies the ways a glob can match
	maxCommas      = 32
)

// Query says what to search for.
type Query struct {
	Pattern    string // RE2, matched line by line
	Literal    bool   // Pattern is a text, not an expression
	Glob       string // which files, such as src/**/*.go, by their whole path; without a slash by their name, in any folder; empty is all
	In         Path   // below which folder; the zero Path is the whole workspace
	MaxMatches int    // 0 is 100, at most 1000
}

// Match is one line that matches.
type Match struct {
	Path Path
	Line int    // from 1
	Text string // without control characters, at most 256 bytes
}

// Matches is what a search found, ordered by folder, name and line.
type Matches struct {
	Found   []Match
	Files   int    // files searched
	Skipped int    // files left out: binary, too large, hard-linked or not readable
	Cut     int    // lines so long that only their beginnings were searched
	Stopped string // why it ended early: "matches", "files", "bytes" or "time"; empty if it did not
}

// Search looks for a pattern in the files of the workspace, line by line. It follows no link, leaves out .git and binary files, and is
// bounded in files, bytes and matches. A deadline of ctx ends it with what was found; a cancelled ctx is an error.
// A pattern or glob that cannot be understood is INVALID_INPUT_VALUE with the place.
func (f *Folder) Search(ctx context.Context, q Query) (Matches, error) {
	s, err := newSearch(ctx, f, q)
	if err != nil {
		return Matches{}, err
	}
	dir, err := f.folder(q.In)
	if err != nil {
		return Matches{}, err
	}
	defer dir.Close() //nolint:errcheck // it was only read
	if err := s.folder(dir, q.In, maxFolderDepth); err != nil {
		return Matches{}, f.access(q.In, err, kaiza.FileReadFailed)
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return Matches{}, candor.New(candor.CodeCancelled, "", candor.WithCause(ctx.Err()))
	}
	return s.matches, nil
}

// search is one search under way.
type search struct {
	ctx     context.Context
	in      *Folder
	pattern pattern
	glob    string
	base    []string // the folders that every match of the glob lies in
	limit   int
	bytes   int64
	work    int // bytes that were matched since the time was last looked at
	matches Matches
}

func newSearch(ctx context.Context, f *Folder, q Query) (*search, error) {
	s := &search{ctx: ctx, in: f, glob: anywhere(q.Glob), limit: q.MaxMatches}
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

// anywhere is a glob as people mean it: one without a slash is of names in any folder, and one that ends in a slash is of all below.
func anywhere(glob string) string {
	switch {
	case glob == "":
		return ""
	case !strings.Contains(glob, "/"):
		return "**/" + glob
	case strings.HasSuffix(glob, "/"):
		glob += "**"
	}
	return strings.TrimPrefix(strings.TrimPrefix(glob, "./"), "/") // ./src and /src are src
}

// baseOf returns the folders that a glob begins with.
func baseOf(glob string) []string {
	base, _ := doublestar.SplitPattern(glob)
	return split(base)
}

// leads reports a folder that is on the way to what the glob can match, or below it.
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
		return badQuery("glob", "The glob is not valid.", badPlace(glob))
	}
	return nil
}

// badPlace is the shortest beginning of a glob that nothing could complete, or else all of it: an open bracket.
func badPlace(glob string) string {
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

// done says whether a bound is reached, and notes which.
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

// folder searches a folder and what is below. Only a failure to read the outermost one comes back to the caller.
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
			continue // it went away meanwhile
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

// showLine is a line as it may be shown on any terminal.
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
