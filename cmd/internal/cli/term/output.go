package term

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// MarshalJSON is json.Marshal without the escapes that only a page of HTML needs.
func MarshalJSON(v any) ([]byte, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return []byte(strings.TrimSuffix(b.String(), "\n")), err
}

func WriteJSONLine(w io.Writer, v any) error {
	data, err := MarshalJSON(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(data, '\n'))
	return err
}

// WriteFileOrOutput writes to standard output, or to a new file that only its owner may read: entries are nobody else's business.
func WriteFileOrOutput(env *Env, name string, write func(io.Writer) error) error {
	if name == "" {
		return write(env.Out)
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return BadInput("choose another name, or remove it first", "%s is there already", name)
	}
	if err != nil {
		return BadInput("choose a place that can be written", "%s", err)
	}
	buffered := bufio.NewWriterSize(file, 64<<10)
	err = write(buffered)
	if err = errors.Join(err, buffered.Flush(), file.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

// Output is a buffered output that remembers its first failure, so that a line may be printed without asking each time.
type Output struct {
	To   io.Writer // what buf writes to
	buf  *bufio.Writer
	lazy bool // nobody waits for single lines
	err  error
}

func NewOutput(w io.Writer, lazy bool) *Output {
	return &Output{To: w, buf: bufio.NewWriterSize(w, 64<<10), lazy: lazy}
}

// Write buffers p. After a failure it does nothing but repeat it.
func (s *Output) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.buf.Write(p)
	s.err = err
	return n, err
}

// Flush sends what is buffered and returns the first failure of all.
func (s *Output) Flush() error {
	if s.err == nil {
		s.err = s.buf.Flush()
	}
	return s.err
}

// LineEnd ends a record: who reads along, on a terminal or behind a pipe, sees it now.
func (s *Output) LineEnd() error {
	if s.lazy {
		return s.err
	}
	return s.Flush()
}

// Unbuffered sends each write on its way: somebody waits for it.
type Unbuffered struct{ To *Output }

func (a Unbuffered) Write(p []byte) (int, error) {
	n, err := a.To.Write(p)
	if err == nil {
		err = a.To.Flush()
	}
	return n, err
}
