package memorybank

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/candor-mcp/candor/cmd/internal/workbench/folder"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/codes/common"
	"github.com/candor-mcp/candor/internal/truncate"
)

type searchIn struct {
	Q      string `json:"q"`
	Cursor string `json:"cursor"`
	Limit  int    `json:"limit"`
}

type searchOut struct {
	Matches    []match `json:"matches"`
	Truncated  bool    `json:"truncated"`
	NextCursor string  `json:"nextCursor,omitempty"`
	Skipped    int     `json:"skipped,omitempty"`    // files that could not be searched: too large, not text, unreadable
	Incomplete bool    `json:"incomplete,omitempty"` // the bank has more files or deeper directories than one call examines
}

type match struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

func (b *bank) search(ctx context.Context, in searchIn) (searchOut, error) {
	if utf8.RuneCountInString(in.Q) > maxQuery {
		return searchOut{}, domain.Fail(common.InputTooLarge, fmt.Sprintf("q: longer than %d characters", maxQuery), nil)
	}
	after, err := parsePosition(in.Cursor)
	if err != nil {
		return searchOut{}, err
	}
	files, incomplete, err := b.files(ctx)
	if err != nil {
		return searchOut{}, err
	}
	f, err := b.open()
	if err != nil {
		return searchOut{}, err
	}
	s := searching{folder: f, text: strings.ToLower(in.Q), after: after, limit: limitOf(in.Limit), left: maxSearched}
	s.out = searchOut{Matches: []match{}, Incomplete: incomplete}
	for i := range files {
		if err := ctx.Err(); err != nil {
			return searchOut{}, err
		}
		if files[i].File < after.file {
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
	out    searchOut
}

// search adds the matches of one file and reports whether to continue.
func (s *searching) search(e entry) bool {
	if e.Bytes > maxFile {
		s.out.Skipped++
		return true
	}
	if s.left -= e.Bytes; s.left < 0 {
		return s.stop(position{e.File, 0})
	}
	content, _, err := readText(s.folder, e.File)
	if err != nil {
		s.out.Skipped++
		return true
	}
	number := 0
	for line := range strings.Lines(string(content)) {
		number++
		if e.File == s.after.file && number <= s.after.line {
			continue
		}
		if !strings.Contains(strings.ToLower(line), s.text) {
			continue
		}
		if len(s.out.Matches) == s.limit {
			last := s.out.Matches[s.limit-1]
			return s.stop(position{last.File, last.Line})
		}
		s.out.Matches = append(s.out.Matches, match{File: e.File, Line: number, Text: truncate.Text(strings.TrimRight(line, "\r\n"), maxText)})
	}
	return true
}

// stop ends the search; the next one continues after p.
func (s *searching) stop(p position) bool {
	s.out.Truncated, s.out.NextCursor = true, p.String()
	return false
}
