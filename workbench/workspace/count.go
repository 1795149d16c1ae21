package workspace

import (
	"errors"
	"os"

	"github.com/candor-mcp/candor"
)

// Files names the files of the whole workspace, links left out, ordered by folder and name; more says that there are more than were asked
// for, or deeper ones than anybody looks for.
func (f *Folder) Files(most int) (names []string, more bool, err error) {
	dir, err := f.folder(Path{})
	if err != nil {
		return nil, false, err
	}
	defer dir.Close() //nolint:errcheck // it was only read
	c := counting{most: most}
	if err := c.add(dir, Path{}, maxFolderDepth); err != nil {
		return nil, false, f.access(Path{}, err, candor.CodeKaizaFileReadFailed)
	}
	return c.names, c.more, nil
}

// counting is a walk under way.
type counting struct {
	names []string
	most  int
	more  bool
}

func (c *counting) add(dir *os.Root, at Path, depth int) error {
	names, more, err := readNames(dir)
	if err != nil {
		return err
	}
	c.more = c.more || more
	for _, name := range names {
		info, err := dir.Lstat(name)
		if err != nil {
			continue // it went away meanwhile
		}
		switch kindOf(info) {
		case KindFile:
			if len(c.names) == c.most {
				c.more = true
				return nil
			}
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
		c.more = true // what cannot be looked into may hold anything
	}
}
