package decodecmd

import (
	"io"
	"strings"
	"testing"
)

func TestLinesAreBounded(t *testing.T) {
	text := "\ufeff" + strings.Repeat("x", maxLine-3) + "\r\n\n \n" + strings.Repeat("y", maxLine+1) + "\nz"
	want := []line{{number: 1}, {number: 4, tooLong: true}, {number: 5}}
	input := source{open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
	_, err := input.eachLine(func(got line) error {
		if len(want) == 0 || got.number != want[0].number || got.tooLong != want[0].tooLong {
			t.Fatalf("line %d, %v, want %v", got.number, got.tooLong, want)
		}
		if got.tooLong && len(got.bytes) != 4096 {
			t.Errorf("%d bytes kept", len(got.bytes))
		}
		want = want[1:]
		return nil
	})
	if err != nil || len(want) > 0 {
		t.Errorf("missing %v, %v", want, err)
	}
}
