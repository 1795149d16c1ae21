package patch

import (
	"strconv"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"github.com/candor-mcp/candor/internal/lazyregexp"
)

// scanner splits a patch into files and hunks, and refuses lines that the library would ignore.
type scanner struct {
	lines []string // each with its line end
	at    int      // index of the next line
	hunks int
	files []File
	seen  map[string]bool
	// anyName accepts two different names of a changed file, because the caller knows the file.
	anyName bool
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
		return invalid(s.at+1, "Send the text between the Markdown fences, without the fences.", "there is a Markdown fence in it")
	case strings.ContainsRune("+- \\", rune(line[0])):
		return invalid(s.at+1, adviceCounts, "there are more lines than the header of hunk %d counts", s.hunks)
	case strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "Index: "), strings.HasPrefix(line, "===="):
		return nil
	}
	return invalid(s.at+1, "Leave out what is not part of the patch.", "the line belongs to no file")
}

func (s *scanner) file() error {
	if len(s.files) == MaxFiles {
		return invalid(s.at+1, "Split the change into several smaller patches.", "it changes more than %d files", MaxFiles)
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
	h := &header{line: s.at + 1, anyName: s.anyName}
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
	h.created, h.deleted = h.created || epoch(old), h.deleted || epoch(fresh)
	s.at += 2
	return h, nil
}

// extended parses a line that git writes between "diff --git" and the names.
func (h *header) extended(line string, at int) error {
	word := func(prefix string) bool { return strings.HasPrefix(line, prefix) }
	mode := ""
	if fields := strings.Fields(line); len(fields) > 2 {
		mode = fields[len(fields)-1]
	}
	switch {
	case strings.HasSuffix(line, "\r\n"):
		return invalid(at, adviceCRLF, "its own lines end in CR LF")
	case word("rename "), word("similarity index "), word("dissimilarity index "):
		return invalid(at, "Rename the file with move_file, then patch it under its new name; or create the new file and delete the old one in one patch.", "a patch cannot rename a file here")
	case word("copy "):
		return invalid(at, "Create the new file with its whole content.", "a patch cannot copy a file here")
	case word("GIT binary patch"), word("Binary files "):
		return invalid(at, adviceText, "a patch cannot change a binary file here")
	case mode == "120000":
		return invalid(at, adviceText, "a patch cannot change a symbolic link here")
	case mode == "160000":
		return invalid(at, adviceText, "a patch cannot change a submodule here")
	case word("old mode "), word("new mode "):
		return invalid(at, "Leave out the lines with modes, and use set_executable for the executable bit.", "a patch cannot set the mode of a file here")
	case word("new file mode ") && mode != "100644":
		return invalid(at, "Give the new file the mode 100644, and use set_executable for the executable bit.", "a patch cannot set the mode of a file here")
	case word("new file mode "):
		h.created = true
	case word("deleted file mode "):
		h.deleted = true
	case word("index "):
	default:
		return invalid(at, adviceFormat, "not a git header line")
	}
	return nil
}

// body reads the hunks of a file.
func (s *scanner) body(h *header, f *File) error {
	start, b := s.at, body{file: f}
	for s.begins("@@") {
		if s.hunks++; s.hunks > MaxHunks {
			return invalid(s.at+1, "Split the change into several smaller patches.", "it has more than %d hunks", MaxHunks)
		}
		b.number++
		if err := s.hunk(&b); err != nil {
			return err
		}
	}
	if b.number == 0 {
		return s.bodyless(h, f)
	}
	parsed, _, err := gitdiff.Parse(strings.NewReader("--- x\n+++ x\n" + strings.Join(s.lines[start:s.at], "")))
	if err != nil || len(parsed) != 1 || len(parsed[0].TextFragments) != b.number {
		return invalid(start+1, adviceFormat, "the hunks cannot be read")
	}
	f.hunks, f.ends = parsed[0].TextFragments, b.newEnds
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

// body is the state that is checked across all hunks of a file.
type body struct {
	file             *File
	number           int  // number of the hunk, from 1
	next             int  // the first old line after the previous hunk
	oldEnds, newEnds bool // no further line may follow on this side
}

var hunkForm = lazyregexp.New(`^@@ -([0-9]{1,8})(?:,([0-9]{1,8}))? \+([0-9]{1,8})(?:,([0-9]{1,8}))? @@`)

// hunk reads one hunk and counts its lines.
func (s *scanner) hunk(b *body) error {
	first := s.at + 1
	parts := hunkForm.FindStringSubmatch(s.peek(0))
	if parts == nil {
		return invalid(first, adviceHeader, "the header of hunk %d has no line numbers in the form -START,COUNT +START,COUNT", b.number)
	}
	if strings.HasSuffix(s.peek(0), "\r\n") {
		return invalid(first, adviceCRLF, "its own lines end in CR LF")
	}
	start, old, fresh := number(parts[1]), count(parts[2]), count(parts[4])
	switch {
	case old > 0 && start == 0, b.number > 1 && start < b.next:
		return invalid(first, "Put the hunks of a file in the order of its lines, and let none overlap.", "hunk %d begins at line %d, before the end of the previous hunk", b.number, start)
	case old == 0 && start > 0:
		return invalid(first, "Give at least one line of context, so that the place can be checked.", "hunk %d inserts lines without any context", b.number)
	case b.file.Kind == Create && old > 0:
		return invalid(first, adviceName, "hunk %d creates a file, and has lines of an old one", b.number)
	case b.file.Kind == Delete && fresh > 0:
		return invalid(first, adviceName, "hunk %d deletes a file, and has lines of a new one", b.number)
	}
	b.next = start + old
	added, removed := b.file.Added, b.file.Removed
	for s.at++; old > 0 || fresh > 0; s.at++ {
		if err := s.line(b, &old, &fresh); err != nil {
			return err
		}
	}
	if strings.HasPrefix(s.peek(0), `\ `) {
		b.end(s.lines[s.at-1][0])
		s.at++
	}
	if b.file.Added == added && b.file.Removed == removed {
		return invalid(first, "Leave out hunks that change nothing.", "hunk %d changes nothing", b.number)
	}
	return nil
}

// line counts one line of a hunk.
func (s *scanner) line(b *body, old, fresh *int) error {
	text := s.peek(0)
	if text == "" {
		return invalid(s.at, adviceCounts, "hunk %d ends early: its header counts %d more old and %d more new lines", b.number, max(*old, 0), max(*fresh, 0))
	}
	op := text[0]
	if op == '\n' {
		op = ' ' // an editor has removed the blank of an empty line
	}
	switch op {
	case '\\':
		if s.peek(0)[1] != ' ' || len(text) < len(`\ No newline`) {
			break
		}
		b.end(s.lines[s.at-1][0])
		return nil
	case '+':
		*fresh--
		b.file.Added++
	case '-':
		*old--
		b.file.Removed++
	case ' ':
		*old--
		*fresh--
	}
	switch {
	case !strings.ContainsRune("+- \\", rune(op)), op == '\\':
		return invalid(s.at+1, adviceCounts, "a line of hunk %d begins neither with a blank nor with a minus or a plus, and its header counts %d more old and %d more new lines", b.number, max(*old, 0), max(*fresh, 0))
	case *old < 0, *fresh < 0:
		return invalid(s.at+1, adviceCounts, "the header of hunk %d counts fewer lines than it has", b.number)
	case op != '+' && b.oldEnds, op != '-' && b.newEnds:
		return invalid(s.at+1, adviceCounts, "lines follow in hunk %d on one that is said to end the file", b.number)
	}
	return nil
}

// end records that a line is the last of its side, because it lacks a line end.
func (b *body) end(op byte) {
	b.oldEnds = b.oldEnds || op != '+'
	b.newEnds = b.newEnds || op != '-'
}

func number(digits string) int {
	n, _ := strconv.Atoi(digits) // the pattern admits digits only
	return n
}

func count(digits string) int {
	if digits == "" {
		return 1
	}
	return number(digits)
}
