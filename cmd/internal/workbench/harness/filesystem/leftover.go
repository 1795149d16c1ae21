package filesystem

import (
	"crypto/rand"
	"encoding/hex"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/internal/folder"
	"github.com/candor-mcp/candor/internal/filelock"
)

// A write creates a temporary file and holds its lock until the file has its final name. A temporary file whose lock is
// free was left by a killed process.
const (
	temporaryPrefix = ".candor-"
	temporarySuffix = ".tmp"
	temporaryBytes  = 8
)

func temporaryName() string {
	var random [temporaryBytes]byte
	_, _ = rand.Read(random[:]) // never fails, see crypto/rand
	return temporaryPrefix + hex.EncodeToString(random[:]) + temporarySuffix
}

func isTemporary(name string) bool {
	middle, ok := strings.CutPrefix(name, temporaryPrefix)
	if !ok {
		return false
	}
	middle, ok = strings.CutSuffix(middle, temporarySuffix)
	return ok && len(middle) == 2*temporaryBytes && strings.Trim(middle, "0123456789abcdef") == ""
}

// maxSwept is the maximum number of entries of the root that are examined for leftover files. A larger root keeps some
// of them.
const maxSwept = 200_000

// sweep removes leftover temporary files in the directories where the patterns allow writing. It stops early when the
// domain closes.
func (f *files) sweep(root *folder.Folder) {
	budget := maxSwept
	for _, glob := range f.globs {
		base, pattern := doublestar.SplitPattern(glob)
		depth := strings.Count(pattern, "/")
		if strings.Contains(pattern, "**") {
			depth = folder.MaxPath
		}
		dir, _, err := root.Parent(path.Join(base, "x"))
		if err != nil {
			continue // it does not exist, or it is a link
		}
		f.sweepBelow(dir, depth, &budget)
		_ = dir.Close() // only a handle
	}
}

// sweepBelow examines a directory and its subdirectories, breadth first.
func (f *files) sweepBelow(root *os.Root, depth int, budget *int) {
	type level struct {
		name  string
		depth int
	}
	for queue := []level{{".", depth}}; len(queue) > 0; queue = queue[1:] {
		if *budget <= 0 || f.closing.Load() {
			return
		}
		next := queue[0]
		dir, err := root.Open(next.name)
		if err != nil {
			continue
		}
		for err == nil && *budget > 0 && !f.closing.Load() {
			var entries []fs.DirEntry
			entries, err = dir.ReadDir(256)
			*budget -= len(entries)
			for _, entry := range entries {
				name := path.Join(next.name, entry.Name())
				switch {
				case entry.IsDir() && next.depth > 0:
					queue = append(queue, level{name, next.depth - 1})
				case entry.Type().IsRegular() && isTemporary(entry.Name()):
					removeLeft(root, name)
				}
			}
		}
		_ = dir.Close() // it was only read
	}
}

// removeLeft removes a temporary file unless a process holds its lock.
func removeLeft(root *os.Root, name string) {
	file, info, err := folder.OpenRegular(root, name)
	if err != nil {
		return
	}
	defer func() { _ = file.Close() }()
	if filelock.TryLock(file) != nil {
		return
	}
	if now, err := root.Lstat(name); err == nil && os.SameFile(info, now) { // it may have been renamed to its final name meanwhile
		_ = root.Remove(name)
	}
}
