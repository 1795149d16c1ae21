package tail_test

import (
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/tail"
)

func TestTailKeepsTheLastBytes(t *testing.T) {
	all := strings.Repeat("0123456789", 20)
	for _, size := range []int{1, 3, 7, 8, 9, 17, 200} {
		kept := &tail.Tail{N: 8}
		for at := 0; at < len(all); at += size {
			piece := all[at:min(at+size, len(all))]
			if n, err := kept.Write([]byte(piece)); n != len(piece) || err != nil {
				t.Fatal(n, err)
			}
			read := all[:at+len(piece)]
			text, cut := kept.Text()
			if text != read[max(0, len(read)-8):] || cut != (len(read) > 8) {
				t.Errorf("pieces of %d: after %d bytes %q, cut %t", size, len(read), text, cut)
			}
		}
	}
}

func TestTakeEmptiesTheTail(t *testing.T) {
	kept := &tail.Tail{N: 4}
	_, _ = kept.Write([]byte("abcdef"))
	if text, cut := kept.Take(); text != "cdef" || !cut {
		t.Error(text, cut)
	}
	if text, cut := kept.Text(); text != "" || cut {
		t.Error(text, cut)
	}
}
