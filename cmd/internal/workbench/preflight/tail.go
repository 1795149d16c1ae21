package preflight

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/candor-mcp/candor/internal/redact"
)

// tail is a writer that keeps the end of its input.
type tail struct {
	most int

	mu   sync.Mutex
	kept []byte // guarded by mu; at most twice the size of most
	lost bool   // guarded by mu
}

// Write never fails, so a command is not stopped by its amount of output.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(b)
	if len(b) > t.most {
		b, t.lost = b[len(b)-t.most:], true
	}
	t.kept = append(t.kept, b...)
	if over := len(t.kept) - t.most; over > t.most {
		t.kept, t.lost = append(t.kept[:0], t.kept[over:]...), true
	}
	return n, nil
}

// String returns the end as clean text without secrets. A line that was cut is dropped, because part of a secret cannot
// be recognized.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept, lost := t.kept, t.lost
	if over := len(kept) - t.most; over > 0 {
		kept, lost = kept[over:], true
	}
	text := string(kept)
	if lost {
		_, text, _ = strings.Cut(text, "\n")
		text = "…\n" + text
	}
	return redact.Text(text)
}

// last returns the end of a clean text, in whole lines if possible.
func last(text string, most int) string {
	if len(text) <= most {
		return text
	}
	text = text[len(text)-most+len("…\n"):]
	if _, rest, ok := strings.Cut(text, "\n"); ok {
		return "…\n" + rest
	}
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return "…" + text
}
