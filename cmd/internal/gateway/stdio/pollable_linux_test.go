package stdio

import (
	"errors"
	"io"
	"os"
	"syscall"
	"testing"
	"time"
)

func TestReadOfABlockingPipeCanBeInterrupted(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // nothing is written to it
	fd, err := syscall.Dup(int(r.Fd()))
	if err != nil || syscall.SetNonblock(fd, false) != nil {
		t.Fatal(err)
	}
	stdin := os.NewFile(uintptr(fd), "stdin")
	defer stdin.Close() //nolint:errcheck // nothing is written to it
	if stdin.SetReadDeadline(time.Now()) == nil {
		t.Fatal("the pipe does not block, so there is nothing to see")
	}
	in, done := pollable(stdin)
	defer done()
	f, ok := in.(*os.File)
	if !ok || f.SetReadDeadline(time.Now()) != nil {
		t.Fatal("a read of it cannot be called off")
	}
	if _, err := f.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a read was not called off: %v", err)
	}
	if err := errors.Join(f.SetReadDeadline(time.Time{}), say(w, "all of it")); err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(in); string(text) != "all of it" || err != nil {
		t.Errorf("%q was read, %v", text, err)
	}
}

func say(w *os.File, text string) error {
	_, err := w.WriteString(text)
	return errors.Join(err, w.Close())
}
