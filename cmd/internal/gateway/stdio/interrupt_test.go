package stdio

import (
	"io"
	"testing"
	"testing/synctest"
)

// TestHandOverIsInterrupted checks that a writer without deadlines does not block its caller.
func TestHandOverIsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		out := interruptible(w)
		done := make(chan error)
		go func() {
			_, err := out.Write([]byte("not read"))
			done <- err
		}()
		synctest.Wait()
		out.interrupt()
		if err := <-done; err == nil {
			t.Error("the write succeeded")
		}
		if _, err := out.Write([]byte("later")); err == nil {
			t.Error("a later write succeeded")
		}
		out.release()
		_ = r.Close()
	})
}
