// Package checkpoint reads signed checkpoints, from the file of a chain and from a witness copy. It shares no code with the writer.
package checkpoint

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

	"github.com/candor-mcp/candor/internal/segment"
	"github.com/candor-mcp/candor/internal/segment/format"
)

const (
	noteBorder = "---"
	maxNote    = 16 << 10
)

// Statement is the content of a signed checkpoint.
type Statement struct {
	Text   string // the whole note, with its signatures
	Chain  string
	Size   int64
	Root   tlog.Hash
	Last   format.Digest
	Time   string
	File   string
	Offset int64
}

// Flaw is the reason why a checkpoint is not accepted.
type Flaw struct {
	Kind   string // UnknownKey or BadSignature
	Offset int64  // of the checkpoint in its file, if known
	Why    string
}

// The kinds of flaws, named as in spec/ledger.md.
const (
	UnknownKey   = "unknown-key"
	BadSignature = "bad-signature"
)

// Read checks the signature of a checkpoint and parses its five lines.
func Read(text string, keys note.Verifiers) (Statement, *Flaw) {
	opened, err := note.Open([]byte(text), keys)
	var unknown *note.UnverifiedNoteError
	switch {
	case errors.As(err, &unknown):
		return Statement{}, &Flaw{Kind: UnknownKey, Why: "signed with an unknown key"}
	case err != nil:
		return Statement{}, &Flaw{Kind: BadSignature, Why: "invalid signature: " + err.Error()}
	case !spelledOnce(text, opened):
		return Statement{}, &Flaw{Kind: BadSignature, Why: "signature is not in canonical base64"}
	}
	s, err := parseStatement(opened.Text)
	if err != nil {
		return Statement{}, &Flaw{Kind: BadSignature, Why: "signed, but not a checkpoint: " + err.Error()}
	}
	s.Text = text
	return s, nil
}

// spelledOnce reports whether the signatures are in canonical base64. Other encodings of the same signature exist,
// because base64 leaves bits unused and decoders skip line ends.
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

func parseStatement(text string) (s Statement, err error) {
	lines := strings.Split(text, "\n")
	if len(lines) != 6 || lines[5] != "" {
		return s, fmt.Errorf("%d lines, want 5", len(lines)-1)
	}
	var ok [4]bool
	if s.Chain, ok[0] = strings.CutPrefix(lines[0], format.Origin); ok[0] {
		ok[0] = format.IsChainName(s.Chain)
	}
	s.Size, err = strconv.ParseInt(lines[1], 10, 64)
	ok[1] = err == nil && s.Size >= 0 && strconv.FormatInt(s.Size, 10) == lines[1]
	s.Root, err = tlog.ParseHash(lines[2])
	ok[2] = err == nil && s.Root.String() == lines[2]
	last, isLast := strings.CutPrefix(lines[3], "last ")
	ok[3] = isLast && len(last) == 2*len(s.Last) && format.ReadHex(s.Last[:], []byte(last))
	var isTime bool
	s.Time, isTime = strings.CutPrefix(lines[4], "time ")
	for i, what := range []string{"origin", "size", "root", "last hash"} {
		if !ok[i] {
			return s, fmt.Errorf("malformed %s", what)
		}
	}
	if !isTime {
		return s, errors.New("no time")
	}
	return s, nil
}

// Stream reads the blocks of a file of checkpoints. Like [segment.Stream] it may be read again after the end.
type Stream struct {
	lines *segment.LineBuffer
	file  io.Closer
	Name  string
	block []byte
	start int64
	given int // bytes of block that were returned before their border was written
}

// OpenStream opens a file of checkpoints. A missing file counts as empty.
func OpenStream(fsys fs.FS, name, shown string) (*Stream, error) {
	file, err := segment.OpenFile(fsys, name, false)
	if errors.Is(err, fs.ErrNotExist) {
		return &Stream{lines: segment.NewLineBuffer(strings.NewReader(""), segment.NoteBuffer), Name: shown}, nil
	}
	if errors.Is(err, segment.ErrCorrupt) { // damage, which the first read reports
		return &Stream{lines: segment.NewLineBuffer(failedReader{err}, segment.NoteBuffer), Name: shown}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("opening checkpoints: %w", err)
	}
	return &Stream{lines: segment.NewLineBuffer(file, segment.NoteBuffer), file: file, Name: shown}, nil
}

// failedReader returns its error from every read.
type failedReader struct{ err error }

// Read returns the error.
func (r failedReader) Read([]byte) (int, error) { return 0, r.err }

// Close closes the file, if one is open.
func (n *Stream) Close() error {
	if n.file == nil {
		return nil
	}
	return n.file.Close()
}

// Next returns the next block and its offset. If whole is false, the block has no border yet and may still grow.
func (n *Stream) Next() (text string, offset int64, whole bool, err error) {
	for {
		line, at, err := n.lines.Next()
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
				return "", n.start, false, fmt.Errorf("%w: a checkpoint is longer than %d bytes", segment.ErrCorrupt, maxNote)
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

// unbordered returns the bytes after the last border, once.
func (n *Stream) unbordered() (string, int64, bool, error) {
	if len(n.block) == n.given || !strings.HasPrefix(noteBorder, string(n.lines.Rest())) {
		return "", n.lines.Offset, false, io.EOF
	}
	return string(n.block), n.start, false, nil
}

// Accept marks a block without a border as read.
func (n *Stream) Accept() { n.given = len(n.block) }

// ReadUnsigned parses a checkpoint without checking its signature.
func ReadUnsigned(text string) (Statement, error) {
	body, _, ok := strings.Cut(text, "\n\n— ")
	if !ok {
		return Statement{}, errors.New("not signed")
	}
	s, err := parseStatement(body + "\n")
	s.Text = text
	return s, err
}

// Verifiers parses verifier lines and ignores duplicates.
func Verifiers(lines []string) (note.Verifiers, error) {
	var list []note.Verifier
	seen := map[string]bool{}
	for _, line := range lines {
		if line = strings.TrimSpace(line); line == "" || seen[line] {
			continue
		}
		seen[line] = true
		verifier, err := note.NewVerifier(line)
		if err != nil {
			return nil, fmt.Errorf("reading a public key: %w", err)
		}
		list = append(list, verifier)
	}
	return note.VerifierList(list...), nil
}

// KeyLines splits the text of a key file into keys, one per line. It ignores blank lines and lines that begin with #.
func KeyLines(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}
