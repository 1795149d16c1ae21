package term

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// MarshalJSON is [json.Marshal] without HTML escapes.
func MarshalJSON(v any) ([]byte, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return []byte(strings.TrimSuffix(b.String(), "\n")), err
}

// WriteJSONLine writes v as one line of JSON.
func WriteJSONLine(w io.Writer, v any) error {
	data, err := MarshalJSON(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(data, '\n'))
	return err
}

// WriteReport writes what a command has found: as one line of JSON, or with text for people. The error is that to exit with, which is
// [Found] if ok is false.
func WriteReport(env *Env, asJSON bool, report any, ok bool, text func()) error {
	if !asJSON {
		text()
	} else if err := WriteJSONLine(env.Out, report); err != nil {
		return err
	}
	if !ok {
		return Found()
	}
	return nil
}

// WriteFileOrOutput calls write with a new file that only its owner may read, or with standard output if name is empty. The file gets its
// name when it is complete and on the disk, so that nothing can take a part of it for the whole.
func WriteFileOrOutput(env *Env, name string, write func(io.Writer) error) error {
	if name == "" {
		return write(env.Out)
	}
	if _, err := os.Lstat(name); err == nil {
		return alreadyExists(name)
	}
	file, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*.tmp") // with mode 0600
	if err != nil {
		return BadInput("choose a file that can be written", "%s", err)
	}
	defer os.Remove(file.Name()) //nolint:errcheck // after a success the name is gone
	buffered := bufio.NewWriterSize(file, 64<<10)
	err = write(buffered)
	if err = errors.Join(err, buffered.Flush()); err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		if own, ok := errors.AsType[*Error](err); ok {
			return own
		}
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return publish(file.Name(), name)
}

// publish gives a complete file its name, and keeps a file that has got this name in the meantime. Where the file system has no hard
// links, it is renamed.
func publish(temporary, name string) error {
	err := os.Link(temporary, name)
	if errors.Is(err, os.ErrExist) {
		return alreadyExists(name)
	}
	if err != nil {
		err = os.Rename(temporary, name)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

func alreadyExists(name string) error {
	return BadInput("choose another name, or remove the file first", "%s: already exists", name)
}

// Output is a buffered writer that keeps its first error, so that callers need not check each write.
type Output struct {
	To   io.Writer // unbuffered
	buf  *bufio.Writer
	lazy bool // EndLine does not flush
	err  error
}

// NewOutput returns an Output to w. If lazy is set, EndLine does not flush, which is suitable for a regular file.
func NewOutput(w io.Writer, lazy bool) *Output {
	return &Output{To: w, buf: bufio.NewWriterSize(w, 64<<10), lazy: lazy}
}

// Write buffers p. After an error it returns that error.
func (o *Output) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.buf.Write(p)
	o.err = err
	return n, err
}

// Flush writes the buffer and returns the first error.
func (o *Output) Flush() error {
	if o.err == nil {
		o.err = o.buf.Flush()
	}
	return o.err
}

// EndLine flushes after a line, so that a reader at a terminal or a pipe sees it at once.
func (o *Output) EndLine() error {
	if o.lazy {
		return o.err
	}
	return o.Flush()
}

// Unbuffered flushes after each write.
type Unbuffered struct{ To *Output }

// Write implements [io.Writer].
func (a Unbuffered) Write(p []byte) (int, error) {
	n, err := a.To.Write(p)
	if err == nil {
		err = a.To.Flush()
	}
	return n, err
}
