// Gen checks spec/catalogue.json and writes every file that is generated from it. Run it in the module root:
//
//	go generate .                                  check and write
//	go run ./internal/catalogue/gen -release       also add active codes to spec/released.txt
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/candor-mcp/candor/internal/catalogue"
	"github.com/candor-mcp/candor/internal/catalogue/render"
)

func main() {
	release := flag.Bool("release", false, "add the codes that have become active to spec/released.txt")
	flag.Parse()
	if err := run(".", *release); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// run writes nothing unless the catalogue passes all checks.
func run(root string, release bool) error {
	spec := filepath.Join(root, "spec")
	c, err := catalogue.Load(filepath.Join(spec, "catalogue.json"))
	if err != nil {
		return err
	}
	released, err := catalogue.LoadReleased(filepath.Join(spec, "released.txt"))
	if err != nil {
		return err
	}
	if err := c.Check(released); err != nil {
		return fmt.Errorf("spec/catalogue.json: invalid:\n%w", err)
	}
	files, err := render.All(c)
	if err != nil {
		return err
	}
	if release {
		files["spec/released.txt"] = []byte(catalogue.FormatReleased(c, released))
	}
	return update(root, files)
}

// update makes the tree below root hold exactly these files: it writes those that differ, and removes files of earlier runs from
// the directories that hold only generated files.
func update(root string, files render.Files) error {
	for name, data := range files {
		if err := write(filepath.Join(root, filepath.FromSlash(name)), data); err != nil {
			return err
		}
	}
	for _, folder := range render.Folders {
		if err := sweep(root, folder, files); err != nil {
			return err
		}
	}
	return nil
}

func write(path string, data []byte) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, data) {
		return nil // keep the modification time, so that nothing is rebuilt
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

// sweep removes the files below folder that are not in files, and the directories that become empty. It keeps compiled Python and
// the tests of generated packages.
func sweep(root, folder string, files render.Files) error {
	var dirs []string
	err := filepath.WalkDir(filepath.Join(root, filepath.FromSlash(folder)), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "__pycache__":
			return filepath.SkipDir
		case d.IsDir():
			dirs = append(dirs, path)
			return nil
		case strings.HasSuffix(path, "_test.go"):
			return nil
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if _, made := files[filepath.ToSlash(name)]; made {
			return nil
		}
		return os.Remove(path)
	})
	if err != nil {
		return err
	}
	return removeEmpty(dirs)
}

// removeEmpty removes the empty directories, from the innermost outwards.
func removeEmpty(dirs []string) error {
	for i := len(dirs) - 1; i >= 0; i-- {
		entries, err := os.ReadDir(dirs[i])
		if err != nil {
			return err
		}
		if len(entries) > 0 {
			continue
		}
		if err := os.Remove(dirs[i]); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
