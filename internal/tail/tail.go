// Package tail keeps the end of a stream, such as a process's standard error.
package tail

import "sync"

// Tail is an [io.Writer] that keeps the last N bytes written to it. It is safe for concurrent use.
type Tail struct {
	N int

	mu   sync.Mutex
	kept []byte // guarded by mu; up to 2N bytes, so that a write rarely moves them
	cut  bool   // guarded by mu
}

// Write never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p[max(0, len(p)-t.N):]...)
	t.cut = t.cut || len(p) > t.N
	if len(t.kept) > 2*t.N {
		t.trim()
	}
	return len(p), nil
}

// trim drops all but the last N bytes. It needs mu.
func (t *Tail) trim() {
	if extra := len(t.kept) - t.N; extra > 0 {
		t.kept, t.cut = append(t.kept[:0], t.kept[extra:]...), true
	}
}

// Text returns the kept bytes, and whether earlier ones were dropped.
func (t *Tail) Text() (text string, cut bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.trim()
	return string(t.kept), t.cut
}

// String returns the kept bytes.
func (t *Tail) String() string {
	text, _ := t.Text()
	return text
}

// Take is [Tail.Text], and empties t.
func (t *Tail) Take() (text string, cut bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.trim()
	text, cut = string(t.kept), t.cut
	t.kept, t.cut = t.kept[:0], false
	return text, cut
}
