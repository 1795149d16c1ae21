package patch

import (
	"strconv"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// scanner splits a patch into files and hunks, and refuses lines that the library would ignore.
type scanner struct {
	lines []string // each with its line end
	at    int      // index of the next line
	hunks int
	files []File
	seen  map[string]bool
}

func newScanner(text string) *scanner {
	return &scanner{lines: strings.SplitAfter(text, "\n"), seen: map[string]bool{}}
}

// peek returns the line at an offset from the next line, or "" at the end.
func (s *scanner) peek(ahead int) string {
	if s.at+ahead < len(s.lines) {
		return s.lines[s.at+ahead]
	}
	return ""
}

func (s *scanner) begins(prefix string) bool { return strings.HasPrefix(s.peek(0), prefix) }

func (s *scanner) scan() error {
	for s.peek(0) != "" {
		switch {
		case s.begins("diff --git "), s.begins("--- ") && strings.HasPrefix(s.peek(1), "+++ "):
			if err := s.file(); err != nil {
				return err
			}
		case s.begins("-- \n"), s.begins("--\n"): // the signature of a mail ends the patch
			s.at = len(s.lines)
		default:
			if err := s.between(); err != nil {
				return err
			}
			s.at++
		}
	}
	if len(s.files) == 0 {
		return invalid(0, adviceFormat, "it names no file")
	}
	return nil
}

// between checks a line outside of files. Free text is allowed only before the first file, as in a mail.
func (s *scanner) between() error {
	line := s.peek(0)
	switch {
	case strings.HasPrefix(line, "@@"):
		return invalid(s.at+1, adviceFormat, "a hunk comes before the names of its file")
	case strings.HasPrefix(line, "--- "):
		return invalid(s.at+1, adviceName, "the line with --- is not followed by one with +++")
	case len(s.files) == 0, line == "\n", line == "\r\n":
		return nil
	case strings.HasPrefix(line, "```"):
		return invalid(s.at+1, adviceFences, "there is a Markdown fence in it")
	case strings.ContainsRune("+- \\", rune(line[0])):
		return invalid(s.at+1, adviceCounts, "there are more lines than the header of hunk %d counts", s.hunks)
	case strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "Index: "), strings.HasPrefix(line, "===="):
		return nil
	}
	return invalid(s.at+1, "Leave out what is not part of the patch.", "the line belongs to no file")
}

func (s *scanner) file() error {
	if len(s.files) == MaxFiles {
		return invalid(s.at+1, adviceSplit, "it changes more than %d files", MaxFiles)
	}
	h, err := s.header()
	if err != nil {
		return err
	}
	f, err := h.file()
	if err != nil {
		return err
	}
	if s.seen[f.Name()] {
		return invalid(h.line, "Put all hunks of a file below one pair of names.", "the same file is named twice")
	}
	s.seen[f.Name()] = true
	if err := s.body(h, &f); err != nil {
		return err
	}
	s.files = append(s.files, f)
	return nil
}

// header reads the lines before the first hunk of a file.
func (s *scanner) header() (*header, error) {
	h := &header{line: s.at + 1}
	if s.begins("diff --git ") {
		h.git = s.peek(0)[len("diff --git "):]
		for s.at++; s.peek(0) != "" && !s.begins("--- ") && !s.begins("@@") && !s.begins("diff ") && !s.begins("\n"); s.at++ {
			if err := h.extended(s.peek(0), s.at+1); err != nil {
				return nil, err
			}
		}
	}
	if !s.begins("--- ") {
		return h, nil
	}
	old, fresh := s.peek(0)[4:], strings.TrimPrefix(s.peek(1), "+++ ")
	if strings.HasSuffix(old, "\r\n") || strings.HasSuffix(fresh, "\r\n") {
		return nil, invalid(s.at+1, adviceCRLF, "its own lines end in CR LF")
	}
	var okOld, okNew bool
	h.old, okOld = name(old)
	if h.new, okNew = name(fresh); !okOld || !okNew || fresh == s.peek(1) {
		return nil, invalid(s.at+1, adviceName, "the names of the file cannot be read")
	}
	s.at += 2
	return h, nil
}

// extended parses a line that git writes between "diff --git" and the names.
func (h *header) extended(line string, at int) error {
	mode := ""
	if fields := strings.Fields(line); len(fields) > 2 {
		mode = fields[len(fields)-1]
	}
	switch r := find(line, gitLines); {
	case strings.HasSuffix(line, "\r\n"):
		return invalid(at, adviceCRLF, "its own lines end in CR LF")
	case r != nil:
		return invalid(at, r.advice, "%s", r.message)
	case mode == "120000", mode == "160000":
		return invalid(at, adviceText, "a patch cannot change a symbolic link or a submodule here")
	case strings.HasPrefix(line, "new file mode ") && mode != "100644":
		return invalid(at, "Give the new file the mode 100644.", "a patch cannot set the mode of a file here")
	case strings.HasPrefix(line, "new file mode "):
		h.created = true
	case strings.HasPrefix(line, "deleted file mode "):
		h.deleted = true
	case !strings.HasPrefix(line, "index "):
		return invalid(at, adviceFormat, "not a git header line")
	}
	return nil
}

// body reads the hunks of a file.
func (s *scanner) body(h *header, f *File) error {
	if !s.begins("@@") {
		return s.bodyless(h, f)
	}
	hunks, err := s.parse()
	if err != nil {
		return err
	}
	var next int64               // the first old line after the previous hunk
	var oldEnds, newEnds bool    // no further line may follow on this side
	for i, hunk := range hunks { // s.at is at its header
		if err := s.check(f.Kind, i+1, hunk, next); err != nil {
			return err
		}
		next = hunk.OldPosition + hunk.OldLines
		f.Added, f.Removed = f.Added+int(hunk.LinesAdded), f.Removed+int(hunk.LinesDeleted)
		s.at++
		for _, line := range hunk.Lines {
			if line.Old() && oldEnds || line.New() && newEnds || s.begins(`\`) { // the library ignores a second mark
				return invalid(s.at+1, adviceCounts, "lines follow in hunk %d on one that is said to end the file", i+1)
			}
			s.at++
			if line.NoEOL() { // the next line of the patch says so
				s.at++
				oldEnds, newEnds = oldEnds || line.Old(), newEnds || line.New()
			}
		}
	}
	f.hunks, f.ends = hunks, newEnds
	return nil
}

// parse returns the hunks that begin at the next line. The library checks their counts and the first character of each line.
func (s *scanner) parse() ([]*gitdiff.TextFragment, error) {
	end := s.at
	for end < len(s.lines) && !strings.HasPrefix(s.lines[end], "diff ") { // other files of a plain diff are parsed too
		end++
	}
	parsed, _, err := gitdiff.Parse(strings.NewReader("--- x\n+++ x\n" + strings.Join(s.lines[s.at:end], "")))
	if len(parsed) > 0 && len(parsed[0].TextFragments) > 0 {
		return parsed[0].TextFragments, nil // an error is that of a later file
	}
	line := 3
	reason := "a header has no line numbers in the form -START,COUNT +START,COUNT"
	if err != nil {
		place, text, _ := strings.Cut(strings.TrimPrefix(err.Error(), "gitdiff: line "), ": ")
		if at, err := strconv.Atoi(place); err == nil {
			line = at
		}
		if !strings.HasPrefix(text, "invalid fragment header") { // those repeat it
			reason = text
		}
	}
	return nil, invalid(s.at+line-2, adviceHunk, "the hunks cannot be read: %s", reason)
}

// maxLine is the largest line number in the header of a hunk.
const maxLine = 99_999_999

// check checks what the library does not.
func (s *scanner) check(kind Kind, number int, hunk *gitdiff.TextFragment, next int64) error {
	first, start := s.at+1, hunk.OldPosition
	s.hunks++
	switch {
	case s.hunks > MaxHunks:
		return invalid(first, adviceSplit, "it has more than %d hunks", MaxHunks)
	case strings.HasSuffix(s.peek(0), "\r\n"):
		return invalid(first, adviceCRLF, "its own lines end in CR LF")
	case min(start, hunk.NewPosition) < 0, max(start, hunk.NewPosition) > maxLine:
		return invalid(first, adviceHeader, "the line numbers of hunk %d are out of range", number)
	case hunk.OldLines > 0 && start == 0, number > 1 && start < next:
		return invalid(first, "Put the hunks of a file in the order of its lines, and let none overlap.", "hunk %d begins at line %d, before the end of the previous hunk", number, start)
	case hunk.OldLines == 0 && start > 0:
		return invalid(first, "Give at least one line of context, so that the place can be checked.", "hunk %d inserts lines without any context", number)
	case kind == Create && hunk.OldLines > 0:
		return invalid(first, adviceName, "hunk %d creates a file, and has lines of an old one", number)
	case kind == Delete && hunk.NewLines > 0:
		return invalid(first, adviceName, "hunk %d deletes a file, and has lines of a new one", number)
	}
	return nil
}

// bodyless handles a file without hunks. Only an empty file can be created or deleted without hunks.
func (s *scanner) bodyless(h *header, f *File) error {
	if h.old != "" {
		return invalid(s.at+1, adviceHeader, "the names of the file are not followed by the header of a hunk")
	}
	if f.Kind == Change {
		return invalid(h.line, adviceFormat, "the file is named, but nothing is changed in it")
	}
	return nil
}
