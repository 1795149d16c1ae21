package learncmd

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
	"github.com/candor-mcp/candor/cmd/internal/learn"
	"github.com/candor-mcp/candor/cmd/internal/probe/profile"
)

// profileFile is the file of --write as it was found.
type profileFile struct {
	data  []byte          // nil if there is no file, or an empty one
	rules *config.Profile // nil if there is no file, or an empty one
	mode  fs.FileMode
}

// profile reads the file of --write, so that a damaged one is reported before anything else.
func (c *learnCommand) profile() (*profileFile, error) {
	if c.write == "" {
		return nil, nil //nolint:nilnil // the file is optional
	}
	info, err := os.Stat(c.write)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(c.write); err == nil {
			return nil, term.BadInput("remove the link, or create the file that it names", "--write %s: a link to a file that does not exist", c.write)
		}
		if info, err := os.Stat(filepath.Dir(c.write)); err != nil || !info.IsDir() {
			return nil, term.BadInput("create the folder, or choose another file", "--write: no such folder: %s", filepath.Dir(c.write))
		}
		return &profileFile{mode: 0o600}, nil
	case err != nil:
		return nil, term.BadInput("choose a file that can be read and written", "--write: %s", err)
	case !info.Mode().IsRegular():
		return nil, term.BadInput("choose a file", "--write %s: not a file", c.write)
	case info.Size() == 0:
		return &profileFile{mode: info.Mode().Perm()}, nil
	}
	p, err := config.ReadProfile(c.write, config.Source{})
	if err != nil {
		return nil, service.BadFile("--write", err)
	}
	data, err := os.ReadFile(c.write)
	if err != nil {
		return nil, term.BadInput("choose a file that can be read and written", "--write: %s", err)
	}
	return &profileFile{data: data, rules: p, mode: info.Mode().Perm()}, nil
}

// written is what was written to a profile.
type written struct {
	File    string `json:"file"`
	Added   int    `json:"added"`
	Present int    `json:"present"` // rules that the file had already
}

// save writes the rules of the chosen shapes. It returns nil if there is nothing to write.
func (c *learnCommand) save(file *profileFile, chosen []learn.Shape) (*written, error) {
	if file == nil || len(chosen) == 0 {
		return nil, nil //nolint:nilnil // nothing was written
	}
	masks, server, err := rulesOf(chosen)
	if err != nil {
		return nil, err
	}
	if file, err = c.profile(); err != nil { // it may have changed since, by an editor or another candor learn
		return nil, err
	}
	return c.extend(file, server, masks)
}

// rulesOf returns the rules of shapes, which must be of one server.
func rulesOf(chosen []learn.Shape) (masks []profile.Mask, server string, err error) {
	masks, server = make([]profile.Mask, len(chosen)), chosen[0].Server
	for i := range chosen {
		if chosen[i].Server != server {
			return nil, "", term.BadInput("choose one with --server; nothing was written", "a profile is for one server, and the rules are for %s and %s", printed(server), printed(chosen[i].Server))
		}
		masks[i] = chosen[i].Mask()
	}
	return masks, server, nil
}

// extend adds rules to the file.
func (c *learnCommand) extend(file *profileFile, server string, masks []profile.Mask) (*written, error) {
	data, added, err := learn.Extend(file.data, server, masks)
	if err != nil {
		return nil, term.BadInput("choose another file, or add the rules by hand; nothing was written", "--write %s: %s", c.write, err)
	}
	done := &written{File: c.write, Added: added, Present: len(masks) - added}
	if added == 0 {
		return done, nil
	}
	if err := term.ReplaceFile(c.write, data, file.mode); err != nil {
		return nil, term.BadInput("choose a file that can be written; nothing was changed", "writing %s: %s", c.write, err)
	}
	return done, nil
}
