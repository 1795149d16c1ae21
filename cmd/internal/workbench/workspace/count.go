package workspace

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
)

// Files returns the names of the files in the whole workspace, without links, ordered by folder and name. .git comes
// last in its folder, so that its files do not use up the limit. most limits the number of names visited, including
// folders and links. more is true if there are more names, or files below the maximum depth. If ctx is done, Files
// returns CANCELLED.
func (f *Folder) Files(ctx context.Context, most int) (names []string, more bool, err error) {
	dir, err := f.folder(Path{})
	if err != nil {
		return nil, false, err
	}
	defer dir.Close() //nolint:errcheck // opened for reading
	c := counting{ctx: ctx, left: most}
	if err := c.add(dir, Path{}, maxFolderDepth); err != nil {
		return nil, false, f.access(Path{}, err, kaiza.FileReadFailed)
	}
	if ctx.Err() != nil {
		return nil, false, candor.New(candor.CodeCancelled, "", candor.WithCause(ctx.Err()))
	}
	return c.names, c.more, nil
}

// counting is the state of a walk.
type counting struct {
	ctx   context.Context
	names []string
	left  int // number of names that may still be visited
	more  bool
}

func (c *counting) add(dir *os.Root, at Path, depth int) error {
	names, more, err := readNames(dir)
	if err != nil {
		return err
	}
	c.more = c.more || more
	if i := slices.Index(names, ".git"); i >= 0 {
		names = append(slices.Delete(names, i, i+1), ".git")
	}
	for _, name := range names {
		if c.left == 0 || c.ctx.Err() != nil {
			c.more = true
			return nil
		}
		c.left--
		info, err := dir.Lstat(name)
		if err != nil {
			continue // removed in the meantime
		}
		switch kindOf(info) {
		case KindFile:
			c.names = append(c.names, at.join(name).String())
		case KindFolder:
			c.below(dir, at, name, depth)
		case KindLink, KindOther:
		}
	}
	return nil
}

func (c *counting) below(dir *os.Root, at Path, name string, depth int) {
	if depth == 1 {
		c.more = true
		return
	}
	child, err := enter(dir, name)
	if err == nil {
		err = errors.Join(c.add(child, at.join(name), depth-1), child.Close())
	}
	if err != nil {
		c.more = true // a folder that cannot be read may contain files
	}
}
