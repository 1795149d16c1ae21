//go:build unix

package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
)

func TestListingIsSortedWithKinds(t *testing.T) {
	b := newBench(t, Options{})
	b.put("b.txt", "12345")
	b.put("a/x/y/z/deep.txt", "1")
	b.symlink("../outside", "door")
	b.symlink("a/x", "inside")
	b.must(syscall.Mkfifo(filepath.Join(b.in, "fifo"), 0o644))
	show := func(name string, depth int) (shown []string) {
		items, truncated, err := b.folder.List(b.path(name), depth)
		b.must(err)
		if truncated {
			t.Error("truncated")
		}
		for _, i := range items {
			shown = append(shown, fmt.Sprint(i.Path, " ", i.Kind, " ", i.Size))
		}
		return shown
	}
	if got, want := show(".", 1), []string{"a folder 0", "b.txt file 5", "door link 0", "fifo other 0", "inside link 0"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if got, want := show("a", 4), []string{"a/x folder 0", "a/x/y folder 0", "a/x/y/z folder 0", "a/x/y/z/deep.txt file 1"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if got, want := show("a", 2), []string{"a/x folder 0", "a/x/y folder 0"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if got, want := show("inside", 1), []string{"inside/y folder 0"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestListErrors(t *testing.T) {
	b := newBench(t, Options{})
	b.put("file", "x")
	b.put("blind/file", "x")
	b.must(os.Chmod(filepath.Join(b.in, "blind"), 0o300))
	b.symlink("../outside", "door")
	for name, want := range map[string]candor.Code{
		"none": kaiza.PathNotFound, "none/x": kaiza.PathNotFound, "file": kaiza.InvalidPath,
		"file/x": kaiza.PathNotFound, "door": kaiza.OutsideWorkspace, "blind": kaiza.InsufficientPermissions,
	} {
		_, _, err := b.folder.List(b.path(name), 1)
		if candor.CodeOf(err) != want {
			t.Errorf("%s: %v, want %v", name, err, want)
			continue
		}
		b.refuses(err, want)
	}
	for _, depth := range []int{0, -1, 5} {
		_, _, err := b.folder.List(Path{}, depth)
		b.refuses(err, kaiza.InvalidInputValue)
	}
}

func TestALongListingIsCutAndSaysSo(t *testing.T) {
	b := newBench(t, Options{})
	for i := range MaxItems {
		b.put(fmt.Sprintf("f%04d", i), "")
	}
	items, truncated, err := b.folder.List(Path{}, 1)
	if err != nil || truncated || len(items) != MaxItems {
		t.Errorf("%d items, truncated %v, %v", len(items), truncated, err)
	}
	b.put("a/deep", "")
	items, truncated, err = b.folder.List(Path{}, 4)
	if err != nil || !truncated || len(items) != MaxItems || items[0].Path.String() != "a" || items[1].Path.String() != "f0000" {
		t.Errorf("%d items, truncated %v, %v", len(items), truncated, err)
	}
}
