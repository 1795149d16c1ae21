package ledger

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const (
	originPrefix = "candor-ledger/"
	noteBorder   = "---"
	maxNote      = 16 << 10
)

// statement is what a signed checkpoint says.
type statement struct {
	text   string // as it was signed, with the signatures
	chain  string
	size   int64
	root   tlog.Hash
	last   Digest
	time   string
	file   string
	offset int64
}

// flawed is a checkpoint that cannot be believed.
type flawed struct {
	kind HarmKind
	why  string
}

// readStatement checks the signature and reads the five lines.
func readStatement(text string, keys note.Verifiers) (statement, *flawed) {
	opened, err := note.Open([]byte(text), keys)
	var unknown *note.UnverifiedNoteError
	switch {
	case errors.As(err, &unknown):
		return statement{}, &flawed{HarmUnknownKey, "it is signed by a key nobody vouches for"}
	case err != nil:
		return statement{}, &flawed{HarmBadSignature, "its signature does not fit: " + err.Error()}
	case !spelledOnce(text, opened):
		return statement{}, &flawed{HarmBadSignature, "its signature is not spelled as it was written"}
	}
	s, err := parseStatement(opened.Text)
	if err != nil {
		return statement{}, &flawed{HarmBadSignature, "it is signed but no checkpoint: " + err.Error()}
	}
	s.text = text
	return s, nil
}

// spelledOnce refuses a second spelling of a signature: base64 leaves bits unused, and a reader may pass over line ends.
func spelledOnce(text string, opened *note.Note) bool {
	again := opened.Text + "\n"
	rest := strings.TrimPrefix(text, again)
	for line := range strings.Lines(rest) {
		_, digits, ok := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(line, "— "), "\n"), " ")
		raw, err := base64.StdEncoding.Strict().DecodeString(digits)
		if !ok || err != nil || base64.StdEncoding.EncodeToString(raw) != digits {
			return false
		}
	}
	return strings.HasPrefix(text, again)
}

func parseStatement(text string) (s statement, err error) {
	lines := strings.Split(text, "\n")
	if len(lines) != 6 || lines[5] != "" {
		return s, fmt.Errorf("it has %d lines instead of 5", len(lines)-1)
	}
	var ok [4]bool
	if s.chain, ok[0] = strings.CutPrefix(lines[0], originPrefix); ok[0] {
		ok[0] = isChainName(s.chain)
	}
	s.size, err = strconv.ParseInt(lines[1], 10, 64)
	ok[1] = err == nil && s.size >= 0 && strconv.FormatInt(s.size, 10) == lines[1]
	s.root, err = tlog.ParseHash(lines[2])
	ok[2] = err == nil && s.root.String() == lines[2]
	last, isLast := strings.CutPrefix(lines[3], "last ")
	ok[3] = isLast && len(last) == 2*len(s.last) && readHex(s.last[:], []byte(last))
	var isTime bool
	s.time, isTime = strings.CutPrefix(lines[4], "time ")
	for i, what := range []string{"origin", "size", "root", "last hash"} {
		if !ok[i] {
			return s, fmt.Errorf("its %s cannot be read", what)
		}
	}
	if !isTime {
		return s, errors.New("it has no time")
	}
	return s, nil
}

// noteStream gives the blocks of a file of checkpoints. Like [lineStream] it may be asked again after the end.
type noteStream struct {
	lines *lineBuffer
	file  io.Closer
	name  string
	block []byte
	start int64
	given int // bytes of block that were returned before their border was written
}

// openNotes opens a file of checkpoints; one that is not there is empty.
func openNotes(fsys fs.FS, name, shown string) (*noteStream, error) {
	file, err := openSegment(fsys, name, false)
	if errors.Is(err, fs.ErrNotExist) {
		return &noteStream{lines: newLineBuffer(strings.NewReader(""), noteBuffer), name: shown}, nil
	}
	if errors.Is(err, errCorrupt) { // harm, which its first read reports
		return &noteStream{lines: newLineBuffer(failedReader{err}, noteBuffer), name: shown}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("opening checkpoints: %w", err)
	}
	return &noteStream{lines: newLineBuffer(file, noteBuffer), file: file, name: shown}, nil
}

// failedReader returns its error from every read.
type failedReader struct{ err error }

// Read returns the error.
func (r failedReader) Read([]byte) (int, error) { return 0, r.err }

func (n *noteStream) close() error {
	if n.file == nil {
		return nil
	}
	return n.file.Close()
}

// next returns the next block and where it begins. whole says that its border was there: without it, it may still be growing.
func (n *noteStream) next() (text string, offset int64, whole bool, err error) {
	for {
		line, at, err := n.lines.next()
		if errors.Is(err, io.EOF) {
			return n.unbordered()
		}
		if err != nil {
			return "", at, false, err
		}
		if string(line) != noteBorder {
			if len(n.block) == 0 {
				n.start = at
			}
			n.block = append(append(n.block, line...), '\n')
			if len(n.block) > maxNote {
				return "", n.start, false, fmt.Errorf("%w: a checkpoint is longer than %d bytes", errCorrupt, maxNote)
			}
			continue
		}
		text, given := string(n.block), n.given
		n.block, n.given = n.block[:0], 0
		if text != "" && len(text) != given {
			return text, n.start, true, nil
		}
	}
}

// unbordered returns what stands behind the last border, once.
func (n *noteStream) unbordered() (string, int64, bool, error) {
	if len(n.block) == n.given || !strings.HasPrefix(noteBorder, string(n.lines.rest())) {
		return "", n.lines.offset, false, io.EOF
	}
	return string(n.block), n.start, false, nil
}

// accept marks a block without a border as used.
func (n *noteStream) accept() { n.given = len(n.block) }

// unsignedStatement reads a checkpoint without asking who signed it.
func unsignedStatement(text string) (statement, error) {
	body, _, ok := strings.Cut(text, "\n\n— ")
	if !ok {
		return statement{}, errors.New("it is not signed")
	}
	s, err := parseStatement(body + "\n")
	s.text = text
	return s, err
}
