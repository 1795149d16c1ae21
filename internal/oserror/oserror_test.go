package oserror_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"testing"

	"github.com/candor-mcp/candor/internal/oserror"
)

// TestClosedPipeIsRecognised compares with what the system returns, because its numbers differ.
func TestClosedPipeIsRecognised(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = w.WriteString("x")
	if !oserror.IsClosedPipe(fmt.Errorf("writing: %w", err)) {
		t.Errorf("not recognised: %#v", err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

func TestRefusedConnectionIsRecognised(t *testing.T) {
	t.Parallel()
	_, err := net.Dial("tcp", "127.0.0.1:1") // another program may listen on a port that was closed
	if !oserror.IsRefused(err) {
		t.Errorf("not recognised: %#v", err)
	}
}

func TestOtherErrorsAreNot(t *testing.T) {
	t.Parallel()
	_, missing := os.Open("missing")
	for _, err := range []error{nil, io.EOF, missing, errors.New("disk full")} {
		if oserror.IsFull(err) || oserror.IsClosedPipe(err) || oserror.IsReset(err) || oserror.IsRefused(err) {
			t.Errorf("recognised: %v", err)
		}
	}
}
