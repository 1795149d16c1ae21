package asyncwriter_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/asyncwriter"
	"github.com/candor-mcp/candor/internal/testing/wait"
)

func notice(writes, size int) []byte {
	return fmt.Appendf(nil, "dropped %d writes, %d bytes\n", writes, size)
}

func TestWritesPassInOrder(t *testing.T) {
	var out bytes.Buffer
	a := asyncwriter.New(&out, 1<<20, notice)
	var want strings.Builder
	for i := range 1000 {
		fmt.Fprintf(a, "line %d\n", i)
		fmt.Fprintf(&want, "line %d\n", i)
	}
	if !a.Close(time.Minute) {
		t.Fatal("not everything was written")
	}
	if out.String() != want.String() {
		t.Errorf("wrote %d bytes, want %d", out.Len(), want.Len())
	}
	if _, err := a.Write([]byte("late")); err == nil {
		t.Error("a closed writer takes more")
	}
}

// TestWriteDoesNotBlock stalls the reader of a pipe, then reads on and expects a notice instead of the dropped writes.
func TestWriteDoesNotBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		a := asyncwriter.New(w, 100, notice)
		for range 50 {
			if n, err := a.Write([]byte("0123456789")); n != 10 || err != nil {
				t.Fatal(n, err)
			}
			synctest.Wait()
		}
		var text bytes.Buffer
		var all sync.WaitGroup
		all.Go(func() { _, _ = io.Copy(&text, r) })
		synctest.Wait()
		fmt.Fprint(a, "and after it")
		if !a.Close(time.Second) {
			t.Error("not everything was written")
		}
		_ = w.Close()
		all.Wait()
		if want := strings.Repeat("0123456789", 11) + "dropped 39 writes, 390 bytes\nand after it"; text.String() != want {
			t.Errorf("wrote %q, want %q", text.String(), want)
		}
	})
}

func TestCloseIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		a := asyncwriter.New(w, 100, notice)
		fmt.Fprint(a, "text")
		if a.Close(time.Second) {
			t.Error("all was written, though nothing reads")
		}
		_ = r.Close() // unblocks the goroutine
	})
}

func TestFirstErrorIsReturned(t *testing.T) {
	broken := errors.New("broken")
	r, w := io.Pipe()
	_ = r.CloseWithError(broken)
	a := asyncwriter.New(w, 100, notice)
	fmt.Fprint(a, "text")
	wait.Until(t, "the error", func() bool {
		_, err := a.Write([]byte("more"))
		return errors.Is(err, broken)
	})
	if !a.Close(time.Minute) {
		t.Error("the goroutine has not ended")
	}
}
