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
	show := func(name string) (shown []string) {
		items, truncated, err := b.folder.List(b.path(name))
		b.must(err)
		if truncated {
			t.Error("truncated")
		}
		for _, i := range items {
			shown = append(shown, fmt.Sprint(i.Path, " ", i.Kind, " ", i.Size))
		}
		return shown
	}
	if got, want := show("."), []string{"a folder 0", "b.txt file 5", "door link 0", "fifo other 0", "inside link 0"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if got, want := show("inside"), []string{"inside/y folder 0"}; !slices.Equal(got, want) {
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
		_, _, err := b.folder.List(b.path(name))
		if candor.CodeOf(err) != want {
			t.Errorf("%s: %v, want %v", name, err, want)
			continue
		}
		b.refuses(err, want)
	}
}

func TestALongListingIsCutAndSaysSo(t *testing.T) {
	b := newBench(t, Options{})
	for i := range MaxItems {
		b.put(fmt.Sprintf("f%04d", i), "")
	}
	items, truncated, err := b.folder.List(Path{})
	if err != nil || truncated || len(items) != MaxItems {
		t.Errorf("%d items, truncated %v, %v", len(items), truncated, err)
	}
	b.put("a/deep", "")
	items, truncated, err = b.folder.List(Path{})
	if err != nil || !truncated || len(items) != MaxItems || items[0].Path.String() != "a" || items[1].Path.String() != "f0000" {
		t.Errorf("%d items, truncated %v, %v", len(items), truncated, err)
	}
}
