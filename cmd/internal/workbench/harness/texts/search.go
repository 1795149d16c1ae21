package texts

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/candor-mcp/candor/cmd/internal/workbench/folder"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/codes/common"
	"github.com/candor-mcp/candor/internal/truncate"
)

// Limits of searches.
const (
	MaxQuery    = 200      // characters of a search text
	MaxResults  = 500      // of one answer
	maxSearched = 64 << 20 // bytes that one call searches
	maxText     = 300      // bytes of a line in a search result
)

// Query holds the parameters of a search.
type Query struct {
	Q      string `json:"q"`    // text to find, "" for the names of all files
	Path   string `json:"path"` // a folder, "" for the root
	Glob   string `json:"glob"` // pattern that the names of the files below it match, "" for all
	Cursor string `json:"cursor"`
	Limit  int    `json:"limit"`
}

// Found is the result of a search.
type Found struct {
	Matches    []Match `json:"matches"`
	Truncated  bool    `json:"truncated"`
	NextCursor string  `json:"nextCursor,omitempty"`
	Skipped    int     `json:"skipped,omitempty"`    // files that could not be searched: too large, not text, unreadable
	Incomplete bool    `json:"incomplete,omitempty"` // there are more files or deeper directories than one call examines
}

// Match is a line that contains the text, or a file.
type Match struct {
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
	Text string `json:"text,omitempty"`
}

// Search finds lines that contain a text, ignoring case. Errors about the parameters have codes.
func Search(ctx context.Context, f *folder.Folder, in Query) (Found, error) {
	if utf8.RuneCountInString(in.Q) > MaxQuery {
		return Found{}, domain.Fail(common.InputTooLarge, fmt.Sprintf("q: longer than %d characters", MaxQuery), nil)
	}
	if in.Glob != "" && !doublestar.ValidatePattern(in.Glob) {
		return Found{}, domain.Fail(common.InvalidParams, "glob: not a pattern such as **/*.md", nil)
	}
	after, err := parsePosition(in.Cursor)
	if err != nil {
		return Found{}, err
	}
	files, incomplete, err := Files(ctx, f, in.Path)
	if err != nil {
		return Found{}, err
	}
	s := searching{folder: f, text: strings.ToLower(in.Q), after: after, limit: LimitOf(in.Limit), left: maxSearched}
	s.out = Found{Matches: []Match{}, Incomplete: incomplete}
	for i := range files {
		if err := ctx.Err(); err != nil {
			return Found{}, err
		}
		below := strings.TrimPrefix(files[i].File, strings.TrimSuffix(in.Path, "/")+"/")
		if files[i].File < after.file || in.Glob != "" && !doublestar.MatchUnvalidated(in.Glob, below) {
			continue
		}
		if !s.search(files[i]) {
			break
		}
	}
	return s.out, nil
}

// position is a line of a file, after which a search continues.
type position struct {
	file string
	line int
}

func (p position) String() string { return strconv.Itoa(p.line) + ":" + p.file }

func parsePosition(cursor string) (position, error) {
	if cursor == "" {
		return position{}, nil
	}
	number, file, ok := strings.Cut(cursor, ":")
	line, err := strconv.Atoi(number)
	if !ok || err != nil || line < 0 || file == "" {
		return position{}, domain.Fail(common.InvalidParams, "cursor: not one that this method has returned", err)
	}
	return position{file, line}, nil
}

// searching is one search.
type searching struct {
	folder *folder.Folder
	text   string // in lower case
	after  position
	limit  int
	left   int64 // bytes that may still be searched
	out    Found
}

// search adds the matches of one file and reports whether to continue.
func (s *searching) search(e Entry) bool {
	if s.text == "" {
		return s.add(Match{File: e.File})
	}
	if e.Bytes > MaxFile {
		s.out.Skipped++
		return true
	}
	if s.left -= e.Bytes; s.left < 0 {
		return s.stop(position{e.File, 0})
	}
	content, _, err := Read(s.folder, e.File)
	if err != nil {
		s.out.Skipped++
		return true
	}
	number := 0
	for line := range strings.Lines(string(content)) {
		number++
		if !strings.Contains(strings.ToLower(line), s.text) {
			continue
		}
		if !s.add(Match{File: e.File, Line: number, Text: truncate.Text(strings.TrimRight(line, "\r\n"), maxText)}) {
			return false
		}
	}
	return true
}

// add adds a match and reports whether to continue.
func (s *searching) add(m Match) bool {
	if m.File == s.after.file && m.Line <= s.after.line {
		return true
	}
	if len(s.out.Matches) == s.limit {
		last := s.out.Matches[s.limit-1]
		return s.stop(position{last.File, last.Line})
	}
	s.out.Matches = append(s.out.Matches, m)
	return true
}

// stop ends the search; the next one continues after p.
func (s *searching) stop(p position) bool {
	s.out.Truncated, s.out.NextCursor = true, p.String()
	return false
}
