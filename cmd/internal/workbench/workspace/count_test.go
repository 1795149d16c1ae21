package workspace

import (
	"context"
	"fmt"
	"testing"

	"github.com/candor-mcp/candor"
)

// TestFilesIsBounded checks that folders count like files and that the files of git come last.
func TestFilesIsBounded(t *testing.T) {
	b := newBench(t, Options{})
	for _, name := range []string{".git/objects/aa/1", ".git/objects/bb/2", "a/one", "b/c/two", "three"} {
		b.put(name, "x")
	}
	b.symlink("three", "near")
	for most, want := range map[int]string{
		0:  "[] true",
		1:  "[] true", // a
		2:  "[a/one] true",
		4:  "[a/one] true", // b, b/c
		5:  "[a/one b/c/two] true",
		7:  "[a/one b/c/two three] true",
		12: "[a/one b/c/two three .git/objects/aa/1] true",
		13: "[a/one b/c/two three .git/objects/aa/1 .git/objects/bb/2] false",
	} {
		names, more, err := b.folder.Files(context.Background(), most)
		b.must(err)
		if got := fmt.Sprint(names, more); got != want {
			t.Errorf("of %d names: %s, not %s", most, got, want)
		}
	}
	_, _, err := b.folder.Files(&shortly{context.Background(), 3}, 100)
	b.refuses(err, candor.CodeCancelled)
}
