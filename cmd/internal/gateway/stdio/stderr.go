package stdio

import (
	"bytes"
	"io"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/internal/limits"
	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/internal/tail"
)

// stderrTail copies a server's standard error and keeps the end of it, which explains why the server ended.
type stderrTail struct {
	to      io.Writer             // may be nil
	redact  bool                  // redact the output line by line
	secrets *gateway.SecretFilter // secrets that the server was started with

	kept tail.Tail // the last bytes, unchanged
	line []byte    // the incomplete last line, if redacting
}

const (
	// keptBytes exceeds shownBytes, so that a secret at the cut is still recognised.
	keptBytes = 16 << 10
	// shownBytes bounds the part of the tail that an error shows. It is the limit for one text of an error: a longer one would
	// lose its end, which is the most useful part.
	shownBytes = min(limits.Text, limits.Cause)
	// maxStderrLine bounds the part of a line that is buffered before it is redacted and written.
	maxStderrLine = 64 << 10
)

// drain copies until the server closes its end. If the writer fails, the output is discarded, so that the server is not blocked.
func (t *stderrTail) drain(r io.Reader) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := r.Read(buffer)
		t.take(buffer[:n])
		if err != nil {
			t.pass(t.line, true)
			return
		}
	}
}

func (t *stderrTail) take(b []byte) {
	_, _ = t.kept.Write(b)
	if !t.redact {
		t.pass(b, false)
		return
	}
	t.line = append(t.line, b...)
	if end := bytes.LastIndexByte(t.line, '\n') + 1; end > 0 {
		t.pass(t.line[:end], true)
		t.line = append(t.line[:0], t.line[end:]...)
	}
	if len(t.line) > maxStderrLine {
		t.pass(t.line, true)
		t.line = t.line[:0]
	}
}

func (t *stderrTail) pass(b []byte, clean bool) {
	if t.to == nil || len(b) == 0 {
		return
	}
	if clean { // the operator needs the paths
		b = redact.Policy{KeepPaths: true}.Bytes(t.secrets.Redact(b))
	}
	if _, err := t.to.Write(b); err != nil {
		t.to = nil
	}
}

// text returns the redacted end of the output, starting at the beginning of a line.
func (t *stderrTail) text() string {
	kept, cut := t.kept.Text()
	if cut { // the first line is cut, and a truncated secret might not be recognised
		kept = kept[strings.IndexAny(kept, "\n ")+1:]
	}
	clean := redact.Bytes(t.secrets.Redact([]byte(kept)))
	if extra := len(clean) - shownBytes; extra > 0 {
		clean = clean[extra:]
		clean = clean[bytes.IndexByte(clean, '\n')+1:]
	}
	return string(bytes.TrimSpace(clean))
}

// withoutFrames removes stack frames from a text. The error message of a crash helps the client; its source locations do not, and
// the operator finds them in the server's standard error.
func withoutFrames(text string) string {
	var kept []string
	dump := false // in a Go goroutine dump, whose frames follow a known line
	for line := range strings.Lines(text) {
		dump = strings.HasPrefix(line, "goroutine ") || dump && (line[0] == '\t' || strings.Contains(line, "(") || strings.HasPrefix(line, "created by "))
		if !dump && !redact.Frame(strings.TrimRight(line, "\r\n")) {
			kept = append(kept, line)
		}
	}
	return strings.TrimSpace(strings.Join(kept, ""))
}
